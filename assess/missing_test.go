package assess_test

import (
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/ppl-lang/ppl/assess"
	"github.com/ppl-lang/ppl/fit"
	"github.com/ppl-lang/ppl/model"
)

const lineWithMissing = `data { int N; vector[N] x; vector<missing>[N] y; }
parameters { real a; real b; real<lower=0> s; }
model { a ~ normal(0, 5); b ~ normal(0, 5); s ~ normal(0, 5); y ~ normal(a + b * x, s); }
generated quantities { vector[N] log_lik; for (n in 1:N) log_lik[n] = normal_lpdf(y[n] | a + b * x[n], s); }`

// TestMissingLeftOut checks that log likelihoods and predictive checks are about observed values
// only, and that the missing ones are parameters with the names of the data.
func TestMissingLeftOut(t *testing.T) {
	m, err := model.Compile("m.stan", lineWithMissing)
	if err != nil {
		t.Fatal(err)
	}
	nan := math.NaN()
	values := map[string]any{"N": 8, "x": []float64{-2, -1, 0, 1, 2, 3, 4, 5}, "y": []float64{0.1, nan, 2.2, 2.9, nan, 5.2, 5.8, 7.1}}
	p, err := m.Bind(values)
	if err != nil {
		t.Fatal(err)
	}
	if missing := p.Missing(); len(missing) != 1 || missing[0].Size != 8 || !slices.Equal(missing[0].Elements, []string{"y[2]", "y[5]"}) {
		t.Errorf("missing: %v", missing)
	}
	f, err := fit.Sample(t.Context(), p, fit.Options{Chains: 2, Warmup: 200, Draws: 200, Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	if got := strings.Join(f.Names()[:5], " "); got != "y.2 y.5 a b s" {
		t.Errorf("quantities %s", got)
	}
	if v, err := f.Variable("y"); err != nil || len(v.Chains[0]) != 2*f.Draws.Len(0) {
		t.Errorf("the draws of y: %v", err)
	}
	want := []string{"y[1]", "y[3]", "y[4]", "y[6]", "y[7]", "y[8]"}
	for _, derive := range []bool{true, false} {
		l, err := assess.LogLikOf(t.Context(), f, assess.LogLikOptions{Derive: derive})
		if err != nil {
			t.Fatal(err)
		}
		got := slices.Clone(l.Names)
		for i := range got {
			got[i] = strings.Replace(got[i], "log_lik", "y", 1)
		}
		if !slices.Equal(got, want) {
			t.Errorf("derived %v: log likelihoods of %v, want %v", derive, got, want)
		}
	}
	r, err := assess.PredictiveOf(t.Context(), f, assess.PredictiveOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if v := r.Variables[0]; v.Observations != 6 || slices.ContainsFunc(v.Observed, math.IsNaN) {
		t.Errorf("%d observations: %v", v.Observations, v.Observed)
	}
	h, err := assess.NewHoldout(t.Context(), m, values, model.BindOptions{})
	if err != nil || h.N != 6 || h.Unobserved != 2 || h.Dim() != 3 || h.Name(1) != "y[3]" || h.Name(5) != "y[8]" {
		t.Errorf("held-out rows: %v, %v", h, err)
	}
	covariate, err := model.Compile("m.stan", strings.ReplaceAll(strings.Replace(lineWithMissing, "vector[N] x", "vector<missing>[N] x", 1), "s ~ normal", "x ~ normal(0, 1); s ~ normal"))
	if err != nil {
		t.Fatal(err)
	}
	values["x"] = []float64{-2, -1, 0, 1, 2, nan, 4, 5}
	if _, err := assess.NewHoldout(t.Context(), covariate, values, model.BindOptions{}); err == nil {
		t.Error("rows with missing covariates can be held out")
	}
	values["x"] = []float64{-2, -1, 0, 1, 2, 3, 4, 5}
	s, err := assess.NewSimulator(t.Context(), m, values, 3, 1, assess.SimulatorOptions{})
	if err != nil {
		t.Fatal(err)
	}
	made, params, err := s.Set(2)
	if err != nil {
		t.Fatal(err)
	}
	y, _ := made.Get("y")
	truth, _ := params.Get("y")
	for i, v := range y.Reals {
		if gone := i == 1 || i == 4; math.IsNaN(v) != gone || gone && math.IsNaN(truth.Reals[i]) {
			t.Errorf("simulated y %v with the parameters %v", y.Reals, truth.Reals)
		}
	}
}

// TestMissingCounts checks log likelihoods, held-out rows and predictions of models whose data lack
// counts, an outcome and a covariate. The log likelihood of an observation is the sum over the
// covariate that it depends on.
func TestMissingCounts(t *testing.T) {
	m, err := model.Compile("m.stan", `data { int N; array[N] int<lower=0, missing> k; array[N] int<lower=0, missing> y; vector[N] z; }
parameters { real<lower=0> l; real<lower=0> r; real b; }
model { l ~ gamma(4, 2); r ~ gamma(4, 2); b ~ normal(0, 1); k ~ poisson(l); y ~ poisson(r); z ~ normal(b * to_vector(k), 1); }`)
	if err != nil {
		t.Fatal(err)
	}
	nan := math.NaN()
	values := map[string]any{"N": 4, "k": []float64{1, nan, 0, 3}, "y": []float64{nan, 2, 0, 1}, "z": []float64{0.4, 1.2, -0.3, 1.9}}
	p, err := m.Bind(values)
	if err != nil {
		t.Fatal(err)
	}
	f, err := fit.Sample(t.Context(), p, fit.Options{Chains: 2, Warmup: 200, Draws: 200, Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	l, err := assess.LogLikOf(t.Context(), f, assess.LogLikOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if got, want := strings.Join(l.Names, " "), "k[1] k[3] k[4] y[2] y[3] y[4] z[1] z[2] z[3] z[4]"; got != want {
		t.Errorf("log likelihoods of %s, want %s", got, want)
	}
	rate, err := f.Variable("l")
	if err != nil {
		t.Fatal(err)
	}
	slope, err := f.Variable("b")
	if err != nil {
		t.Fatal(err)
	}
	terms, err := l.Matrix(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	at := slices.Index(l.Names, "z[2]")
	for i := range rate.Chains[0] {
		want, mass := 0.0, math.Exp(-rate.Chains[0][i])
		for k := range 100 {
			d := 1.2 - slope.Chains[0][i]*float64(k)
			want += mass * math.Exp(-d*d/2) / math.Sqrt(2*math.Pi)
			mass *= rate.Chains[0][i] / float64(k+1)
		}
		if got := terms.Columns[at][i]; math.Abs(got-math.Log(want)) > 1e-9 {
			t.Fatalf("draw %d: log likelihood %v of z[2], want %v", i, got, math.Log(want))
		}
	}
	r, err := assess.PredictiveOf(t.Context(), f, assess.PredictiveOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for i, n := range []int{3, 3, 4} {
		if v := r.Variables[i]; v.Observations != n {
			t.Errorf("%s has %d observations, want %d", v.Name, v.Observations, n)
		}
	}
	alone, err := model.Compile("m.stan", "data { int N; array[N] int<lower=0, missing> y; } parameters { real<lower=0> r; } model { r ~ gamma(4, 2); y ~ poisson(r); }")
	if err != nil {
		t.Fatal(err)
	}
	h, err := assess.NewHoldout(t.Context(), alone, map[string]any{"N": 4, "y": values["y"]}, model.BindOptions{})
	if err != nil || h.N != 3 || h.Unobserved != 1 || h.Name(0) != "y[2]" {
		t.Errorf("held-out rows: %v, %v", h, err)
	}
}
