package auto

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/ppl-lang/ppl/infer"
	"github.com/ppl-lang/ppl/internal/short"
)

// balls is a mixture of normal distributions without correlations.
type balls struct {
	weights, scales []float64
	centres         [][]float64
	first           float64 // scale of the first coordinate in all components; 0: like the others
}

func (b balls) Dim() int                       { return len(b.centres[0]) }
func (b balls) CloneDensity() infer.LogDensity { return b }

func (b balls) scale(k, i int) float64 {
	if i == 0 && b.first > 0 {
		return b.first
	}
	return b.scales[k]
}

func (b balls) LogDensityGrad(x, g []float64) (float64, error) {
	logs, most := make([]float64, len(b.weights)), math.Inf(-1)
	for k, w := range b.weights {
		logs[k] = math.Log(w)
		for i, v := range x {
			z := (v - b.centres[k][i]) / b.scale(k, i)
			logs[k] -= 0.5*z*z + math.Log(b.scale(k, i))
		}
		most = max(most, logs[k])
	}
	sum := 0.0
	for _, l := range logs {
		sum += math.Exp(l - most)
	}
	clear(g)
	for k, l := range logs {
		for i, v := range x {
			g[i] -= math.Exp(l-most) / sum * (v - b.centres[k][i]) / (b.scale(k, i) * b.scale(k, i))
		}
	}
	return most + math.Log(sum), nil
}

// sampled runs auto and returns the draws of all chains with the report.
func sampled(t *testing.T, target infer.LogDensity, seed uint64, s Sampler) ([][]float64, infer.Report) {
	t.Helper()
	session, err := infer.NewSession(target, infer.Config{Sampler: s, Seed: seed, Draws: 400})
	if err != nil {
		t.Fatal(err)
	}
	var draws [][]float64
	for d, err := range session.Draws(t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
		draws = append(draws, d.Position)
	}
	return draws, session.Report()
}

func eventOf(r infer.Report, code string) (infer.Event, bool) {
	for _, c := range r.Chains {
		for _, e := range c.Events {
			if e.Code == code {
				return e, true
			}
		}
	}
	return infer.Event{}, false
}

// TestMassNotHeight uses a target in which a mode with 1 % of the mass is far higher than the one
// with 99 %. The draws must follow the mass.
func TestMassNotHeight(t *testing.T) {
	short.Skip(t, "it samples thirty dimensions; TestModeLeft and TestOneMode are left")
	const d = 30
	low, high := make([]float64, d), make([]float64, d)
	low[0], high[0] = -1, 1
	target := balls{[]float64{0.99, 0.01}, []float64{1, 0.3}, [][]float64{low, high}, 0.05}
	_, report := sampled(t, target, 1, Sampler{NoTemper: true})
	e, ok := eventOf(report, infer.EventModes)
	if !ok || e.Figures["modes"] != 2 || math.Abs(e.Figures["mass_1"]-0.99) > 0.01 {
		t.Errorf("modes are reported as %v", e)
	}
	draws, report := sampled(t, target, 1, Sampler{})
	in := 0.0
	for _, x := range draws {
		if x[0] < 0 {
			in++
		}
	}
	if share := in / float64(len(draws)); share < 0.95 {
		t.Errorf("%.3f of the draws are in the mode with 0.99 of the mass", share)
	}
	if report.Chains[0].Chosen != "tempered" {
		t.Errorf("the kernel chosen is %s", report.Chains[0].Chosen)
	}
}

// TestScalesAtOnePlace uses a target with half of its mass in a ball of 1/50 of the width, at the
// same centre.
func TestScalesAtOnePlace(t *testing.T) {
	centre := make([]float64, 5)
	draws, _ := sampled(t, balls{[]float64{0.5, 0.5}, []float64{1, 0.02}, [][]float64{centre, centre}, 0}, 2, Sampler{})
	in := 0.0
	for _, x := range draws {
		if math.Abs(x[0]) < 0.1 && math.Abs(x[1]) < 0.1 && math.Abs(x[2]) < 0.1 {
			in++
		}
	}
	if share := in / float64(len(draws)); math.Abs(share-0.5) > 0.15 {
		t.Errorf("%.3f of the draws are in the narrow half", share)
	}
}

