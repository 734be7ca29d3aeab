package fit_test

import (
	"context"
	"math"
	"testing"

	"github.com/ppl-lang/ppl/infer/optimize"
	"github.com/ppl-lang/ppl/model"
)

// TestModesAgainstStan compares the modes of two examples with those that Stan 2.32.2 finds
// (rstan::optimizing, BFGS, tol_rel_grad and tol_rel_obj 1, from 0).
func TestModesAgainstStan(t *testing.T) {
	for _, c := range []struct {
		example string
		lp      float64
		values  map[string]float64
	}{
		{"logistic_regression", -600.28730782, map[string]float64{"alpha": -0.8299007003, "beta.1": 0.9340127051, "beta.2": -0.536746351, "beta.3": 0.1609959033}},
		{"garch", -159.939204663, map[string]float64{"mu": 0.07238207708, "omega": 0.113230035, "alpha": 0.2712396284, "beta": 0.6588556195, "sigma.1": 1.272704181}},
	} {
		path := "../examples/" + c.example + "/" + c.example
		m, err := model.CompileFile(path + ".model")
		if err != nil {
			t.Fatal(err)
		}
		p, err := m.BindContext(t.Context(), model.DataFile{Path: path + ".data.json"}, model.BindOptions{NoJacobian: true})
		if err != nil {
			t.Fatal(err)
		}
		for _, algorithm := range optimize.Algorithms() {
			r, err := optimize.Maximize(context.Background(), p, make([]float64, p.Dim()), optimize.Options{Algorithm: algorithm, TolRelGrad: 1, TolRelObj: 1})
			if err != nil {
				t.Fatal(err)
			}
			if math.Abs(r.LogDensity-c.lp) > 1e-8 {
				t.Errorf("%s, %s: log density %.12g, Stan's %.12g (%v)", c.example, algorithm, r.LogDensity, c.lp, r.Reason)
			}
			values, err := p.Constrain(r.X)
			if err != nil {
				t.Fatal(err)
			}
			for i, name := range p.ConstrainedNames() {
				// Both stop when further gains are below the rounding of the log density, 1e-13.
				if want, ok := c.values[name]; ok && math.Abs(values[i]-want) > 1e-6 {
					t.Errorf("%s, %s: %s = %.10g, Stan's %.10g", c.example, algorithm, name, values[i], want)
				}
			}
		}
	}
}
