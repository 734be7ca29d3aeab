package auto

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/ppl-lang/ppl/infer"
	"github.com/ppl-lang/ppl/infer/hmc"
	"github.com/ppl-lang/ppl/infer/infertest"
)

// TestWorth checks the worth of a transition, (1-ρ)/(1+ρ). ρ is the largest autocorrelation of a
// coordinate, of its distance from the median, or of the log density. If a coordinate has the
// autocorrelation 0.9, the scores of its distances have 0.684, by quadrature.
func TestWorth(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	walk := func(rho float64, n int) []float64 {
		v := make([]float64, n)
		x := rng.NormFloat64()
		for i := range v {
			x = rho*x + math.Sqrt(1-rho*rho)*rng.NormFloat64()
			v[i] = x
		}
		return v
	}
	const n = 20000
	flipped := walk(0.9, n) // its sign is new at every draw, but not its square
	for i := range flipped {
		if rng.IntN(2) == 0 {
			flipped[i] *= -1
		}
	}
	fresh := func() []float64 { return walk(0, n) }
	shift := func(v []float64, by float64) []float64 {
		for i := range v {
			v[i] += by
		}
		return v
	}
	for name, c := range map[string]struct {
		a, b  []float64 // of two chains
		level []float64
		want  float64
	}{
		"independent":         {fresh(), fresh(), fresh(), 1},
		"a coordinate":        {walk(0.8, n), walk(0.8, n), fresh(), 0.2 / 1.8},
		"a distance":          {flipped, flipped, fresh(), 0.316 / 1.684},
		"the log density":     {fresh(), fresh(), walk(0.7, n), 0.3 / 1.7},
		"chains of two modes": {fresh(), shift(fresh(), 10), fresh(), 1. / 51},
	} {
		records := []record{{logDensity: c.level}, {logDensity: c.level}}
		for t := range n {
			records[0].draws = append(records[0].draws, []float64{c.a[t], rng.NormFloat64()})
			records[1].draws = append(records[1].draws, []float64{c.b[t], rng.NormFloat64()})
		}
		if got := worthOf(records); math.Abs(got/c.want-1) > 0.07 {
			t.Errorf("%s: %.4f, want %.4f", name, got, c.want)
		}
	}
}

// TestWorthOfMany checks draws of thousands of dimensions. Their worth must be that of the slowest
// dimension, not of the noise in the smallest of thousands of estimates.
func TestWorthOfMany(t *testing.T) {
	const n, d = 100, 10000
	rng := rand.New(rand.NewPCG(5, 2))
	ofRho := func(slow float64) record {
		r := record{logDensity: make([]float64, n)}
		x := make([]float64, d)
		for i := range n {
			r.logDensity[i] = rng.NormFloat64()
			for j := range x {
				rho := 0.3
				if j == 17 {
					rho = slow
				}
				x[j] = rho*x[j] + math.Sqrt(1-rho*rho)*rng.NormFloat64()
			}
			r.draws = append(r.draws, slices.Clone(x))
		}
		return r
	}
	if got, exact := worthOf([]record{ofRho(0.3), ofRho(0.3)}), 0.7/1.3; got < exact/2 || got > 1.3*exact {
		t.Errorf("a draw is worth %.3f, where %.3f is true", got, exact)
	}
	if got := worthOf([]record{ofRho(0.99), ofRho(0.99)}); got > 0.1 {
		t.Errorf("a draw is worth %.3f with a slow dimension, where 0.005 is true", got)
	}
}

// withoutScores is a map for tests that need no scores.
type withoutScores struct{ *funnelMap }

func (withoutScores) Push(_, _, _, _ []float64) error { return nil }

