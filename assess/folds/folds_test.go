package folds_test

import (
	"math"
	"strings"
	"testing"

	"github.com/ppl-lang/ppl/assess/folds"
	"github.com/ppl-lang/ppl/fit"
	"github.com/ppl-lang/ppl/infer/ahmc"
	"github.com/ppl-lang/ppl/model"
)

const regression = `
data {
  int<lower=2> N;
  vector[N] x;
  array[N] int<lower=0> y;
  real scale;
}
parameters {
  real a;
  real<lower=0> b;
}
model {
  a ~ normal(0, scale);
  b ~ exponential(1);
  y ~ poisson_log(a + b * x);
}
`

func regressionData() map[string]any {
	return map[string]any{"N": 5, "x": []float64{-1, 0, 0.5, 1, 2}, "y": []int{0, 1, 3, 2, 7}, "scale": 2.0}
}

// TestFolds checks that every observation is held out once, and that its likelihood and the
// posterior without it equal those computed by hand.
func TestFolds(t *testing.T) {
	m, err := model.Compile("regression", regression)
	if err != nil {
		t.Fatal(err)
	}
	values := regressionData()
	made, err := folds.Make(t.Context(), m, values, folds.Options{Rows: []string{"y", "x"}, Folds: 2, Seed: 3}, model.BindOptions{})
	if err != nil {
		t.Fatal(err)
	}
	whole, err := m.Bind(values)
	if err != nil {
		t.Fatal(err)
	}
	// log p(y_i | a, b) without log y!, since a density up to a constant drops it.
	at := []float64{0.3, -0.2}
	likelihood := func(i int) float64 {
		eta := at[0] + math.Exp(at[1])*values["x"].([]float64)[i]
		return float64(values["y"].([]int)[i])*eta - math.Exp(eta)
	}
	grad := make([]float64, 2)
	all, err := whole.LogDensityGrad(at, grad)
	if err != nil {
		t.Fatal(err)
	}
	held, n := 0.0, 0
	for _, f := range made {
		got := make([]float64, f.Held.Len())
		if err := f.Held.LogLikelihood(at, got); err != nil {
			t.Fatal(err)
		}
		kept, err := f.Target.LogDensityGrad(at, grad)
		if err != nil {
			t.Fatal(err)
		}
		// The likelihoods tell which observations are held out.
		sum := 0.0
		for _, l := range got {
			found := false
			for i, y := range values["y"].([]int) {
				lgamma, _ := math.Lgamma(float64(y) + 1)
				if math.Abs(l-(likelihood(i)-lgamma)) < 1e-12 {
					found = true
					sum += likelihood(i)
				}
			}
			if !found {
				t.Errorf("a likelihood of %v, which is that of no observation", l)
			}
		}
		if math.Abs(all-kept-sum) > 1e-12 {
			t.Errorf("the density without a fold is %v, with it %v: they differ by %v, not by %v", kept, all, all-kept, sum)
		}
		held += sum
		n += len(got)
	}
	want := 0.0
	for i := range 5 {
		want += likelihood(i)
	}
	if n != 5 || math.Abs(held-want) > 1e-12 {
		t.Errorf("%d observations are held out, of likelihood %v instead of %v", n, held, want)
	}
	again, err := folds.Make(t.Context(), m, values, folds.Options{Rows: []string{"x", "y"}, Folds: 2, Seed: 3}, model.BindOptions{})
	if err != nil {
		t.Fatal(err)
	}
	a, b := make([]float64, made[0].Held.Len()), make([]float64, again[0].Held.Len())
	if made[0].Held.LogLikelihood(at, a) != nil || again[0].Held.LogLikelihood(at, b) != nil || a[0] != b[0] {
		t.Errorf("the same seed gives other folds: %v, %v", a, b)
	}

	// A sampler that is tuned with these folds must still sample the posterior.
	fit, err := fit.Sample(t.Context(), whole, fit.Options{Chains: 2, Warmup: 200, Draws: 300, Seed: 1, Sampler: ahmc.Sampler{
		Reward: ahmc.Predictive{Folds: made, Leapfrogs: 20}, StepSizePoints: 8, StepsPoints: 8, Freeze: true,
	}})
	if err != nil {
		t.Fatal(err)
	}
	for _, row := range fit.Summary() {
		if !(row.Rhat < 1.1) {
			t.Errorf("%s: R-hat %v", row.Name, row.Rhat)
		}
	}
}

