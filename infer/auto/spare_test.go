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

// The worth of a transition is (1-ρ)/(1+ρ) of the slowest quantity of which the
// autocorrelation is ρ: a coordinate, a square, or the log density.
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
	flipped := walk(0.9, n) // of which the sign is new at every draw, but not the square
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
		"a square":            {flipped, flipped, fresh(), 0.19 / 1.81},
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

// Draws with spare transitions are those of the transitions one by one, of which Info
// tells the sums; a chain that goes on from what was saved makes the same.
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
	// Beside a static kernel they are made by NUTS.
	k, h, z, rng = begin(1)
	k.use(Setting{ExactNormal, 1})
	k.relief, k.spare = 0.5, 1
	for range 20 {
		next, info, err := k.Transition(rng, h, 0.5, z)
		if err != nil || info.TreeDepth == 0 {
			t.Fatalf("a transition to spare is not made by NUTS: %+v, %v", info, err)
		}
		z = next
	}
	if err := newKernel(Sampler{}.withDefaults(), nil).LoadState(h, []byte{1, 2}); err == nil {
		t.Error("a damaged state is loaded")
	}
}

// How many transitions a draw has.
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
	}{
		"worth much":                      {Sampler{}, Setting{Kind: NUTS}, 200, worth(0.6, 1), 1},
		"worth as much as wanted":         {Sampler{}, Setting{Kind: NUTS}, 200, worth(at.wanted, 1), 1},
		"worth less":                      {Sampler{}, Setting{Kind: NUTS}, 200, worth(at.wanted/2, 1), 2},
		"likewise, none left":             {Sampler{}, Setting{Kind: NUTS}, 1000, worth(at.wanted/2, 1), 2},
		"worth next to nothing":           {Sampler{}, Setting{Kind: NUTS}, 200, worth(0.01, 1), at.maxPerDraw},
		"chains in different places":      {Sampler{}, Setting{Kind: NUTS}, 200, worth(0.1, 3), 1.8},
		"switched off":                    {Sampler{NoSpare: true}, Setting{Kind: NUTS}, 200, worth(0.1, 1), 1},
		"all of warm-up":                  {Sampler{NoEarlyEnd: true}, Setting{Kind: NUTS}, 1000, worth(0.1, 1), 1},
		"a static kernel":                 {Sampler{}, static, 200, normal(0.01), 1},
		"a static kernel that was wanted": {Sampler{Kind: Leapfrog}, static, 200, normal(0.2), 1.8},
	} {
		w := &chain{course: course{options: c.options, at: at, length: 1000}, State: &infer.State{}, kernel: newKernel(c.options.withDefaults(), nil), made: c.made}
		w.kernel.use(c.setting)
		w.spend(c.verdict)
		if got := 1 + w.kernel.spare; math.Abs(got-c.want) > 1e-12 {
			t.Errorf("%s: %v transitions, want %v", name, got, c.want)
		}
	}
}
