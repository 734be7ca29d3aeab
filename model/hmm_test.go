package model_test

import (
	"math"
	"testing"

	"github.com/ppl-lang/ppl/model"
)

// TestMarginalImpossible computes the derivatives of hmm_marginal with respect to probabilities
// that are 0, where the likelihood becomes so small that it is computed with logarithms. The
// expected values are from Stan 2.32.2.
func TestMarginalImpossible(t *testing.T) {
	m, err := model.Compile("m.stan", `functions {
  // 0 with the derivative 1
  real zero(real x) { return x - floor(x * 1152921504606846976.0) / 1152921504606846976.0; }
}
parameters { real a; real b; real c; }
model {
  matrix[2, 2] Gamma = [[1 - zero(a), zero(a)], [0.3, 0.7]];
  vector[2] rho = [1 - zero(b), zero(b)]';
  matrix[2, 3] lw = [[c, -400, 0.1], [0.2, 0, c]];
  target += hmm_marginal(lw, Gamma, rho);
}
`)
	if err != nil {
		t.Fatal(err)
	}
	p, err := m.Bind(nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ x, want []float64 }{
		{[]float64{1.956591055648798, -1.366195948292467, 1.3722398134064102}, []float64{-398.5277601865936, 1.4610643397956929e+174, 3.1671606915803364e+173, 1}},
		{[]float64{-0.3767249869668041, 1.5488849655676895, 1.5635213326524404}, []float64{-398.33647866734754, 1.7360364774795144e+174, 3.108043550495801e+173, 1}},
		{[]float64{-1.8461387435443246, 0.07484226433216845, 0.3891273046242403}, []float64{-399.5108726953757, 6.4468608629087e+173, 3.735161569389644e+173, 1}},
	} {
		grad := make([]float64, 3)
		lp, err := p.LogDensityGrad(c.x, grad)
		if err != nil {
			t.Fatal(err)
		}
		for i, got := range append([]float64{lp}, grad...) {
			if !(math.Abs(got/c.want[i]-1) < 1e-12) {
				t.Errorf("%v: figure %d is %.17g, Stan has %.17g", c.x, i, got, c.want[i])
			}
		}
	}
}