// TestLevelsInUse checks that pooled log densities are over the coordinates in use, in whatever
// coordinates the draws were made.
func TestLevelsInUse(t *testing.T) {
	f := infertest.Funnel{D: 5}
	rng := rand.New(rand.NewPCG(6, 2))
	c := infer.NewChart(f, withoutScores{&funnelMap{d: f.D}})
	var z [2]*infer.Point
	r, made := record{}, [2]*infer.Chart{infer.NewChart(f, withoutScores{&funnelMap{d: f.D}}), c}
	r.expect(2, f.D)
	for k, centred := range []float64{0.9, 0.2} {
		if err := made[k].Use(infer.Centred(centred, f.D-1)); err != nil {
			t.Fatal(err)
		}
		z[k] = infer.NewPoint(f.D)
		for i := range z[k].Position {
			z[k].Position[i] = rng.NormFloat64()
		}
		lp, err := made[k].LogDensityGrad(z[k].Position, z[k].Gradient)
		if err != nil {
			t.Fatal(err)
		}
		z[k].LogDensity = lp
		r.take(made[k], z[k])
	}
	levelsInUse(c, []record{r})
	u, x, g := make([]float64, f.D), make([]float64, f.D), make([]float64, f.D)
	if _, err := made[0].Original(z[0].Position, x); err != nil {
		t.Fatal(err)
	}
	if err := c.At(x, u); err != nil {
		t.Fatal(err)
	}
	there, err := c.LogDensityGrad(u, g)
	if err != nil {
		t.Fatal(err)
	}
	for k, want := range []float64{there, z[1].LogDensity} {
		if got := r.logDensity[k]; math.Abs(got-want) > 1e-10*(1+math.Abs(want)) {
			t.Errorf("draw %d: %v, want %v", k, got, want)
		}
	}
	if math.Abs(there-z[0].LogDensity) < 0.1 {
		t.Error("the coordinates have nearly the same density: the test sees nothing")
	}
}

// TestSpare checks that draws with spare transitions are those of the transitions made one by one,
// and that Info holds their sums. A chain resumed from saved state must make the same draws.
func TestSpare(t *testing.T) {
	target := infertest.Banana{B: 0.2, Sigma: 1}
	begin := func(spare float64) (*Kernel, infer.Hamiltonian, *infer.Point, *rand.Rand) {
		h, err := hmc.NewWhitened(target, hmc.Identity(infer.Dense, 2))
		if err != nil {
			t.Fatal(err)
		}
		z := infer.NewPoint(2)
		z.Position[0] = 0.5
		if err := h.Reset(z); err != nil {
			t.Fatal(err)
		}
		k := newKernel(Sampler{}.withDefaults(), nil)
		k.spare = spare
		return k, h, z, rand.New(rand.NewPCG(3, 4))
	}
	const draws, mostPerDraw = 400, 8
	k, h, z, rng := begin(0)
	var single [][]float64
	steps := []int{0} // so far
	for range draws * mostPerDraw {
		next, info, err := k.Transition(rng, h, 0.5, z)
		if err != nil {
			t.Fatal(err)
		}
		z, steps = next, append(steps, steps[len(steps)-1]+info.Leapfrogs)
		single = append(single, slices.Clone(z.Position))
	}
	for _, spare := range []float64{0.75, 1.5, mostPerDraw - 1} {
		k, h, z, rng = begin(spare)
		leapfrogs := 0
		for draw := range draws {
			if draw == 201 {
				state, err := k.SaveState()
				if err != nil {
					t.Fatal(err)
				}
				k = newKernel(Sampler{}.withDefaults(), nil)
				if err := k.LoadState(h, state); err != nil {
					t.Fatal(err)
				}
			}
			next, info, err := k.Transition(rng, h, 0.5, z)
			if err != nil {
				t.Fatal(err)
			}
			z, leapfrogs = next, leapfrogs+info.Leapfrogs
			if at := int(float64(draw+1) * (1 + spare)); !slices.Equal(z.Position, single[at-1]) || leapfrogs != steps[at] {
				t.Fatalf("%v to spare: draw %d, of %d steps so far, is not that of transition %d, of %d", spare, draw, leapfrogs, at, steps[at])
			}
		}
	}
	// With a static kernel, NUTS makes every reliefEvery-th transition, those to spare included.
	k, h, z, rng = begin(1)
	k.use(Setting{ExactNormal, 1})
	k.relief, k.spare = 0.5, 1
	for draw := range 3 * reliefEvery {
		next, info, err := k.Transition(rng, h, 0.5, z)
		byNUTS := 2*(draw+1)%reliefEvery == 0
		if err != nil || (info.TreeDepth > 0) != byNUTS {
			t.Fatalf("draw %d: NUTS made a transition: %v; %+v, %v", draw, !byNUTS, info, err)
		}
		z = next
	}
	if err := newKernel(Sampler{}.withDefaults(), nil).LoadState(h, []byte{1, 2}); err == nil {
		t.Error("a damaged state is loaded")
	}
}

