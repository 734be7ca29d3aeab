package assess_test

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/ppl-lang/ppl/assess"
	"github.com/ppl-lang/ppl/fit"
)

// posteriorChecks samples a model and makes its predictive checks.
func posteriorChecks(t *testing.T, text string, values map[string]any, o assess.PredictiveOptions) (*assess.Predictive, error) {
	t.Helper()
	f := sampled(t, text, values, fit.Options{Seed: 1, Chains: 2, Draws: 500})
	o.Seed = 1
	return assess.PredictiveOf(context.Background(), f, o)
}

// TestVPC compares the check of standard normal values with theory: the median of many draws of the
// k-th of n sorted values, and quantiles of the data by their definition. Records of doses are left
// out, and times are those of the observations.
func TestVPC(t *testing.T) {
	const text = `data { int N, n; array[n] int iObs; vector[N] time; vector[N] dv; array[N] int evid; }
parameters { real a; } model { a ~ std_normal(); for (i in 1:N) if (evid[i] == 0) dv[i] ~ normal(0, 1); }`
	const per = 21
	n, values := 0, map[string]any{}
	var time, dv []float64
	var evid, iObs []int
	for k := range 3 {
		time, dv, evid = append(time, float64(k)), append(dv, math.NaN()), append(evid, 1)
		for i := range per {
			time, dv, evid = append(time, float64(k)), append(dv, float64(i)/10), append(evid, 0)
			iObs = append(iObs, len(time))
			n++
		}
	}
	values["N"], values["n"], values["iObs"], values["time"], values["dv"], values["evid"] = len(time), n, iObs, time, dv, evid
	p, err := posteriorChecks(t, text, values, assess.PredictiveOptions{VPC: &assess.VPCOptions{X: "time"}})
	if err != nil {
		t.Fatal(err)
	}
	v := p.Variables[0].VPC
	if len(v.Cells) != 3 || p.Variables[0].Checks != nil || p.Redrawn != nil {
		t.Fatalf("%d bins, want 3, and no other checks", len(v.Cells))
	}
	for k, c := range v.Cells {
		if c.Rows != per || c.Low != float64(k) || c.High != c.Low || c.Middle != c.Low || len(c.X) != per {
			t.Errorf("bin %d: %+v", k, c)
		}
		// The median of sorted normal values i of 21 is close to Φ⁻¹((i-3/8)/(21+1/4)) for
		// i = 2, 11 and 20.
		for q, want := range []float64{-1.429, 0, 1.429} {
			check := c.Checks[q]
			if math.Abs(check.Q50-want) > 0.08 || math.Abs(check.Observed-[]float64{0.1, 1, 1.9}[q]) > 1e-12 {
				t.Errorf("bin %d, %s: %+v, want a median of %v", k, check.Name, check, want)
			}
		}
	}
	if cells, checks := v.Odd(); len(cells) < 3 || checks[0].Name != "5%" || v.P > 0.01 {
		t.Errorf("deviations %v, p = %v: data from 0 to 2 are not standard normal", checks, v.P)
	}
}

