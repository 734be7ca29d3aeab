package riemann

import (
	"context"
	"errors"
	"math"

	"gonum.org/v1/gonum/mat"

	"github.com/ppl-lang/ppl/infer"
)

// modeSteps bounds the steps of FindMode.
const modeSteps = 500

// FindMode climbs from x to a mode of the log density by steps G⁻¹∇log π with
// backtracking, which with the expected Fisher information is Fisher's scoring
// and with a Hessian is Newton's method. It is for [Frozen].At. The mode is that
// of the unconstrained parameters, as the log density is. It ends where the next
// step promises less than 1e-10 of log density; where a posterior grows without
// bound, as hierarchical models may, the error says so.
func FindMode(ctx context.Context, target *infer.Meter, m Metric, x []float64) ([]float64, error) {
	d := m.Dim()
	x = append([]float64(nil), x...)
	grad, g, step := make([]float64, d), make([]float64, d*d), make([]float64, d)
	next, nextGrad := make([]float64, d), make([]float64, d)
	lp, err := target.LogDensityGrad(x, grad)
	if err != nil {
		return nil, err
	}
	if d == 0 {
		return x, nil
	}
	var factor mat.Cholesky
	for range modeSteps {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if err := m.Metric(x, g); err != nil {
			return nil, err
		}
		if !positive(g, d) || !factor.Factorize(mat.NewSymDense(d, g)) {
			return nil, errNotPositive
		}
		if err := factor.SolveVecTo(mat.NewVecDense(d, step), mat.NewVecDense(d, grad)); err != nil {
			var condition mat.Condition
			if !errors.As(err, &condition) {
				return nil, err
			}
		}
		gain := 0.0
		for i, v := range step {
			gain += v * grad[i]
		}
		if gain < 1e-10 {
			return x, nil
		}
		moved := false
		for eps := 1.0; eps > 1e-12; eps /= 2 {
			for i := range next {
				next[i] = x[i] + eps*step[i]
			}
			at, err := target.LogDensityGrad(next, nextGrad)
			if err == nil && !math.IsNaN(at) && at >= lp+1e-4*eps*gain {
				x, next, grad, nextGrad, lp, moved = next, x, nextGrad, grad, at, true
				break
			}
		}
		if !moved {
			if gain < 1e-6 { // rounding of the log density hides what is left
				return x, nil
			}
			break
		}
	}
	return nil, errors.New("the search for a mode does not end: the log density may have none (give a point by another way)")
}