// TestSpend checks the number of transitions of a draw.
func TestSpend(t *testing.T) {
	static, at := Setting{Leapfrog, 2}, Sampler{}.limits()
	normal := func(divergence float64) *verdict {
		return &verdict{at: at, mixing: mixing{worth: 0.9, rhat: 1}, choice: choice{divergence: divergence, metric: hmc.Identity(infer.Dense, 4)}}
	}
	worth := func(worth, rhat float64) *verdict {
		return &verdict{at: at, mixing: mixing{worth: worth, rhat: rhat}, choice: choice{divergence: 1, metric: hmc.Identity(infer.Dense, 4)}}
	}
	for name, c := range map[string]struct {
		options Sampler
		setting Setting
		made    int
		verdict *verdict
		want    float64
		worth   float64 // of the static kernel that won the race
	}{
		"worth much":                       {Sampler{}, Setting{Kind: NUTS}, 200, worth(0.6, 1), 1, 0},
		"worth as much as wanted":          {Sampler{}, Setting{Kind: NUTS}, 200, worth(at.wanted, 1), 1, 0},
		"worth less":                       {Sampler{}, Setting{Kind: NUTS}, 200, worth(at.wanted/2, 1), 2, 0},
		"worth less, none left":            {Sampler{}, Setting{Kind: NUTS}, 1000, worth(at.wanted/2, 1), 2, 0},
		"worth next to nothing":            {Sampler{}, Setting{Kind: NUTS}, 200, worth(0.01, 1), at.maxPerDraw, 0},
		"chains in different places":       {Sampler{}, Setting{Kind: NUTS}, 200, worth(0.1, 3), 1.8, 0},
		"switched off":                     {Sampler{NoSpare: true}, Setting{Kind: NUTS}, 200, worth(0.1, 1), 1, 0},
		"all of warm-up":                   {Sampler{NoEarlyEnd: true}, Setting{Kind: NUTS}, 1000, worth(0.1, 1), 1, 0},
		"a static kernel":                  {Sampler{}, static, 200, normal(0.01), 1, 0},
		"a static kernel that was wanted":  {Sampler{Kind: Leapfrog}, static, 200, normal(0.2), 1.8, 0},
		"a winner worth as much as wanted": {Sampler{}, static, 200, normal(0.01), 1, at.wanted},
		"a winner worth less":              {Sampler{}, static, 200, normal(0.01), 2, at.wanted / 2},
		"a winner worth next to nothing":   {Sampler{}, static, 200, normal(0.01), at.maxPerDraw, 0.001},
	} {
		w := &chain{course: course{options: c.options, at: at, length: 1000}, State: &infer.State{}, kernel: newKernel(c.options.withDefaults(), nil), made: c.made}
		w.kernel.use(c.setting)
		w.worth = c.worth
		w.spend(c.verdict)
		if got := 1 + w.kernel.spare; math.Abs(got-c.want) > 1e-12 {
			t.Errorf("%s: %v transitions, want %v", name, got, c.want)
		}
	}
}