// TestVPCCorrection corrects outcomes that differ by a known factor of dose: by the ratio of
// predictions, all are on one scale, in which the spread is that of the residual error. On the
// scale of logarithms, the difference does the same.
func TestVPCCorrection(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	const n, subjects = 120, 12
	time, dose, logs, y, id := make([]float64, n), make([]float64, n), make([]float64, n), make([]float64, n), make([]int, n)
	effect := make([]float64, subjects)
	for j := range effect {
		effect[j] = 0.5 * rng.NormFloat64()
	}
	for i := range n {
		time[i], dose[i], id[i] = float64(i%2), []float64{1, 100}[i/4%2], i%subjects+1
		logs[i] = math.Log(dose[i]) + effect[id[i]-1] + 0.1*rng.NormFloat64()
		y[i] = math.Exp(logs[i])
	}
	values := map[string]any{"N": n, "J": subjects, "id": id, "time": time, "dose": dose, "y": y, "logs": logs}
	const head = `data { int N, J; array[N] int id; vector[N] time, dose, y, logs; } parameters { real a; real<lower=0> tau, s; vector[J] eta; }
transformed parameters { vector[N] pred = dose * exp(a); }
model { a ~ std_normal(); tau ~ std_normal(); s ~ std_normal(); eta ~ std_normal(); `
	for _, c := range []struct {
		model string
		vpc   assess.VPCOptions
		back  func(float64) float64
	}{
		{"y ~ lognormal(log(dose) + a + tau * eta[id], s); }", assess.VPCOptions{Correct: assess.ByRatio}, func(y float64) float64 { return y }},
		{"y ~ lognormal(log(dose) + a + tau * eta[id], s); }", assess.VPCOptions{Correct: assess.ByRatio, Prediction: "pred"}, func(y float64) float64 { return y }},
		{"logs ~ normal(log(dose) + a + tau * eta[id], s); }", assess.VPCOptions{Correct: assess.ByDifference}, math.Exp},
	} {
		c.vpc.X = "time"
		p, err := posteriorChecks(t, head+c.model, values, assess.PredictiveOptions{VPC: &c.vpc, RedrawVarying: true})
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(p.Redrawn, []string{"eta"}) {
			t.Fatalf("%q are drawn anew, want eta", p.Redrawn)
		}
		for _, cell := range p.Variables[0].VPC.Cells {
			// Without correction, the middle 90 % would differ by a factor of above 100. The
			// standard deviation of logarithms is about 0.5.
			low, high := c.back(cell.Checks[0].Observed), c.back(cell.Checks[2].Observed)
			if high/low > 12 || high/low < 2 || cell.Checks[0].P < 0.01 || cell.Checks[0].P > 0.99 {
				t.Errorf("%s: corrected quantiles %v and %v, %+v", c.model, low, high, cell.Checks[0])
			}
			// The interval of the median is that of new subjects, wide by their effects.
			if wide := c.back(cell.Checks[1].Q95) / c.back(cell.Checks[1].Q5); wide < 1.3 {
				t.Errorf("%s: the median varies by a factor of %v", c.model, wide)
			}
		}
	}
	_, err := posteriorChecks(t, head+"logs ~ normal(a + tau * eta[id], s); }", values, assess.PredictiveOptions{VPC: &assess.VPCOptions{X: "time", Correct: assess.ByRatio}})
	if err == nil || !strings.Contains(err.Error(), "eta") {
		t.Errorf("%v, want an error about eta, which is not at its mean", err)
	}
}

// TestVPCCensored checks that censored values count as their limit, in replications too.
func TestVPCCensored(t *testing.T) {
	const text = `data { int N; array[N] int cens; vector[N] x, y; } parameters { real a; }
model { a ~ std_normal(); for (i in 1:N) if (cens[i]) target += normal_lcdf(y[i] | 0, 1); else y[i] ~ normal(0, 1); }`
	const n = 40
	cens, x, y := make([]int, n), make([]float64, n), make([]float64, n)
	for i := range n {
		if y[i] = (float64(i)+0.5)/10 - 2; y[i] < -0.5 {
			cens[i], y[i] = 1, -0.5
		}
	}
	p, err := posteriorChecks(t, text, map[string]any{"N": n, "cens": cens, "x": x, "y": y}, assess.PredictiveOptions{VPC: &assess.VPCOptions{X: "x"}})
	if err != nil {
		t.Fatal(err)
	}
	v := p.Variables[0].VPC
	if v.Lower != -0.5 || !math.IsNaN(v.Upper) || len(v.Cells) != 1 || len(v.Cells[0].Checks) != 4 {
		t.Fatalf("%+v", v)
	}
	low, share := v.Cells[0].Checks[0], v.Cells[0].Checks[3]
	if low.Observed != -0.5 || low.Q5 != -0.5 || low.Q95 != -0.5 {
		t.Errorf("the 5 %% quantile is %+v, want the limit", low)
	}
	// A standard normal value is below -0.5 with a probability of 0.3085.
	if math.Abs(share.Mean-0.3085) > 0.015 || share.Observed != 0.375 || share.Name != assess.ShareCensored {
		t.Errorf("the share of censored values is %+v", share)
	}
	// A declared limit has the same result.
	const declared = `data { int N; vector[N] x; vector<censored_below=-0.5>[N] y; } parameters { real a; } model { a ~ std_normal(); y ~ normal(0, 1); }`
	p, err = posteriorChecks(t, declared, map[string]any{"N": n, "x": x, "y": y}, assess.PredictiveOptions{VPC: &assess.VPCOptions{X: "x"}})
	if err != nil {
		t.Fatal(err)
	}
	if d := p.Variables[0].VPC; d.Lower != -0.5 || len(d.Cells[0].Checks) != 4 || math.Abs(d.Cells[0].Checks[3].Mean-0.3085) > 0.015 || d.Cells[0].Checks[3].Observed != share.Observed {
		t.Errorf("with a declared limit: %+v", d)
	}
	y[0] = -0.6
	if _, err = posteriorChecks(t, text, map[string]any{"N": n, "cens": cens, "x": x, "y": y}, assess.PredictiveOptions{VPC: &assess.VPCOptions{X: "x"}}); err == nil || !strings.Contains(err.Error(), "different limits") {
		t.Errorf("%v, want an error about the limits", err)
	}
}

