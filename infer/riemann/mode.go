package riemann

import (
	"context"
	"slices"
	"time"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"

	"github.com/ppl-lang/ppl/infer"
)

// modeSteps is the maximum number of steps of FindMode.
const modeSteps = 500

// typicalShell is the gain per dimension that a Newton step promises at the typical distance of
// draws from the mode.
const typicalShell = 0.5

// FindMode climbs from x to a mode of the log density by steps G⁻¹∇log π with backtracking. With
// the expected Fisher information this is Fisher scoring, with a Hessian Newton's method. A metric
// that is not positive definite is changed as in [Regularise]. The mode is that of the
// unconstrained parameters. The climb ends where the next step promises a gain below 1e-10. Use
// FindMode for [Frozen].At.
//
// If the density is unbounded, as in many hierarchical models, or the climb gets stuck, found is
// false. x is then the first point from which a step promised no more than ½ per dimension, as far
// from a mode as draws are, or else the last point.
func FindMode(ctx context.Context, target *infer.Meter, m Metric, x []float64) (mode []float64, found bool, err error) {
	d := m.Dim()
	x = append([]float64(nil), x...)
	grad, g, step := make([]float64, d), make([]float64, d*d), make([]float64, d)
	next, nextGrad := make([]float64, d), make([]float64, d)
	lp, err := target.LogDensityGrad(x, grad)
	if err != nil {
		return nil, false, err
	}
	if d == 0 {
		return x, true, nil
	}
	var shell []float64
	for range modeSteps {
		if err := ctx.Err(); err != nil {
			return nil, false, err
		}
		start := time.Now()
		err := m.Metric(x, g)
		target.Charge(infer.MetricValue, start)
		if err != nil {
			if final := target.Final(err); final != nil {
				return nil, false, final
			}
			break
		}
		inverse, _, err := Regularise(g, d)
		if err != nil {
			break
		}
		blas64.Gemv(blas.NoTrans, 1, blas64.General{Rows: d, Cols: d, Stride: d, Data: inverse}, vector(grad), 0, vector(step))
		gain := 0.0
		for i, v := range step {
			gain += v * grad[i]
		}
		if gain < 1e-10 {
			return x, true, nil
		}
		if shell == nil && gain/2 <= typicalShell*float64(d) {
			shell = slices.Clone(x)
		}
		moved := false
		for eps := 1.0; eps > 1e-12; eps /= 2 {
			for i := range next {
				next[i] = x[i] + eps*step[i]
			}
			at, err := target.LogDensityGrad(next, nextGrad)
			if err != nil {
				return nil, false, err
			}
			if at >= lp+1e-4*eps*gain {
				x, next, grad, nextGrad, lp, moved = next, x, nextGrad, grad, at, true
				break
			}
		}
		if !moved {
			if gain < 1e-6 { // the remaining gain is within the rounding error of the log density
				return x, true, nil
			}
			break
		}
	}
	if shell != nil {
		x = shell
	}
	return x, false, nil
}
