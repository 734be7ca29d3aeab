package model_test

import (
	"math"
	"strings"
	"testing"

	"github.com/ppl-lang/ppl/model"
)

// TestReportedKinds checks cases that public reports found wrong in other programs: gradients in
// tails, approximations whose derivative does not match, arrays of which only one element counts,
// and empty data. The expected values are from mpmath.
func TestReportedKinds(t *testing.T) {
	e25 := math.Exp(-25)
	for _, c := range []struct {
		what, program string
		data          map[string]any
		x             []float64
		value         float64 // NaN: not looked at
		gradient      []float64
	}{
		{"the sign of a tail", "parameters { real t; } model { target += bernoulli_logit_lpmf(1 | t); }", nil,
			[]float64{25}, -e25, []float64{e25}},
		{"the sign of a tail of a GLM", "parameters { real a; vector[1] b; } model { target += bernoulli_logit_glm_lpmf({1} | [[1]], a, b); }", nil,
			[]float64{25, 0}, -e25, []float64{e25, e25}},
		{"exponentials that overflow", "parameters { real m; } model { target += logistic_lpdf(711 | m, 1); }", nil,
			[]float64{710}, -1.6265233750364456, []float64{math.Tanh(0.5)}},
		{"a limit used for its neighbour", "parameters { real a; real b; } model { target += neg_binomial_lpmf(0 | a, b); }", nil,
			[]float64{1e10, 0.8}, -8109302162.16328763956, []float64{-0.810930216216328763956, 6944444444.4444444444}},
		{"counts of an array and one shape", "parameters { real a; real b; } model { target += neg_binomial_lccdf({3, 7, 1} | a, b); }", nil,
			[]float64{2.5, 0.7}, -3.475953204890168907, []float64{1.599386187259927371, -5.990583396229409193}},
		{"a tail by its shape", "parameters { real a; real b; } model { target += gamma_lccdf(40 | a, b); }", nil,
			[]float64{2.2, 3}, -114.3419906514813856, []float64{4.251544756215992269, -39.60331116897966235}},
		{"a predictor beyond the exponential", "parameters { real e; } model { target += neg_binomial_2_log_lpmf(5 | e, 2); }", nil,
			[]float64{720}, -1436.8219461696520544, []float64{-2}},
		{"no observations", "data { int n; vector[n] y; matrix[n, 2] X; } parameters { real m; vector[2] b; } model { y ~ normal(m + X * b, 1); m ~ normal(0, 1); b ~ normal(0, 1); }",
			map[string]any{"n": 0, "y": []float64{}, "X": [][]float64{}}, []float64{0.5, 0, 0}, math.NaN(), []float64{-0.5, 0, 0}},
		{"a product of columns without rows", "data { int n; array[n, n] real x; matrix[n, 0] Z; } parameters { real m; } model { m ~ normal(sum(to_vector(Z)), 1); }",
			map[string]any{"n": 0, "x": []float64{}, "Z": []float64{}}, []float64{2}, math.NaN(), []float64{-2}},
	} {
		m, err := model.Compile("m.stan", c.program)
		if err != nil {
			t.Errorf("%s: %v", c.what, err)
			continue
		}
		var data any
		if c.data != nil {
			data = c.data
		}
		p, err := m.Bind(data)
		if err != nil {
			t.Errorf("%s: %v", c.what, err)
			continue
		}
		got := make([]float64, len(c.x))
		value, err := p.LogDensityGrad(c.x, got)
		if err != nil {
			t.Errorf("%s: %v", c.what, err)
			continue
		}
		near := func(what string, got, want float64) {
			if !(math.Abs(got-want) <= 1e-9*math.Abs(want)) {
				t.Errorf("%s: %s is %.17g, want %.17g", c.what, what, got, want)
			}
		}
		if !math.IsNaN(c.value) {
			near("the log density", value, c.value)
		}
		for i, want := range c.gradient {
			near("the gradient", got[i], want)
		}
	}
	// Missing elements are an error; they are not an empty array.
	m, err := model.Compile("m.stan", "data { int n; array[n, n] real x; } parameters { real m; } model { m ~ normal(0, 1); }")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := m.Bind(map[string]any{"n": 1, "x": [][]float64{}}); err == nil || !strings.Contains(err.Error(), "x") {
		t.Errorf("an array of one element from none: %v", err)
	}
}
