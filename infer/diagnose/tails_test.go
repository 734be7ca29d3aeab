package diagnose

import (
	"math"
	"testing"

	"gonum.org/v1/gonum/stat/distuv"
)

// TestTailShape compares the shape of tails with R's loo 2.5 (gpdfit), on 4000 quantiles of
// distributions. The shape of a Student t with n degrees of freedom is 1/n; its mean exists for
// n > 1.
func TestTailShape(t *testing.T) {
	student := func(n float64) func(float64) float64 { return distuv.StudentsT{Sigma: 1, Nu: n}.Quantile }
	for _, c := range []struct {
		about    string
		quantile func(p float64) float64
		loo      float64 // -Inf: no tail is fitted, for none is long
	}{
		{"Cauchy", func(p float64) float64 { return math.Tan(math.Pi * (p - 0.5)) }, 0.9609835},
		{"Cauchy, mirrored", func(p float64) float64 { return -math.Tan(math.Pi * (p - 0.5)) }, 0.9609835},
		{"t, 1.4", student(1.4), 0.6893244},
		{"t, 3", student(3), 0.3034225},
		{"lognormal, 3", distuv.LogNormal{Sigma: 3}.Quantile, 0.9919563},
		{"lognormal, 1", distuv.LogNormal{Sigma: 1}.Quantile, 0.2637200},
		{"normal", distuv.UnitNormal.Quantile, math.Inf(-1)},
		{"uniform", func(p float64) float64 { return p }, math.Inf(-1)},
		{"two values", func(p float64) float64 { return math.Round(p) }, math.Inf(-1)},
		{"a rare value", func(p float64) float64 { return math.Floor(p / 0.999) }, math.Inf(-1)},
	} {
		const n = 4000
		x := make([]float64, n)
		for i := range x {
			x[i] = c.quantile((float64(i) + 0.5) / n)
		}
		k := tailShape(x, Row{Q5: c.quantile(0.05), Q50: c.quantile(0.5), Q95: c.quantile(0.95), ESSBulk: n})
		if k != c.loo && !(math.Abs(k-c.loo) < 2e-6) {
			t.Errorf("%s: %.7g, want %.7g", c.about, k, c.loo)
		}
	}
}

// TestFewForTails checks that tails of few draws are no fault.
func TestFewForTails(t *testing.T) {
	for n := range 30 {
		x := make([]float64, n+1)
		for i := range x {
			x[i] = math.Exp(float64(i * i))
		}
		if k := tailShape(x, Row{Q5: x[0], Q50: x[n/2], Q95: x[n*19/20], ESSBulk: float64(n)}); math.IsNaN(k) || k == math.Inf(1) {
			t.Errorf("%d draws: %v", n+1, k)
		}
	}
}
