package assess_test

import (
	"context"
	"math"
	"strings"
	"testing"

	"github.com/ppl-lang/ppl/assess"
	"github.com/ppl-lang/ppl/fit"
	"github.com/ppl-lang/ppl/fit/fittest"
	"github.com/ppl-lang/ppl/model"
	"github.com/ppl-lang/ppl/model/predict"
)

// TestLogLik checks that log likelihoods are the same whether they are derived or computed by the
// model, and whether they are in memory or processed draw by draw. Those of groups must be sums.
func TestLogLik(t *testing.T) {
	ctx := context.Background()
	fit := fittest.LineFit(t, fittest.Line+` generated quantities { vector[N] log_lik; for (n in 1:N) log_lik[n] = normal_lpdf(y[n] | a + b * x[n], s); }`)
	own, err := assess.LogLikOf(t.Context(), fit, assess.LogLikOptions{})
	if err != nil {
		t.Fatal(err)
	}
	derived, err := assess.LogLikOf(t.Context(), fit, assess.LogLikOptions{Derive: true})
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
	// With so little memory, LOO processes observations in parts and does not estimate effective
	// sample sizes.
	c, err := derived.LOO(ctx, 20000)
	if err != nil {
		t.Fatal(err)
	}
	for i := range a.ELPD {
		if math.Abs(a.ELPD[i]-b.ELPD[i]) > 1e-9 || math.Abs(a.ELPD[i]-c.ELPD[i]) > 1e-9 || c.Efficiency[i] != 1 || b.Efficiency[i] == 1 {
			t.Errorf("observation %d: %v, %v, %v", i, a.ELPD[i], b.ELPD[i], c.ELPD[i])
		}
	}
	groups, err := assess.LogLikOf(t.Context(), fit, assess.LogLikOptions{Derive: true, By: "g"})
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
	for _, o := range []assess.LogLikOptions{{Name: "ll"}, {By: "h"}, {By: "x"}, {By: "N"}} {
		if _, err := assess.LogLikOf(t.Context(), fit, o); err == nil {
			t.Errorf("%+v is no error", o)
		}
	}
}

// TestDerivedSeed checks that models derived from a fit are bound with the seed of the fit, since
// transformed data may draw random numbers.
func TestDerivedSeed(t *testing.T) {
	m, err := model.Compile("m", `data { int N; vector[N] y; }
transformed data { real shift = normal_rng(0, 100); }
parameters { real a; }
model { a ~ normal(0, 100); y ~ normal(a + shift, 1); }
generated quantities { vector[N] log_lik; for (n in 1:N) log_lik[n] = normal_lpdf(y[n] | a + shift, 1); }`)
	if err != nil {
		t.Fatal(err)
	}
	p, err := m.BindContext(t.Context(), map[string]any{"N": 2, "y": []float64{1, 2}}, model.BindOptions{Seed: 7})
	if err != nil {
		t.Fatal(err)
	}
	run, err := fit.Sample(t.Context(), p, fit.Options{Seed: 1, Chains: 1, Draws: 20, Warmup: 200})
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	if err := run.Save(dir + "/fit"); err != nil {
		t.Fatal(err)
	}
	read, err := fit.ReadFit(dir + "/fit")
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range []*fit.Fit{run, read} {
		var sums [2]float64
		for i, o := range []assess.LogLikOptions{{}, {Derive: true}} {
			l, err := assess.LogLikOf(t.Context(), f, o)
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
	f := fittest.LineFit(t, fittest.Line)
	l, err := assess.LogLikOf(t.Context(), f, assess.LogLikOptions{})
	if err != nil {
		t.Fatal(err)
	}
	r, err := l.LOO(ctx, 0)
	if err != nil {
		t.Fatal(err)
	}
	compiled, _ := f.Model()
	h, err := assess.NewHoldout(t.Context(), compiled, fittest.LineData(), model.BindOptions{})
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
		p, err := compiled.Bind(train)
		if err != nil || p.Dim() != h.Dim() {
			t.Fatal(err, p.Dim(), h.Dim())
		}
		without, err := fit.Sample(ctx, p, fit.Options{Seed: 2, Draws: 1000, Warmup: 500})
		if err != nil {
			t.Fatal(err)
		}
		derived, err := compiled.Derive(predict.LogLikelihood)
		if err != nil {
			t.Fatal(err)
		}
		held, err := assess.PredictHeldOut(ctx, derived, without, test, 1, model.BindOptions{})
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
		`data { int N; vector[N] y; vector[3] z; } parameters { real a; } model { y ~ normal(a, 1); z ~ normal(a, 1); }`:                                   "by importance sampling (ppl loo)",
		`data { int N; vector[N] y; } parameters { real a; } model { for (n in 2:N) y[n] ~ normal(a * y[n - 1], 1); }`:                                     "changes with the other rows",
		`data { int N; vector[N] y; vector[N] x; } transformed data { vector[N] c = x - mean(x); } parameters { real a; } model { y ~ normal(a * c, 1); }`: "changes with the other rows",
		`data { real y; } parameters { real a; } model { y ~ normal(a, 1); }`:                                                                              "one observation",
	} {
		m, err := model.Compile("m", text)
		if err != nil {
			t.Fatal(err)
		}
		data := map[string]any{"N": 3, "y": []float64{1, 2, 4}, "z": []float64{1, 2, 5}, "x": []float64{3, 2, 5}}
		if _, err := assess.NewHoldout(t.Context(), m, data, model.BindOptions{}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", text, err)
		}
	}
}
