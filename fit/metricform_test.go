package fit_test

import (
	"context"
	"errors"
	"flag"
	"math"
	"testing"

	"github.com/ppl-lang/ppl/fit"
	"github.com/ppl-lang/ppl/infer/riemann"
	"github.com/ppl-lang/ppl/infer/sampler"
	"github.com/ppl-lang/ppl/internal/short"
	"github.com/ppl-lang/ppl/model"
)

// riemannian returns the sampler rmhmc with these arguments, made in the same way as the command
// makes it.
func riemannian(t *testing.T, args ...string) sampler.Geometric {
	t.Helper()
	row, _ := sampler.Lookup("rmhmc")
	fs := flag.NewFlagSet("rmhmc", flag.ContinueOnError)
	build := row.Options(fs)
	if err := fs.Parse(args); err != nil {
		t.Fatal(err)
	}
	made, err := build()
	if err != nil {
		t.Fatal(err)
	}
	return made.(sampler.Geometric)
}

// TestMetricForms checks that runs with any form of a metric draw from the same posterior, which is
// known. Where it costs less, only the elements that may differ from 0 are computed separately.
func TestMetricForms(t *testing.T) {
	const n = 80
	text, err := model.Compile("levels.model", `
		data { int N; vector[N] y; }
		parameters { real mu; vector[N] theta; }
		model { mu ~ normal(0, 3); theta ~ normal(mu, 1); sum(theta) ~ normal(0, N); y ~ normal(theta, 1); }`)
	if err != nil {
		t.Fatal(err)
	}
	y := make([]float64, n)
	for i := range y {
		y[i] = 2 + math.Sin(float64(3*i))
	}
	posterior, err := text.Bind(map[string]any{"N": n, "y": y})
	if err != nil {
		t.Fatal(err)
	}
	// The mode of the normal posterior, which is its mean, by Newton's step from 0.
	d := posterior.Dim()
	g, grad := make([]float64, d*d), make([]float64, d)
	if err := posterior.Compiled().FisherMetric(make([]float64, d), g); err != nil {
		t.Fatal(err)
	}
	if _, err := posterior.LogDensityGrad(make([]float64, d), grad); err != nil {
		t.Fatal(err)
	}
	covariance, _, err := riemann.Regularise(g, d)
	if err != nil {
		t.Fatal(err)
	}
	mean := 0.0
	for i, v := range grad {
		mean += covariance[i] * v
	}
	sd := math.Sqrt(covariance[0])

	for _, c := range short.Every(2, []struct {
		args []string
		form sampler.Form
	}{
		{nil, sampler.Sparse}, {[]string{"-metric-form", "sparse"}, sampler.Sparse},
		{[]string{"-metric-form", "dense"}, sampler.Dense}, {[]string{"-metric-form", "diagonal"}, sampler.Diagonal},
	}) {
		s := riemannian(t, c.args...)
		form, m, err := s.Riemannian.SettleForm(posterior)
		if err != nil || form != c.form {
			t.Fatalf("%v: the form is %q, not %q, %v", c.args, form, c.form, err)
		}
		if form == sampler.Sparse {
			if p := m.Pattern(); len(p.Wide) != 1 || p.Wide[0].Rank != 1 || len(p.Rows) != 1+2*n {
				t.Errorf("%v: %d places and vectors %v", c.args, len(p.Rows), p.Wide)
			}
		}
		fit, err := fit.Sample(context.Background(), posterior, fit.Options{Sampler: s, Chains: 2, Warmup: 100, Draws: 200, Seed: 3})
		if err != nil {
			t.Fatal(err)
		}
		row := fit.Summary()[0] // of mu
		if row.Name != "mu" || math.Abs(row.Mean-mean) > 5*sd/math.Sqrt(100) || row.SD < 0.7*sd || row.SD > 1.4*sd {
			t.Errorf("%v: mu is %v ± %v, want %v ± %v", c.args, row.Mean, row.SD, mean, sd)
		}
	}

	// If the user chooses a metric, it is not completed, whatever its form. Other kinds of metrics
	// have no sparse form.
	flat, err := model.Compile("flat.model", "parameters { vector[70] a; real b; } model { a ~ normal(0, 1); }")
	if err != nil {
		t.Fatal(err)
	}
	bound, err := flat.Bind(nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := riemannian(t, "-metric", "fisher").Riemannian.SettleForm(bound); !errors.As(err, new(riemann.Uninformed)) {
		t.Errorf("a parameter without information: %v", err)
	}
	if _, _, err := riemannian(t, "-metric", "softabs", "-metric-form", "sparse").Riemannian.SettleForm(posterior); err == nil {
		t.Error("softabs is sparse")
	}
}

// TestMetricTooLarge checks that sparse forms leave out a statement with many elements that each
// depend on many parameters, and report this.
func TestMetricTooLarge(t *testing.T) {
	model, err := model.Compile("wide.model", `
		transformed data { matrix[1200, 2000] X = rep_matrix(0.1, 1200, 2000); array[1200] int y = rep_array(1, 1200); }
		parameters { vector[2000] b; vector[500] c; }
		model { b ~ normal(0, 1); c ~ normal(0, 1);
			y ~ bernoulli_logit(X * b); }`)
	if err != nil {
		t.Fatal(err)
	}
	posterior, err := model.Bind(nil)
	if err != nil {
		t.Fatal(err)
	}
	form, m, err := riemannian(t).Riemannian.SettleForm(posterior)
	if err != nil || form != sampler.Sparse || len(m.Pattern().Rows) != 2500 {
		t.Fatalf("the form is %q, %v", form, err)
	}
	left, err := posterior.Compiled().FisherTooLarge(false)
	if err != nil || len(left) != 1 || left[0].Span.Begin().Line != 5 {
		t.Errorf("left out: %v, %v", left, err)
	}
	e := make([]float64, 2500)
	if err := m.Elements(make([]float64, 2500), e); err != nil || e[0] != 1 || e[2499] != 1 {
		t.Errorf("elements %v and %v, %v", e[0], e[2499], err)
	}
}
