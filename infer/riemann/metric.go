package riemann

import (
	"errors"
	"fmt"
	"math"

	"gonum.org/v1/gonum/mat"

	"github.com/ppl-lang/ppl/infer"
)

// Metric is a metric tensor that depends on the position. Matrices are dense,
// of Dim × Dim elements in row-major order, and symmetric.
//
// It belongs to one chain and may keep work space. An error is a rejection of
// the position, like that of a log density, unless it is fatal.
type Metric interface {
	Dim() int

	// Metric writes G(x), which is to be positive definite, to g. Both
	// triangles are written.
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

// Of returns it as a [Metric].
func (f Func) Of() Metric { return function{f} }

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

// Freeze returns the value of a metric at x as a constant one, for
// infer.Config.Metric: the Euclidean metric with mass matrix G(x).
func Freeze(m Metric, x []float64) (infer.Metric, error) {
	d := m.Dim()
	if len(x) != d {
		return infer.Metric{}, fmt.Errorf("riemann: a position of length %d for a metric of dimension %d", len(x), d)
	}
	g := make([]float64, d*d)
	if err := m.Metric(x, g); err != nil {
		return infer.Metric{}, err
	}
	frozen := infer.Metric{Kind: infer.Dense, Dim: d, Inverse: make([]float64, d*d)}
	if d == 0 {
		return frozen, nil
	}
	var factor mat.Cholesky
	if !positive(g, d) || !factor.Factorize(mat.NewSymDense(d, g)) {
		return infer.Metric{}, errNotPositive
	}
	var inverse mat.SymDense
	if err := factor.InverseTo(&inverse); err != nil {
		return infer.Metric{}, fmt.Errorf("riemann: the metric cannot be inverted: %w", err)
	}
	for i := range d {
		for j := range d {
			frozen.Inverse[i*d+j] = inverse.At(i, j)
		}
	}
	return frozen, nil
}

// LogDeterminant is that of the d×d matrix g; ok is false if g is not positive
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
