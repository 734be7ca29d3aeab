package diagnose

import (
	"encoding/json"
	"math"
	"os"
	"testing"
)

// lehmer is the generator of testdata/reference.R: exact in float64.
func lehmer(seed int) func() float64 {
	state := uint64(seed)
	return func() float64 {
		state = 16807 * state % 2147483647
		return float64(state) / 2147483647
	}
}

func nearlyNormal(uniform func() float64) float64 {
	sum := 0.0
	for range 12 {
		sum += uniform()
	}
	return sum - 6
}

type generator func(uniform func() float64, chain, n int) []float64

func autoregressive(phi float64) generator {
	return func(uniform func() float64, _, n int) []float64 {
		previous := nearlyNormal(uniform)
		x := make([]float64, n)
		for i := range x {
			previous = float64(phi*previous) + nearlyNormal(uniform)
			x[i] = previous
		}
		return x
	}
}

// each makes a draw from a nearly normal variate, its chain and its number
// (both from 1, as in R).
func each(f func(z float64, chain, i int) float64) generator {
	return func(uniform func() float64, chain, n int) []float64 {
		x := make([]float64, n)
		for i := range x {
			x[i] = f(nearlyNormal(uniform), chain, i+1)
		}
		return x
	}
}

func mapped(g generator, f func(float64) float64) generator {
	return func(uniform func() float64, chain, n int) []float64 {
		x := g(uniform, chain, n)
		for i := range x {
			x[i] = f(x[i])
		}
		return x
	}
}

// generators are the cases of testdata/reference.R, by name.
var generators = map[string]generator{
	"independent":           each(func(z float64, _, _ int) float64 { return z }),
	"autoregressive":        autoregressive(0.9),
	"slow":                  autoregressive(0.99),
	"antithetic":            autoregressive(-0.7),
	"strongly antithetic":   autoregressive(-0.95),
	"one chain":             autoregressive(0.5),
	"odd length":            autoregressive(0.5),
	"odd length, one chain": each(func(z float64, _, _ int) float64 { return z }),
	"ten chains":            autoregressive(0.3),
	"ties":                  mapped(autoregressive(0.3), func(x float64) float64 { return math.Floor(2 * x) }),
	"shifted chain": each(func(z float64, chain, _ int) float64 {
		if chain == 4 {
			return z + 2
		}
		return z
	}),
	"wider chain":  each(func(z float64, chain, _ int) float64 { return z * float64(chain) }),
	"trend":        each(func(z float64, _, i int) float64 { return z + float64(i)/50 }),
	"large offset": each(func(z float64, _, _ int) float64 { return 1000 + z/1024 }),
	"skewed": mapped(autoregressive(0.6), func(x float64) float64 {
		return float64(x*x*x) + float64(x*x)
	}),
	"constant": func(_ func() float64, _, n int) []float64 {
		x := make([]float64, n)
		for i := range x {
			x[i] = 3.25
		}
		return x
	},
	"alternating": func(_ func() float64, _, n int) []float64 {
		x := make([]float64, n)
		for i := range x {
			x[i] = float64(2*((i+1)%2)-1) * (1 + float64(i+1)/1024)
		}
		return x
	},
	"heavy tails": func(uniform func() float64, _, n int) []float64 {
		x := make([]float64, n)
		for i := range x {
			z := nearlyNormal(uniform)
			x[i] = z / uniform()
		}
		return x
	},
	"rare event": each(func(z float64, _, _ int) float64 {
		if z > 2 {
			return 1
		}
		return 0
	}),
	"ten draws":   each(func(z float64, _, _ int) float64 { return z }),
	"seven draws": each(func(z float64, _, _ int) float64 { return z }),
	"six draws":   each(func(z float64, _, _ int) float64 { return z }),
	"five draws":  each(func(z float64, _, _ int) float64 { return z }),
	"four draws":  each(func(z float64, _, _ int) float64 { return z }),
}

// referenceCase is one case of reference.json; figures by name, nil for R's NA.
type referenceCase struct {
	Name           string
	Chains, Length int
	Figures        map[string]*float64
}