// TestVPCBins checks bins with few values, ties, gaps and given limits.
func TestVPCBins(t *testing.T) {
	for _, c := range []struct {
		x    []float64
		o    assess.VPCOptions
		rows []int
	}{
		{[]float64{3}, assess.VPCOptions{}, []int{1}},
		{[]float64{3, 3}, assess.VPCOptions{}, []int{2}},
		{[]float64{2, 1}, assess.VPCOptions{}, []int{1, 1}},
		{[]float64{1, 2}, assess.VPCOptions{Bins: 1}, []int{2}},
		{[]float64{1, 2, 3, 4}, assess.VPCOptions{Bins: 4}, []int{1, 1, 1, 1}},
		{[]float64{1, 2, 3, 4}, assess.VPCOptions{Bins: 2}, []int{2, 2}},
		{[]float64{1, 1.1, 1.2, 5, 5.1, 5.2, 9, 9.1, 9.2}, assess.VPCOptions{Bins: 3}, []int{3, 3, 3}},
		{[]float64{1, 1.1, 1.2, 1.3, 5, 5.1, 5.2, 5.3}, assess.VPCOptions{Bins: 2}, []int{4, 4}},
		{[]float64{0, 1, 2, 3}, assess.VPCOptions{Edges: []float64{1, 3}}, []int{1, 2, 1}},
		{[]float64{0, 1}, assess.VPCOptions{Edges: []float64{-1, 7}}, []int{2}},
		{[]float64{math.NaN(), 1}, assess.VPCOptions{}, []int{1}},
	} {
		c.o.X = "x"
		values := map[string]any{"N": len(c.x), "x": c.x, "g": make([]int, len(c.x)), "y": make([]float64, len(c.x))}
		p, err := priorChecks(t, noise, values, assess.PredictiveOptions{VPC: &c.o})
		if err != nil {
			t.Fatal(err)
		}
		var rows []int
		for _, cell := range p.Variables[0].VPC.Cells {
			rows = append(rows, cell.Rows)
		}
		if !slices.Equal(rows, c.rows) {
			t.Errorf("%v with %+v: bins of %v, want %v", c.x, c.o, rows, c.rows)
		}
	}
	// Strata have their own bins.
	p, err := priorChecks(t, noise, map[string]any{"N": 4, "x": []float64{0, 1, 5, 6}, "g": []int{1, 1, 2, 2}, "y": make([]float64, 4)}, assess.PredictiveOptions{By: []string{"g"}, VPC: &assess.VPCOptions{X: "x", Bins: 1}})
	if err != nil {
		t.Fatal(err)
	}
	if c := p.Variables[0].VPC.Cells; len(c) != 2 || c[0].By[0].Label != "1" || c[1].Low != 5 || c[1].Middle != 5.5 {
		t.Errorf("strata %+v", c)
	}
}

// TestVPCColumns checks how columns with other rows than the outcome are found.
func TestVPCColumns(t *testing.T) {
	const text = `data { int N; vector[N] y; } parameters { real a; } model { a ~ std_normal(); y ~ normal(a, 1); }`
	values := map[string]any{"N": 2, "y": []float64{1, 2}, "time": []float64{5, 6, 7}, "iObs": []int{1, 3}, "id": []int{2, 1, 2},
		"WT": []float64{50, 60}, "z": []float64{1, 2, 3, 4}, "a": []int{1, 2}, "b": []int{2, 1}}
	for column, want := range map[string]string{
		"time[iObs]":   "",
		"WT":           "",
		"WT[id[iObs]]": "",
		"time":         "write time[",
		"age":          "age",
		"time[":        "] is missing",
		"WT[z]":        "index is 3",
		"time[z]":      "index is 4",
		"N":            "dimensions",
	} {
		p, err := priorChecks(t, text, values, assess.PredictiveOptions{VPC: &assess.VPCOptions{X: column}})
		switch {
		case want != "":
			if err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%s: %v, want %q", column, err, want)
			}
		case err != nil:
			t.Errorf("%s: %v", column, err)
		case column == "time[iObs]" && p.Variables[0].VPC.Cells[1].Low != 7:
			t.Errorf("%s: %+v", column, p.Variables[0].VPC.Cells)
		case column == "WT[id[iObs]]" && (len(p.Variables[0].VPC.Cells) != 1 || p.Variables[0].VPC.Cells[0].Low != 60):
			t.Errorf("%s: %+v", column, p.Variables[0].VPC.Cells)
		}
	}
}
