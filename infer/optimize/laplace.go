package optimize

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/ppl-lang/ppl/infer"
)

// LaplaceOptions are options of [Laplace].
type LaplaceOptions struct {
	Draws        int  // number of draws; 0: 1000
	NoLogDensity bool // do not evaluate the target at the draws
}

// LaplaceResult is the outcome of [Laplace].
type LaplaceResult struct {
	Draws
	Mode        []float64
	LogDensity  float64 // at the mode
	Gradient    []float64
	Hessian     []float64 // second derivatives of the log density, row by row
	Exact       bool      // the Hessian is exact, not from differences of the gradient
	Evaluations int64
	Rejections  []infer.Rejection
}

// Laplace draws from the normal distribution with the given mode and the curvature of the log
// density there. If the point is no maximum, the error is a *[MaximumError].
func Laplace(ctx context.Context, target infer.LogDensity, mode []float64, rng *rand.Rand, options LaplaceOptions) (_ *LaplaceResult, err error) {
	defer infer.Recover(&err)
	if err := wanted(ctx, target, rng); err != nil {
		return nil, err
	}
	def(&options.Draws, 1000)
	if err := infer.CheckSquares(target, 4, "allow for more memory, or approximate by pathfinder or variational inference"); err != nil {
		return nil, err
	}
	o := newObjective(ctx, target)
	d := o.meter.Dim()
	if len(mode) != d {
		return nil, fmt.Errorf("a mode of %d numbers for a log density of %d parameters", len(mode), d)
	}
	r := &LaplaceResult{Mode: mode, Gradient: make([]float64, d), Hessian: make([]float64, d*d)}
	f, ok, err := o.at(mode, r.Gradient)
	if err != nil {
		return nil, err
	}
	if !ok {
		return nil, &infer.InitError{Attempts: 1, Reason: errNoStart}
	}
	r.LogDensity = -f
	for i := range r.Gradient {
		r.Gradient[i] = -r.Gradient[i]
	}
	if r.Exact, err = o.hessian(mode, r.Hessian); err != nil {
		return nil, err
	}
	q := &curved{mean: mode}
	if d > 0 {
		precision := mat.NewSymDense(d, nil)
		for i := range d {
			for j := range i + 1 {
				precision.SetSym(i, j, -r.Hessian[i*d+j])
			}
		}
		if !q.factor.Factorize(precision) {
			return r, notMaximum(r.Hessian, d)
		}
		q.lower = mat.NewTriDense(d, mat.Lower, nil)
		q.factor.LTo(q.lower)
	}
	err = sample(o, q, rng, options.Draws, !options.NoLogDensity, &r.Draws)
	r.Evaluations, r.Rejections = o.meter.Gradients(), o.meter.Rejections()
	return r, err
}

// GradientNorm is the length of the gradient at the mode.
func (r *LaplaceResult) GradientNorm() float64 { return floats.Norm(r.Gradient, 2) }

// Gain is the increase of the log density from the given point to its mode, as predicted by the
// second-order Taylor expansion. It is 0 at a mode.
func (r *LaplaceResult) Gain() float64 {
	d := len(r.Mode)
	if d == 0 {
		return 0
	}
	precision := mat.NewDense(d, d, nil)
	for i, h := range r.Hessian {
		precision.Set(i/d, i%d, -h)
	}
	var step mat.VecDense
	err := step.SolveVec(precision, mat.NewVecDense(d, r.Gradient))
	var condition mat.Condition
	if err != nil && !errors.As(err, &condition) {
		return math.NaN()
	}
	return floats.Dot(step.RawVector().Data, r.Gradient) / 2
}

// MaximumError says that the point given to [Laplace] is no maximum.
type MaximumError struct {
	Coordinate int     // coordinate with the largest share in the direction, from 0
	Curvature  float64 // second derivative along the direction, not negative
}

// Error implements error.
func (e *MaximumError) Error() string {
	return fmt.Sprintf("the log density has no maximum there: along a direction that is mostly coordinate %d, its second derivative is %.3g, not negative", e.Coordinate+1, e.Curvature)
}

// notMaximum finds the direction with the largest second derivative, which is not negative.
func notMaximum(h []float64, d int) error {
	values, vectors, err := eigen(h, d)
	if err != nil {
		return err
	}
	e := &MaximumError{Curvature: values[d-1]} // ascending
	for i := range d {
		if abs(vectors.At(i, d-1)) > abs(vectors.At(e.Coordinate, d-1)) {
			e.Coordinate = i
		}
	}
	return e
}

func abs(x float64) float64 { return max(x, -x) }

// curved is the normal distribution with a mean and a factorised precision matrix.
type curved struct {
	mean   []float64
	factor mat.Cholesky
	lower  *mat.TriDense
}

// transform solves Lᵀu = z and adds the mean.
func (c *curved) transform(z, x []float64) {
	copy(x, z)
	if len(x) > 0 {
		blas64.Trsv(blas.Trans, c.lower.RawTriangular(), blas64.Vector{N: len(x), Inc: 1, Data: x})
	}
	for i, m := range c.mean {
		x[i] += m
	}
}

func (c *curved) logScale() float64 {
	if c.lower == nil {
		return 0
	}
	return -c.factor.LogDet() / 2
}
