package compile

import (
	"context"
	"errors"
	"math"
	"testing"
)

// TestLeftToStiffSolver checks that the explicit solvers leave stiff systems to the other program:
// its results are those of steps that stability bounds, also in outputs, clones and transformed
// data, and evaluations in haste reject such points.
func TestLeftToStiffSolver(t *testing.T) {
	const functions = `functions { vector f(real t, vector y, real k) { return [-k * (y[1] - cos(t))]'; } }
`
	const parameters = `parameters { real k; }
transformed parameters { real y = ode_rk45(f, [0]', 0, {9}, k)[1, 1]; }
model { target += y; }`
	m := modelOf(t, functions+parameters, BindOptions{})
	// (k² cos t + k sin t - k² exp(-k t)) / (1 + k²)
	exact := func(k float64) float64 {
		return (k*k*math.Cos(9) + k*math.Sin(9) - k*k*math.Exp(-9*k)) / (1 + k*k)
	}
	for _, c := range []struct {
		k     float64
		stiff bool
	}{{1, false}, {30, false}, {1e4, true}, {1e5, true}, {1e7, true}} {
		want, h := exact(c.k), 1e-4*c.k
		slope := (exact(c.k+h) - exact(c.k-h)) / (2 * h)
		for _, m := range []*Model{m, m.Clone()} {
			grad, y := make([]float64, 1), make([]float64, 2)
			m.SetHasty(slowStiff)
			_, err := m.LogDensityGrad([]float64{c.k}, grad)
			if rejected := m.SetHasty(0); rejected != c.stiff || errors.Is(err, errStiff) != c.stiff {
				t.Errorf("k = %g in haste: %v, %v", c.k, rejected, err)
			}
			lp, err := m.LogDensityGrad([]float64{c.k}, grad)
			if err != nil || !(math.Abs(lp-want) <= 1e-6) || !(math.Abs(grad[0]-slope) <= 1e-6) {
				t.Errorf("k = %g: %g, gradient %g, want %g, %g (%v)", c.k, lp, grad[0], want, slope, err)
			}
			if err := m.Constrain([]float64{c.k}, y); err != nil || !(math.Abs(y[1]-exact(c.k)) <= 1e-6) {
				t.Errorf("k = %g: y is %g, want %g (%v)", c.k, y[1], exact(c.k), err)
			}
		}
	}
	// Binding what is left can be interrupted, and the next evaluation binds it again.
	again, err := m.Rebind(context.Background(), m.set)
	if err != nil {
		t.Fatal(err)
	}
	stop, grad := errors.New("stop"), make([]float64, 1)
	again.SetStop(func() error { return stop })
	if _, err := again.LogDensityGrad([]float64{1e4}, grad); !errors.Is(err, stop) {
		t.Errorf("interrupted: %v", err)
	}
	again.SetStop(nil)
	if lp, err := again.LogDensityGrad([]float64{1e4}, grad); err != nil || !(math.Abs(lp-exact(1e4)) <= 1e-6) {
		t.Errorf("after an interrupt: %g (%v)", lp, err)
	}
	// Transformed data.
	m = modelOf(t, functions+"transformed data { real known = ode_rk45(f, [0]', 0, {9}, 1e4)[1, 1]; }\n"+parameters+" generated quantities { real z = known; }", BindOptions{})
	out := make([]float64, 3)
	if err := m.Generate([]float64{1e5}, nil, out); err != nil || !(math.Abs(out[1]-exact(1e5)) <= 1e-6 && math.Abs(out[2]-exact(1e4)) <= 1e-6) {
		t.Errorf("transformed data: %v (%v)", out, err)
	}
}