func TestFoldsRefuses(t *testing.T) {
	compile := func(text string) *model.Model {
		t.Helper()
		m, err := model.Compile("m", text)
		if err != nil {
			t.Fatal(err)
		}
		return m
	}
	plain := compile(regression)
	effects := compile("data { int N; vector[N] y; } parameters { vector[N] a; } model { a ~ normal(0, 1); y ~ normal(a, 1); }")
	square := compile("data { int N; vector[N] y; matrix[N, N] d; } parameters { real a; } model { y ~ normal(d * rep_vector(a, N), 1); }")
	sparse := compile("data { int N; vector[N] y; sparse_matrix[N, N] d; } parameters { real a; } model { y ~ normal(d * rep_vector(a, N), 1); }")
	fixed := compile("data { vector[3] y; } parameters { real a; } model { y ~ normal(a, 1); }")
	bounded := compile("data { int<lower=4> N; vector[N] y; } parameters { real a; } model { y ~ normal(a, 1); }")
	for _, c := range []struct {
		model  *model.Model
		values map[string]any
		rows   string
		folds  int
		want   string
	}{
		{plain, regressionData(), "", 2, "needs the names"},
		{plain, regressionData(), "z", 2, "the data of the model are N, x, y, scale"},
		{plain, regressionData(), "scale", 2, "a single number"},
		{plain, regressionData(), "y", 2, "x has N rows as y has"},
		{plain, regressionData(), "x y", 1, "at least 2"},
		{plain, regressionData(), "x y", 6, "at most as many as observations, 5"},
		{plain, map[string]any{"N": 5, "x": []float64{1}, "y": []int{1}, "scale": 1.0}, "x y", 2, "no 5 rows for x"},
		{effects, map[string]any{"N": 4, "y": []float64{1, 2, 3, 4}}, "y", 2, "belong to single observations"},
		{square, map[string]any{"N": 2, "y": []float64{1, 2}, "d": [][]float64{{1, 0}, {0, 1}}}, "y", 2, "d has N rows as y has"},
		{square, map[string]any{"N": 2, "y": []float64{1, 2}, "d": [][]float64{{1, 0}, {0, 1}}}, "y d", 2, "d has N columns, too"},
		{sparse, map[string]any{"N": 2, "y": []float64{1, 2}, "d": [][]float64{{1, 0}, {0, 1}}}, "y", 2, "the sparse matrix d has the size N, too"},
		{fixed, map[string]any{"y": []float64{1, 2, 3}}, "y", 2, "must be declared as a variable"},
		{bounded, map[string]any{"N": 5, "y": []float64{1, 2, 3, 4, 5}}, "y", 2, "without fold 1"},
	} {
		_, err := folds.Make(t.Context(), c.model, c.values, folds.Options{Rows: strings.Fields(c.rows), Folds: c.folds}, model.BindOptions{})
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("rows %q, %d folds: %v, not %q", c.rows, c.folds, err, c.want)
		}
	}
}

// Misuse gives errors.
func TestFoldsMisuse(t *testing.T) {
	m, err := model.Compile("regression", regression)
	if err != nil {
		t.Fatal(err)
	}
	for want, do := range map[string]func() error{
		"no model": func() error {
			_, err := folds.Make(t.Context(), nil, regressionData(), folds.Options{}, model.BindOptions{})
			return err
		},
		"no model;": func() error {
			_, err := folds.Make(t.Context(), new(model.Model), nil, folds.Options{}, model.BindOptions{})
			return err
		},
		"no number for N": func() error {
			_, err := folds.Make(t.Context(), m, nil, folds.Options{Rows: []string{"x", "y"}, Folds: 2}, model.BindOptions{})
			return err
		},
		"at most as many": func() error {
			_, err := folds.Make(t.Context(), m, regressionData(), folds.Options{Rows: []string{"x", "y"}, Folds: math.MaxInt}, model.BindOptions{})
			return err
		},
	} {
		if err := do(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, not %q", err, want)
		}
	}
}
