package diagnose

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// divergent is a run of a funnel-like pair in which transitions diverge where
// the first quantity is small.
func divergent() run {
	rng := rand.New(rand.NewPCG(1, 2))
	r := run{Draws: nil, statistics: map[string][][]float64{}}
	draws := make([][][]float64, 2)
	for chain := range draws {
		var flags, depth, energy []float64
		for range 500 {
			tau, x := rng.NormFloat64(), rng.NormFloat64()
			draws[chain] = append(draws[chain], []float64{x, tau, 3})
			flag := 0.0
			if tau < -1.5 {
				flag = 1
			}
			flags = append(flags, flag)
			depth = append(depth, float64(3+rng.IntN(3)))
			energy = append(energy, rng.NormFloat64())
		}
		r.statistics["divergent__"] = append(r.statistics["divergent__"], flags)
		r.statistics["treedepth__"] = append(r.statistics["treedepth__"], depth)
		r.statistics["energy__"] = append(r.statistics["energy__"], energy)
	}
	r.Draws = Slices([]string{"x", "tau", "c"}, draws)
	return r
}

// Divergent transitions are listed with where they are, and the finding names the quantity that
// distinguishes them from the others.
func TestDivergences(t *testing.T) {
	d := divergent()
	found := Divergences(d)
	want := 0
	for chain := range 2 {
		for draw, tau := range d.Column(nil, chain, 1) {
			if tau < -1.5 {
				if f := found[want]; f.Chain != chain || f.Draw != draw || f.Values[1] != tau || f.Values[2] != 3 {
					t.Fatalf("divergence %d is %+v", want, f)
				}
				want++
			}
		}
	}
	if len(found) != want || want < 30 {
		t.Fatalf("%d divergences, want %d", len(found), want)
	}
	i := slices.IndexFunc(Check(d, nil, Options{}), func(f Finding) bool { return f.Code == "divergences" })
	if f := Check(d, nil, Options{})[i]; !slices.Equal(f.Quantities, []string{"tau"}) {
		t.Errorf("the divergences are told apart by %v", f.Quantities)
	}
	if Divergences(Slices(nil, nil)) != nil {
		t.Error("divergences without statistics")
	}
}

func TestSamplingOf(t *testing.T) {
	d := divergent()
	s := SamplingOf(d, 5)
	saturated := 0
	for _, v := range d.statistics["treedepth__"][1] {
		if v == 5 {
			saturated++
		}
	}
	if len(s) != 2 || s[1].Saturated != saturated || s[1].Draws != 500 || s[1].EBFMI != EBFMI(d.statistics["energy__"][1]) || !math.IsNaN(s[1].AcceptStat) {
		t.Errorf("%+v", s)
	}
	if s := SamplingOf(d, -1); s[0].Saturated != 0 {
		t.Errorf("%+v", s)
	}
	if s := SamplingOf(Slices([]string{"x"}, [][][]float64{{{1}, {2}}}), 0); s[0].Draws != 2 || !math.IsNaN(s[0].EBFMI) {
		t.Errorf("%+v", s)
	}
}

// An AR(1) chain with coefficient φ has squares with coefficient φ².
func TestESSSquares(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	const phi, n = -0.6, 40000
	chains := make([][]float64, 2)
	for c := range chains {
		x := 0.0
		for range n {
			x = phi*x + math.Sqrt(1-phi*phi)*rng.NormFloat64()
			chains[c] = append(chains[c], x+100)
		}
	}
	const want = 2 * n * (1 - phi*phi) / (1 + phi*phi)
	if got := ESSSquares(chains); math.Abs(got/want-1) > 0.1 {
		t.Errorf("ESS of squares %v, want %v", got, want)
	}
	if mean := ESSMean(chains); mean < 2*n {
		t.Errorf("ESS of the mean is %v: not antithetic", mean)
	}
}

func TestEfficiencyOf(t *testing.T) {
	nan := math.NaN()
	rows := []Row{
		{Name: "a", SD: 1, ESSBulk: 400, ESSTail: 300}, {Name: "b", SD: 2, ESSBulk: 200, ESSTail: 500},
		{Name: "constant", SD: 0, ESSBulk: nan, ESSTail: nan}, {Name: "coin", SD: 1, ESSBulk: 300, ESSTail: nan},
	}
	e := EfficiencyOf(rows, []float64{100, 900, nan, 900}, 600, 400, 2, 0.5)
	if e != (Efficiency{MinBulk: 200, MinTail: 300, MinSquares: 100, WorstBulk: "b", WorstTail: "a", WorstSquares: "a",
		PerGradient: 0.25, PerSecond: 200, PerGradientAll: 0.1, PerSecondAll: 40}) {
		t.Errorf("%+v", e)
	}
	// One that is stuck, or not finite, does not flatter.
	rows[0].ESSBulk = nan
	if e := EfficiencyOf(rows, []float64{100, 900, nan, 900}, 600, 400, 2, 0.5); !math.IsNaN(e.MinBulk) || e.WorstBulk != "a" || !math.IsNaN(e.PerGradient) {
		t.Errorf("%+v", e)
	}
	if e := EfficiencyOf(nil, nil, 0, 0, 0, 0); !math.IsNaN(e.MinBulk) || !math.IsNaN(e.PerGradient) {
		t.Errorf("%+v", e)
	}
}
