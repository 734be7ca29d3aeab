package auto

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/ppl-lang/ppl/infer"
	"github.com/ppl-lang/ppl/infer/infertest"
)

// termRecord returns a record of draws in non-centred coordinates. Draw t has v[t], the logarithm
// of the squared scale, with the given score; the terms are standard normal.
func termRecord(rng *rand.Rand, c *infer.Chart, v, score []float64) record {
	d := c.Dim()
	r := record{transitions: len(v)}
	r.expect(len(v), d)
	u := make([]float64, d)
	for t := range v {
		x, gx := r.row(d)
		u[0] = v[t]
		lp, product := -0.5*v[t]*v[t], 0.0
		for i := 1; i < d; i++ {
			u[i] = rng.NormFloat64()
			lp -= 0.5 * u[i] * u[i]
			gx[i] = -u[i] * math.Exp(-v[t]/2)
			product -= u[i] * u[i]
		}
		gx[0] = score[t] - 0.5*product - 0.5*float64(d-1) // so that Pull gives score
		jacobian, _ := c.Original(u, x)
		r.logDensity = append(r.logDensity, lp-jacobian)
	}
	return r
}

func nonCentred(t *testing.T, d int) *infer.Chart {
	c := infer.NewChart(infertest.Funnel{D: d}, withoutScores{&funnelMap{d: d}})
	if err := c.Use(infer.Centred(0, d-1)); err != nil {
		t.Fatal(err)
	}
	return c
}

// TestPlateau checks which chains are on a plateau, next to three chains in a mode.
func TestPlateau(t *testing.T) {
	const d, n = 6, 60
	rng := rand.New(rand.NewPCG(8, 2))
	c := nonCentred(t, d)
	walk := func(centre, width, slope float64) (v, score []float64) {
		for range n {
			z := rng.NormFloat64()
			v, score = append(v, centre+width*z), append(score, 0.5-slope*z)
		}
		return v, score
	}
	mode := func() record {
		v, score := walk(0, 0.3, 1/0.3)
		return termRecord(rng, c, v, score)
	}
	touched := func(c *infer.Chart, now ...record) (out []bool) {
		for _, p := range (&verdict{at: Sampler{}.limits()}).plateaus(c, now) {
			out = append(out, p.touched)
		}
		return out
	}
	v, score := walk(-20, 1, 1e-4)
	flat := termRecord(rng, c, v, score)
	for name, k := range map[string]struct {
		centre, width, slope float64
		from                 int // the draws before are on the plateau
		want                 bool
	}{
		"wanders":                     {-20, 1, 1e-4, 0, true},
		"leaves in the round":         {0, 0.3, 1 / 0.3, n / 4, true},
		"in a mode":                   {-20, 1, 1, 0, false},
		"slow in a mode":              {-20, 0.2, 0.2, 0, false},
		"does not move":               {-20, 0, 1e-4, 0, false},
		"not far away":                {-0.4, 0.4, 1e-4, 0, false},
		"where scales are large":      {20, 1, 1e-4, 0, false},
		"in the mode with the others": {0, 0.3, 1 / 0.3, 0, false},
	} {
		v, score := walk(k.centre, k.width, k.slope)
		r := termRecord(rng, c, v, score)
		copy(r.draws[:k.from], flat.draws)
		copy(r.scores[:k.from], flat.scores)
		if got := touched(c, mode(), r, mode(), mode()); !slices.Equal(got, []bool{false, k.want, false, false}) {
			t.Errorf("%s: on a plateau are %v", name, got)
		}
		if got := touched(c, r, r); slices.Contains(got, true) {
			t.Errorf("%s: without a chain elsewhere, on a plateau are %v", name, got)
		}
		if got := touched(nil, mode(), r, mode(), mode()); slices.Contains(got, true) {
			t.Errorf("%s: without group-level terms, on a plateau are %v", name, got)
		}
	}
}

// TestPlateauRestarts checks that a chain on a plateau is not learnt from and starts again, a
// limited number of times. It never does so in a round that only excludes, and is never dropped. A
// chain in a wide mode, which it explores slowly, never starts again. A chain on a plateau that may
// have some of the mass is learnt from like the others.
func TestPlateauRestarts(t *testing.T) {
	for _, slope := range []float64{1e-4, 0.15} {
		for _, several := range []bool{false, true} {
			plateauRestarts(t, slope, noMass+5, several)
			plateauRestarts(t, slope, noMass-5, several)
		}
	}
	plateauRestarts(t, 1e-4, 700, true) // so little mass that the chain would be useless anywhere
}

// plateauRestarts is TestPlateauRestarts for a chain with a slope of its scores, and a log mass
// lower than that of the others. Whether several modes are known makes no difference: the search
// may have taken the plateau for one.
func plateauRestarts(t *testing.T, flat, lower float64, several bool) {
	const d, n = 6, 20
	rng := rand.New(rand.NewPCG(9, 2))
	c := nonCentred(t, d)
	v := &verdict{at: Sampler{}.limits()}
	v.standing = make([]standing, 3)
	for round := range maxFresh + 4 {
		var now []record
		var parts []any
		for chain := range 3 {
			centre, width, slope := 0.0, 0.3, 1/0.3
			if chain == 1 {
				centre, width, slope = -20, 1, flat
			}
			var at, score []float64
			for range n {
				z := rng.NormFloat64()
				at, score = append(at, centre+width*z), append(score, 0.5-slope*z)
			}
			r := termRecord(rng, c, at, score)
			for k := range r.logDensity { // as if the mass were the same, but for that
				r.logDensity[k] += 0.5 * at[k] * at[k]
				if chain == 1 {
					r.logDensity[k] -= lower + math.Log(width/0.3)
				}
			}
			now, parts = append(now, r), append(parts, r)
		}
		onlyExclude := round == 0
		v.rounds, v.restarts = [][]record{now}, nil
		v.judgeChains(c, parts, onlyExclude, several)
		light := lower > noMass
		if want := light && flat < 0.1 && round > 0 && round <= maxFresh; slices.Equal(v.restarts, []int{1}) != want || len(v.restarts) > 1 {
			t.Errorf("round %d: chains %v start again", round, v.restarts)
		}
		for chain, r := range v.rounds[0] {
			if r.useless != (light && chain == 1) || v.standing[chain].dropped {
				t.Errorf("round %d, chain %d: not learnt from: %v, %+v", round, chain, r.useless, v.standing[chain])
			}
		}
	}
}

// TestMassesInUse checks that a chain in which the scale of a thousand terms varies does not make
// others useless: in the target's own coordinates, it seems to have a thousand nats more.
func TestMassesInUse(t *testing.T) {
	const d, n = 1000, 31
	rng := rand.New(rand.NewPCG(10, 2))
	c := nonCentred(t, d)
	for _, chart := range []*infer.Chart{c, nil} {
		var now []record
		var parts []any
		for chain := range 4 {
			at := make([]float64, n)
			for k := range at {
				at[k] = float64(k-n/2) / n
				if chain == 2 {
					at[k] *= 12
				}
			}
			r := termRecord(rng, c, at, make([]float64, n))
			now, parts = append(now, r), append(parts, r)
		}
		v := &verdict{at: Sampler{}.limits(), crew: crew{standing: make([]standing, 4)}}
		v.rounds = [][]record{now}
		v.judgeChains(chart, parts, true, false)
		for chain, r := range v.rounds[0] {
			if want := chart == nil && chain != 2; r.useless != want {
				t.Errorf("in the coordinates in use: %v; chain %d is useless: %v", chart != nil, chain, r.useless)
			}
		}
	}
}
