package ppl_test

import (
	"context"
	"math"
	"strings"
	"testing"

	"github.com/ppl-lang/ppl"
	"github.com/ppl-lang/ppl/predict"
)

const lines = `data { int N; vector[N] x; vector[N] y; array[N] int g; }
parameters { real a; real b; real<lower=0> s; }
model { a ~ normal(0, 10); b ~ normal(0, 10); s ~ normal(0, 5); y ~ normal(a + b * x, s); }`

func lineData() map[string]any {
	n := 20
	x, y, g := make([]float64, n), make([]float64, n), make([]int, n)
	for i := range n {
		x[i] = float64(i)/10 - 1
		y[i] = 1 + 2*x[i] + math.Sin(7*float64(i))
		g[i] = 3 + i%4
	}
	return map[string]any{"N": n, "x": x, "y": y, "g": g}
}

func lineFit(t *testing.T, text string) *ppl.Fit {
	t.Helper()
	model, err := ppl.Compile("m", text)
	if err != nil {
		t.Fatal(err)
	}
	p, err := model.Bind(lineData())
	if err != nil {
		t.Fatal(err)
	}
	fit, err := ppl.Sample(context.Background(), p, ppl.Options{Seed: 1, Draws: 500, Warmup: 500})
	if err != nil {
		t.Fatal(err)
	}
	return fit
}

// Log likelihoods are the same derived and by the model's own hand, in memory and draw by
// draw; groups add up.
func TestLogLik(t *testing.T) {
	ctx := context.Background()
	fit := lineFit(t, lines+` generated quantities { vector[N] log_lik; for (n in 1:N) log_lik[n] = normal_lpdf(y[n] | a + b * x[n], s); }`)
	own, err := fit.LogLik(t.Context(), ppl.LogLikOptions{})
	if err != nil {
		t.Fatal(err)
	}
	derived, err := fit.LogLik(t.Context(), ppl.LogLikOptions{Derive: true})
	if err != nil {
		t.Fatal(err)
	}
	if own.Names[3] != "log_lik[4]" || derived.Names[3] != "y[4]" || derived.Observations() != 20 || !strings.Contains(derived.Source, "statements on y") {
		t.Errorf("%s (%s), %s (%s)", own.Names[3], own.Source, derived.Names[3], derived.Source)
	}
	a, err := own.LOO(ctx, 0)
	if err != nil {
		t.Fatal(err)
	}
	b, err := derived.LOO(ctx, 0)
	if err != nil {
		t.Fatal(err)
	}
	// So little memory that observations are gone through in parts, without effective sample
	// sizes.
	c, err := derived.LOO(ctx, 20000)
	if err != nil {
		t.Fatal(err)
	}
	for i := range a.ELPD {
		if math.Abs(a.ELPD[i]-b.ELPD[i]) > 1e-9 || math.Abs(a.ELPD[i]-c.ELPD[i]) > 1e-9 || c.Efficiency[i] != 1 || b.Efficiency[i] == 1 {
			t.Errorf("observation %d: %v, %v, %v", i, a.ELPD[i], b.ELPD[i], c.ELPD[i])
		}
	}
	groups, err := fit.LogLik(t.Context(), ppl.LogLikOptions{Derive: true, By: "g"})
	if err != nil {
		t.Fatal(err)
	}
	gm, err := groups.Matrix(ctx)
	if err != nil {
		t.Fatal(err)
	}
	m, err := derived.Matrix(ctx)
	if err != nil {
		t.Fatal(err)
	}
	sum := 0.0
	for i := 1; i < 20; i += 4 {
		sum += m.Columns[i][77]
	}
	if len(groups.Names) != 4 || groups.Names[1] != "g = 4" || math.Abs(gm.Columns[1][77]-sum) > 1e-12 {
		t.Errorf("groups %v: %v, want %v", groups.Names, gm.Columns[1][77], sum)
	}
	for _, o := range []ppl.LogLikOptions{{Name: "ll"}, {By: "h"}, {By: "x"}, {By: "N"}} {
		if _, err := fit.LogLik(t.Context(), o); err == nil {
			t.Errorf("%+v is no error", o)
		}
	}
}

