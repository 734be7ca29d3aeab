package compile_test

import (
	"math"
	"testing"
)

// TestLogisticCounts compares counts whose probability is a logistic function with the same
// distribution on the logit scale: counts that are 0, those that are all, and large logits.
func TestLogisticCounts(t *testing.T) {
	for _, values := range []string{
		`{"N": 4, "y": [0, 3, 5, 0], "n": [5, 3, 9, 0]}`,
		`{"N": 3, "y": [0, 0, 0], "n": [5, 1, 2]}`,
		`{"N": 2, "y": [4, 2], "n": [4, 2]}`,
		`{"N": 2, "y": [0, 0], "n": [0, 0]}`,
		`{"N": 1, "y": [0], "n": [7]}`,
		`{"N": 0, "y": [], "n": []}`,
	} {
		head := "data { int N; array[N] int y; array[N] int n; } parameters { real a; real b; vector[N] e; } model { "
		want := bindText(t, head+"y ~ binomial_logit(n, a + b * e); y ~ binomial_logit(n, a); }", values)
		for _, body := range []string{
			"y ~ binomial(n, inv_logit(a + b * e)); y ~ binomial(n, inv_logit(a)); }",
			"for (i in 1:N) { y[i] ~ binomial(n[i], inv_logit(a + b * e[i])); y[i] ~ binomial(n[i], inv_logit(a)); } }",
		} {
			got := bindText(t, head+body, values)
			for _, a := range []float64{0.3, -2, 30, -600} {
				x := make([]float64, got.Dim())
				for i := range x {
					x[i] = 0.7 * float64(i)
				}
				x[0] = a
				dx, dw := make([]float64, len(x)), make([]float64, len(x))
				lp, err := got.LogDensityGrad(x, dx)
				if err != nil {
					t.Fatal(err)
				}
				lw, err := want.LogDensityGrad(x, dw)
				if err != nil {
					t.Fatal(err)
				}
				if !near(lp, lw, 1e-12) {
					t.Errorf("%s, %s at %v: log density %.15g, on the logit scale %.15g", body, values, a, lp, lw)
				}
				for i := range dx {
					if !near(dx[i], dw[i], 1e-11) || math.IsNaN(dx[i]) {
						t.Errorf("%s, %s at %v: derivative %d is %.15g, on the logit scale %.15g", body, values, a, i, dx[i], dw[i])
					}
				}
			}
		}
	}
}