// TestModeLeft: all chains leave a small mode for the large one around it and hardly ever return.
// They agree with each other, so only the record of the found mode can reveal the loss. Seven of
// forty seeds went unnoticed before the draws were compared with the masses of known modes.
func TestModeLeft(t *testing.T) {
	centre := make([]float64, 3)
	target := balls{[]float64{0.35, 0.65}, []float64{0.07, 1}, [][]float64{centre, centre}, 0}
	for seed := range uint64(short.Of(12, 3)) {
		if !short.Turn(int(seed), 3) {
			continue
		}
		draws, report := sampled(t, target, seed, Sampler{})
		in := 0.0
		for _, x := range draws {
			if math.Hypot(math.Hypot(x[0], x[1]), x[2]) < 0.3 {
				in++
			}
		}
		share := in / float64(len(draws))
		if _, told := eventOf(report, infer.EventModes); !told && share < 0.1 {
			t.Errorf("seed %d: %.3f of the draws are in the small mode, and nothing says so", seed, share)
		}
	}
}

// TestMirroredModes checks targets whose modes differ in the signs of all coordinates, at different
// distances and with different scales. In 20 dimensions no climb from a random point ends in the
// narrow mode.
func TestMirroredModes(t *testing.T) {
	const d = 20
	rng := rand.New(rand.NewPCG(7, 7))
	for seed, ratio := range []float64{1, 0.7} {
		left, right := make([]float64, d), make([]float64, d)
		for i := range left {
			left[i] = 4 + 0.5*rng.NormFloat64()
			if i%3 == 0 {
				left[i] = -left[i]
			}
			right[i] = -ratio * left[i]
		}
		target := balls{weights: []float64{0.7, 0.3}, scales: []float64{1, 0.5}, centres: [][]float64{left, right}}
		draws, _ := sampled(t, target, uint64(seed)+1, Sampler{})
		share := 0.0
		for _, x := range draws {
			if x[1]*right[1] > 0 {
				share += 1 / float64(len(draws))
			}
		}
		if math.Abs(share-0.3) > 0.1 {
			t.Errorf("ratio %v: the mode with 0.3 of the mass has %.2f of the draws", ratio, share)
		}
	}
}

// TestOneMode checks that no target with one mode is reported to have several.
func TestOneMode(t *testing.T) {
	for _, d := range []int{1, 2, 20, 120} {
		centre := make([]float64, d)
		_, report := sampled(t, balls{[]float64{0.5, 0.5}, []float64{1, 1.5}, [][]float64{centre, centre}, 0}, 3, Sampler{})
		if e, ok := eventOf(report, infer.EventModes); ok {
			t.Errorf("%d dimensions: %v", d, e)
		}
	}
}

// counts is the posterior of a random walk of log means of Poisson counts, with independent
// innovations. The parameters are the first log mean, the logarithm of the scale, the innovations.
type counts []float64

func (c counts) Dim() int                       { return 2 + len(c) }
func (c counts) CloneDensity() infer.LogDensity { return c }

func (c counts) LogDensityGrad(x, g []float64) (float64, error) {
	start, scale, z := x[0], math.Exp(x[1]), x[2:]
	lp := -0.125*(start-3)*(start-3) - 0.5*scale*scale + x[1]
	clear(g)
	g[0], g[1] = -0.25*(start-3), 1-scale*scale
	sum := 0.0
	each := make([]float64, len(c)) // derivative of the log likelihood by each log mean
	sums := make([]float64, len(c))
	for t, y := range c {
		sum += z[t]
		sums[t] = sum
		mean := math.Exp(start + scale*sum)
		lp += y*(start+scale*sum) - mean - 0.5*z[t]*z[t]
		each[t] = y - mean
		g[0] += each[t]
		g[1] += each[t] * scale * sum
	}
	later := 0.0
	for t := len(c) - 1; t >= 0; t-- {
		later += each[t]
		g[2+t] = scale*later - z[t]
	}
	return lp, nil
}

