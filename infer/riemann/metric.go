package riemann

import (
	"errors"
	"fmt"
	"math"

	"gonum.org/v1/gonum/mat"

	"github.com/ppl-lang/ppl/infer"
)

// Metric is a metric tensor that depends on the position. Matrices are symmetric and dense: Dim ×
// Dim elements in row-major order.
//
// A Metric belongs to one chain and may keep work space. An error rejects the position, like an
// error of a log density, unless it is fatal.
type Metric interface {
	Dim() int

	// Metric writes G(x), which must be positive definite, to g. It writes both triangles.
	Metric(x, g []float64) error

	// TraceGrad writes the gradient in x of tr(A·G(x)), for a constant
	// symmetric A, to grad: Σ_jk A_jk ∂G_jk/∂x_i.
	TraceGrad(x, a, grad []float64) error
}

// Func is a metric made of two functions, see [Metric].
type Func struct {
	D         int
	G         func(x, g []float64) error
	TraceGrad func(x, a, grad []float64) error
}

// AsMetric returns f as a [Metric].
func (f Func) AsMetric() Metric { return function{f} }

type function struct{ f Func }

func (f function) Dim() int                             { return f.f.D }
func (f function) Metric(x, g []float64) error          { return f.f.G(x, g) }
func (f function) TraceGrad(x, a, grad []float64) error { return f.f.TraceGrad(x, a, grad) }

// Constant is the metric that is the same matrix everywhere.
type Constant struct {
	D int
	G []float64
}

// Dim implements [Metric].
func (c Constant) Dim() int { return c.D }

// Metric implements [Metric].
func (c Constant) Metric(_, g []float64) error { copy(g, c.G); return nil }

// TraceGrad implements [Metric].
func (c Constant) TraceGrad(_, _, grad []float64) error { clear(grad); return nil }

// Freeze returns the value of a metric at x as a constant metric, for infer.Config.Metric: the
// Euclidean metric with mass matrix G(x). If G(x) is not positive definite, because of rounding or
// because nothing in the model informs a direction, it is changed as in [Regularise]; raised is the
// number of directions changed.
func Freeze(m Metric, x []float64) (frozen infer.Metric, raised int, err error) {
	d := m.Dim()
	if len(x) != d {
		return frozen, 0, fmt.Errorf("riemann: a position of length %d for a metric of dimension %d", len(x), d)
	}
	g := make([]float64, d*d)
	if err := m.Metric(x, g); err != nil {
		return frozen, 0, err
	}
	frozen = infer.Metric{Kind: infer.Dense, Dim: d}
	frozen.Inverse, raised, err = Regularise(g, d)
	return frozen, raised, err
}

// minCurvature is a relative eigenvalue of a metric whose diagonal is scaled to one. Smaller
// eigenvalues, relative to the largest, are noise, or belong to directions that the model does not
// inform. Inverted unchanged, one such direction, of unknown width, would dominate all steps.
const minCurvature = 1e-9

// soundCondition is a condition number in the 1-norm, which bounds the ratio of eigenvalues. A
// metric with a smaller one has no eigenvalue to raise.
const soundCondition = 0.01 / minCurvature

// Regularise returns the inverse of the symmetric d×d matrix g, after raising elements and
// eigenvalues that are not positive. Diagonal elements of zero are set to 1, the unit of the
// unconstrained scale. Eigenvalues below a minimum are raised to it, in coordinates in which the
// diagonal is one, so that units do not matter. raised is the number of elements and eigenvalues
// raised. It returns an error if g is not finite.
func Regularise(g []float64, d int) (inverse []float64, raised int, err error) {
	inverse = make([]float64, d*d)
	if d == 0 {
		return inverse, 0, nil
	}
	scale := make([]float64, d)
	for i := range d {
		v := g[i*(d+1)]
		switch {
		case math.IsNaN(v) || math.IsInf(v, 0):
			return nil, 0, errNotFinite
		case !(v > 0):
			scale[i] = 1
			raised++
		default:
			scale[i] = 1 / math.Sqrt(v)
		}
	}
	s := mat.NewSymDense(d, nil)
	for i := range d {
		for j := range i + 1 {
			v := 0.5 * (g[i*d+j] + g[j*d+i]) * scale[i] * scale[j]
			if math.IsNaN(v) || math.IsInf(v, 0) {
				return nil, 0, errNotFinite
			}
			if i == j {
				v = 1
			}
			s.SetSym(i, j, v)
		}
	}
	// First check whether the eigenvectors are needed, which take about thirty times as long as
	// this check.
	var factor mat.Cholesky
	if raised == 0 && factor.Factorize(s) && factor.Cond() < soundCondition {
		var whole mat.SymDense
		if err := factor.InverseTo(&whole); err == nil {
			for i := range d {
				for j := range i + 1 {
					v := whole.At(i, j) * scale[i] * scale[j]
					inverse[i*d+j], inverse[j*d+i] = v, v
				}
			}
			return inverse, 0, nil
		}
	}
	var eigen mat.EigenSym
	if !eigen.Factorize(s, true) {
		return nil, 0, errNotFinite
	}
	values := eigen.Values(nil)
	var vectors mat.Dense
	eigen.VectorsTo(&vectors)
	floor := minCurvature * values[d-1]
	for k, v := range values {
		if v < floor {
			values[k] = floor
			raised++
		}
	}
	for i := range d {
		for j := range i + 1 {
			sum := 0.0
			for k, v := range values {
				sum += vectors.At(i, k) * vectors.At(j, k) / v
			}
			sum *= scale[i] * scale[j]
			inverse[i*d+j], inverse[j*d+i] = sum, sum
		}
	}
	return inverse, raised, nil
}

// LogDeterminant returns the log determinant of the d×d matrix g; ok is false if g is not positive
// definite.
func LogDeterminant(g []float64, d int) (value float64, ok bool) {
	if d == 0 {
		return 0, true
	}
	var factor mat.Cholesky
	if !positive(g, d) || !factor.Factorize(mat.NewSymDense(d, g)) {
		return math.NaN(), false
	}
	return factor.LogDet(), true
}

var errNotFinite = errors.New("the metric is not finite there")

var errNotPositive = errors.New("the metric is not positive definite there (softabs is everywhere)")

// positive reports whether all elements are finite and the diagonal positive.
func positive(g []float64, d int) bool {
	for i, v := range g {
		if math.IsNaN(v) || math.IsInf(v, 0) || i%(d+1) == 0 && v <= 0 {
			return false
		}
	}
	return true
}