// The density of an observation that was left out, by a refit, is what importance
// sampling estimates.
// What is derived from a fit is bound as its model was: transformed data may draw random
// numbers.
func TestDerivedSeed(t *testing.T) {
	model, err := ppl.Compile("m", `data { int N; vector[N] y; }
transformed data { real shift = normal_rng(0, 100); }
parameters { real a; }
model { a ~ normal(0, 100); y ~ normal(a + shift, 1); }
generated quantities { vector[N] log_lik; for (n in 1:N) log_lik[n] = normal_lpdf(y[n] | a + shift, 1); }`)
	if err != nil {
		t.Fatal(err)
	}
	p, err := model.BindContext(t.Context(), map[string]any{"N": 2, "y": []float64{1, 2}}, ppl.BindOptions{Seed: 7})
	if err != nil {
		t.Fatal(err)
	}
	fit, err := ppl.Sample(t.Context(), p, ppl.Options{Seed: 1, Chains: 1, Draws: 20, Warmup: 200})
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	if err := fit.Save(dir + "/fit"); err != nil {
		t.Fatal(err)
	}
	read, err := ppl.ReadFit(dir + "/fit")
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range []*ppl.Fit{fit, read} {
		var sums [2]float64
		for i, o := range []ppl.LogLikOptions{{}, {Derive: true}} {
			l, err := f.LogLik(t.Context(), o)
			if err != nil {
				t.Fatal(err)
			}
			all, err := l.Sums(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			sums[i] = all[0]
		}
		if math.Abs(sums[0]-sums[1]) > 1e-9 {
			t.Errorf("log likelihood %v by the model, %v derived", sums[0], sums[1])
		}
	}
}

func TestHoldout(t *testing.T) {
	ctx := context.Background()
	fit := lineFit(t, lines)
	l, err := fit.LogLik(t.Context(), ppl.LogLikOptions{})
	if err != nil {
		t.Fatal(err)
	}
	r, err := l.LOO(ctx, 0)
	if err != nil {
		t.Fatal(err)
	}
	model, _ := fit.Model()
	h, err := model.Holdout(t.Context(), lineData(), ppl.BindOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if h.N != 20 || strings.Join(h.Rows, " ") != "x y g" {
		t.Errorf("%d rows of %v", h.N, h.Rows)
	}
	for _, i := range []int{0, 7} {
		train, test, err := h.Split([]int{i}, nil)
		if err != nil {
			t.Fatal(err)
		}
		p, err := model.Bind(train)
		if err != nil || p.Dim() != h.Dim() {
			t.Fatal(err, p.Dim(), h.Dim())
		}
		without, err := ppl.Sample(ctx, p, ppl.Options{Seed: 2, Draws: 1000, Warmup: 500})
		if err != nil {
			t.Fatal(err)
		}
		derived, err := model.Derive(predict.LogLikelihood)
		if err != nil {
			t.Fatal(err)
		}
		held, err := derived.HeldOut(ctx, without, test, 1, ppl.BindOptions{})
		if err != nil {
			t.Fatal(err)
		}
		elpd, mcse := held.ELPD(0)
		if math.Abs(elpd-r.ELPD[i]) > 5*math.Hypot(3*mcse, r.MCSE[i]) || mcse > 0.05 {
			t.Errorf("observation %d: %v ± %v by a refit, %v ± %v by weights", i, elpd, mcse, r.ELPD[i], r.MCSE[i])
		}
	}
	for text, want := range map[string]string{
		`data { vector[3] y; } parameters { real a; } model { y ~ normal(a, 1); }`:                                                                         "must be declared as a variable",
		`data { int N; vector[N] y; vector[N] z; } parameters { real a; } model { y ~ normal(a, 1); z ~ normal(a, 1); }`:                                   "which belong together",
		`data { int N; vector[N] y; } parameters { real a; } model { for (n in 2:N) y[n] ~ normal(a * y[n - 1], 1); }`:                                     "changes with the other rows",
		`data { int N; vector[N] y; vector[N] x; } transformed data { vector[N] c = x - mean(x); } parameters { real a; } model { y ~ normal(a * c, 1); }`: "changes with the other rows",
		`data { real y; } parameters { real a; } model { y ~ normal(a, 1); }`:                                                                              "one observation",
	} {
		m, err := ppl.Compile("m", text)
		if err != nil {
			t.Fatal(err)
		}
		data := map[string]any{"N": 3, "y": []float64{1, 2, 4}, "z": []float64{1, 2, 5}, "x": []float64{3, 2, 5}}
		if _, err := m.Holdout(t.Context(), data, ppl.BindOptions{}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", text, err)
		}
	}
}