// TestBentMode uses a posterior with one mode that is bent. Climbs end in different parts of it.
// The normal distributions fitted there can have more mass than the whole posterior. With these
// masses, seeds 3 and 6 reported modes that do not exist.
func TestBentMode(t *testing.T) {
	target := counts{7, 8, 4, 10, 6, 6, 7, 8, 10, 11, 10, 10, 20, 12, 23, 15, 12, 9, 18, 21, 12, 15, 12, 19, 17, 15, 19, 22, 23, 27, 27, 26, 16, 16, 22, 23, 19, 24, 25, 22}
	for k := range uint64(short.Of(12, 4)) {
		if !short.Turn(int(k), 3) {
			continue
		}
		seed := 3 + k
		_, report := sampled(t, target, seed, Sampler{})
		if e, ok := eventOf(report, infer.EventModes); ok {
			t.Errorf("seed %d: %v", seed, e)
		}
	}
}

// TestIndependent checks that chains begin at different places, whatever the search finds.
func TestIndependent(t *testing.T) {
	a, b := []float64{-3, 0}, []float64{3, 0}
	draws, report := sampled(t, balls{[]float64{0.6, 0.4}, []float64{0.3, 0.3}, [][]float64{a, b}, 0}, 4, Sampler{NoTemper: true})
	_ = draws
	for i, c := range report.Chains {
		for _, other := range report.Chains[:i] {
			if c.Last[0] == other.Last[0] {
				t.Errorf("chains %d and %d end at the same place", other.ID, c.ID)
			}
		}
	}
}

func TestBridgeSampling(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	// The target is exp(3) times a normal density of standard deviation 1.3, the other normal one
	// has 1.
	log := func(x float64) float64 { return 3 - 0.5*x*x/1.69 - math.Log(1.3) + 0.5*x*x }
	var draws, normals []float64
	for range 2000 {
		draws, normals = append(draws, log(1.3*rng.NormFloat64())), append(normals, log(rng.NormFloat64()))
	}
	got, e := bridgeSampling(draws, normals)
	if math.Abs(got-3) > 4*e || e > 0.05 {
		t.Errorf("log Z is %.3f ± %.3f, not 3", got, e)
	}
	for _, n := range []int{0, 1, 2} {
		if got, e := bridgeSampling(draws[:n], normals[:n]); math.IsNaN(got) || math.IsNaN(e) {
			t.Errorf("%d draws: %v ± %v", n, got, e)
		}
	}
}

func TestPlace(t *testing.T) {
	a, b, c := &mode{mass: 0, found: []int{0, 1, 2, 3}}, &mode{mass: -1, found: []int{2}}, &mode{mass: -2}
	for _, test := range []struct {
		modes    []*mode
		at, want []*mode
	}{
		{[]*mode{a}, []*mode{a, nil, a, a}, []*mode{a, nil, a, a}},
		{[]*mode{a, b}, []*mode{a, a, a, a}, []*mode{a, a, b, a}},     // the one that has found it
		{[]*mode{a, b}, []*mode{a, nil, a, a}, []*mode{a, nil, b, a}}, //
		{[]*mode{a, b, c}, []*mode{a, a, a, a}, []*mode{c, a, b, a}},  // nobody has found c
		{[]*mode{a, b, c}, []*mode{a, a}, []*mode{b, a}},              // too few
		{[]*mode{a}, []*mode{nil}, []*mode{a}},
	} {
		place(test.modes, test.at)
		for i := range test.at {
			if test.at[i] != test.want[i] {
				t.Errorf("%d modes, chain %d of %d is elsewhere", len(test.modes), i, len(test.at))
			}
		}
	}
}
