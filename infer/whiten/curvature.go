package whiten

import (
	"math"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"

	"github.com/ppl-lang/ppl/infer"
)

// minCurvature is the smallest curvature that counts as different from zero, relative to the
// largest, in coordinates scaled by their own curvatures.
const minCurvature = 1e-10

// Curvature returns the dense metric whose inverse is that of the negative Hessian, with the
// absolute values of the eigenvalues: exact for a normal distribution. Row i of hessian contains
// the derivatives of the gradient with respect to coordinate i. The matrix need not be symmetric,
// since rows may have been computed at different points.
func Curvature(hessian [][]float64) (infer.Metric, error) {
	d := len(hessian)
	m := infer.Metric{Kind: infer.Dense, Dim: d}
	scale := make([]float64, d)
	for i, row := range hessian {
		scale[i] = 1 / math.Sqrt(math.Abs(row[i]))
		if !(scale[i] > 1e-150 && scale[i] < 1e150) {
			return m, errDraws
		}
	}
	var w workspace
	h := w.symmetric(d)
	for i := range d {
		for j := i; j < d; j++ {
			h.Data[i*d+j] = -0.5 * (hessian[i][j] + hessian[j][i]) * scale[i] * scale[j]
		}
	}
	values, vectors, err := eigen(&w, h)
	if err != nil {
		return m, err
	}
	largest := 0.0
	for _, v := range values {
		largest = max(largest, math.Abs(v))
	}
	for k, v := range values {
		f := 1 / math.Sqrt(max(math.Abs(v), minCurvature*largest))
		for i := range d {
			vectors.Data[i*d+k] *= f
		}
	}
	sigma := w.symmetric(d)
	clear(sigma.Data)
	blas64.Syrk(blas.NoTrans, 1, vectors, 1, sigma)
	m.Inverse = scaled(sigma, scale, make([]float64, d*d))
	if m.Check() != nil {
		return m, errDraws
	}
	return m, nil
}