func readReference(t *testing.T) []referenceCase {
	t.Helper()
	text, err := os.ReadFile("testdata/reference.json")
	if err != nil {
		t.Fatal(err)
	}
	var file struct{ Cases []json.RawMessage }
	if err := json.Unmarshal(text, &file); err != nil {
		t.Fatal(err)
	}
	var cases []referenceCase
	for _, raw := range file.Cases {
		var c referenceCase
		if err := json.Unmarshal(raw, &c); err != nil {
			t.Fatal(err)
		}
		var fields map[string]json.RawMessage
		if err := json.Unmarshal(raw, &fields); err != nil {
			t.Fatal(err)
		}
		c.Figures = map[string]*float64{}
		for key, value := range fields {
			switch key {
			case "name", "chains", "length":
				continue
			}
			var figure *float64
			if err := json.Unmarshal(value, &figure); err != nil {
				t.Fatalf("%s: %s: %v", c.Name, key, err)
			}
			c.Figures[key] = figure
		}
		cases = append(cases, c)
	}
	return cases
}

// TestAgainstPosterior holds every measure to R's package posterior.
func TestAgainstPosterior(t *testing.T) {
	const tolerance = 1e-8 // relative, absolute below 1
	cases := readReference(t)
	if len(cases) != len(generators) {
		t.Fatalf("%d reference cases, %d generators", len(cases), len(generators))
	}
	for i, c := range cases {
		t.Run(c.Name, func(t *testing.T) {
			uniform := lehmer(20130616 + i + 1)
			chains := make([][]float64, c.Chains)
			var all []float64
			for chain := range chains {
				chains[chain] = generators[c.Name](uniform, chain+1, c.Length)
				all = append(all, chains[chain]...)
			}
			if all[0] != *c.Figures["first"] || all[len(all)-1] != *c.Figures["last"] {
				t.Fatalf("the input differs: %v … %v, R has %v … %v", all[0], all[len(all)-1], *c.Figures["first"], *c.Figures["last"])
			}
			row := summarizeOne(chains)
			got := map[string]float64{
				"first": all[0], "last": all[len(all)-1],
				"mean": row.Mean, "sd": row.SD, "q5": row.Q5, "q50": row.Q50, "q95": row.Q95,
				"rhat": Rhat(chains), "ess_bulk": ESSBulk(chains), "ess_tail": ESSTail(chains),
				"ess_mean": ESSMean(chains), "ess_sd": ESSSD(chains), "ess_q25": ESSQuantile(chains, 0.25),
				"mcse_mean": MCSEMean(chains), "mcse_sd": MCSESD(chains),
				"mcse_q5": MCSEQuantile(chains, 0.05), "mcse_q50": MCSEQuantile(chains, 0.5), "mcse_q95": MCSEQuantile(chains, 0.95),
			}
			for name, want := range c.Figures {
				v, known := got[name]
				switch {
				case !known:
					t.Errorf("%s: not computed", name)
				case want == nil:
					if !math.IsNaN(v) {
						t.Errorf("%s = %v, R has NA", name, v)
					}
				case !(math.Abs(v-*want) <= tolerance*max(1, math.Abs(*want))):
					t.Errorf("%s = %.15g, R has %.15g", name, v, *want)
				}
			}
			// The table is made of the same measures.
			for name, pair := range map[string][2]float64{
				"rhat": {row.Rhat, got["rhat"]}, "ess_bulk": {row.ESSBulk, got["ess_bulk"]},
				"ess_tail": {row.ESSTail, got["ess_tail"]}, "mcse_mean": {row.MCSEMean, got["mcse_mean"]},
			} {
				if pair[0] != pair[1] && !(math.IsNaN(pair[0]) && math.IsNaN(pair[1])) {
					t.Errorf("Summarize has %s = %v, the measure is %v", name, pair[0], pair[1])
				}
			}
		})
	}
}

// summarizeOne summarises a single quantity, chains[chain][draw].
func summarizeOne(chains [][]float64) Row {
	draws := make([][][]float64, len(chains))
	for chain, x := range chains {
		for _, v := range x {
			draws[chain] = append(draws[chain], []float64{v})
		}
	}
	return Summarize(Slices([]string{"x"}, draws))[0]
}
