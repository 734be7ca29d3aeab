package riemann

import (
	"errors"
	"fmt"
	"math"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/lapack"
	"gonum.org/v1/gonum/lapack/lapack64"
)

// DefaultAlpha is the hardness of SoftAbs. Eigenvalues below about 1/DefaultAlpha are raised to
// that value, so that steps are no longer than a parameter of unit scale allows. With the 1e6 of
// Betancourt's experiments, the metric almost vanishes wherever a curvature changes its sign, as
// between two modes and in every heavy tail; chains get stuck there.
const DefaultAlpha = 1

// SoftAbs is Betancourt's metric ("A general metric for Riemannian manifold Hamiltonian Monte
// Carlo", 2013). If H = Q diag(λ) Qᵀ is the Hessian of the negative log density, the metric is G =
// Q diag(λ coth(αλ)) Qᵀ. It is positive definite wherever H exists.
//
// The derivative of tr(A·G) is tr(Q(J∘QᵀAQ)Qᵀ·∂H), where J has the divided differences of λ
// coth(αλ). So it needs only the Hessian's TraceGrad.
type SoftAbs struct {
	hessian Hessian
	dim     int
	alpha   float64

	values, soft []float64 // eigenvalues of -H, and the same after softening
	vectors      []float64 // eigenvectors, as columns
	tmp, product []float64 // D×D work space
	work         []float64 // work space of the eigendecomposition
	at           []float64 // position for which these were computed
	valid        bool

	run                           runner // runs long computations
	eigen, compose, differentiate func(m []float64) bool
}

// NewSoftAbs returns the metric of a target's Hessian; an alpha of 0 means DefaultAlpha.
func NewSoftAbs(dim int, hessian Hessian, alpha float64) (*SoftAbs, error) {
	if alpha == 0 {
		alpha = DefaultAlpha
	}
	if !(alpha > 0) || math.IsInf(alpha, 1) {
		return nil, fmt.Errorf("riemann: the alpha of SoftAbs must be positive and finite, but is %v", alpha)
	}
	s := &SoftAbs{
		hessian: hessian, dim: dim, alpha: alpha,
		values: make([]float64, dim), soft: make([]float64, dim), at: make([]float64, dim),
		vectors: make([]float64, dim*dim), tmp: make([]float64, dim*dim), product: make([]float64, dim*dim),
	}
	if dim > 0 {
		size := make([]float64, 1) // receives the best size of the work space
		lapack64.Syev(lapack.EVCompute, s.symmetric(), s.values, size, -1)
		s.work = make([]float64, int(size[0]))
	}
	s.eigen = func([]float64) bool {
		return lapack64.Syev(lapack.EVCompute, s.symmetric(), s.values, s.work, len(s.work))
	}
	s.compose, s.differentiate = s.composed, s.differentiated
	return s, nil
}

// await sets the runner of long computations.
func (s *SoftAbs) await(run runner) { s.run = run }

// Dim implements [Metric].
func (s *SoftAbs) Dim() int { return s.dim }

// symmetric returns s.vectors as the input of the decomposition, which overwrites it.
func (s *SoftAbs) symmetric() blas64.Symmetric {
	return blas64.Symmetric{Uplo: blas.Lower, N: s.dim, Stride: s.dim, Data: s.vectors}
}

// multiply writes a·b to c, transposed as given.
func (s *SoftAbs) multiply(ta, tb blas.Transpose, a, b, c []float64) {
	general := func(x []float64) blas64.General {
		return blas64.General{Rows: s.dim, Cols: s.dim, Stride: s.dim, Data: x}
	}
	blas64.Gemm(ta, tb, 1, general(a), general(b), 0, general(c))
}

var errEigen = errors.New("the Hessian has no finite eigenvalues")

// decompose updates eigenvalues and eigenvectors of -H(x).
func (s *SoftAbs) decompose(x []float64) error {
	if s.valid && equal(s.at, x) {
		return nil
	}
	s.valid = false
	h := s.vectors
	if err := s.hessian.Hessian(x, h); err != nil {
		return err
	}
	d := s.dim
	for i := range d {
		for j := range i + 1 {
			v := -0.5 * (h[i*d+j] + h[j*d+i])
			if math.IsNaN(v) || math.IsInf(v, 0) {
				return errEigen
			}
			h[i*d+j], h[j*d+i] = v, v
		}
	}
	if !s.run.do(s.eigen, h) {
		return errEigen
	}
	for i, v := range s.values {
		s.soft[i] = softAbs(v, s.alpha)
	}
	copy(s.at, x)
	s.valid = true
	return nil
}

// Metric implements [Metric].
func (s *SoftAbs) Metric(x, g []float64) error {
	if s.dim == 0 {
		return nil
	}
	if err := s.decompose(x); err != nil {
		return err
	}
	if !s.run.do(s.compose, g) {
		return errEigen
	}
	return nil
}

// composed writes the metric with the softened eigenvalues to g.
func (s *SoftAbs) composed(g []float64) bool {
	d := s.dim
	for i := range d {
		for j := range d {
			s.tmp[i*d+j] = s.vectors[i*d+j] * s.soft[j]
		}
	}
	s.multiply(blas.NoTrans, blas.Trans, s.tmp, s.vectors, s.product)
	for i := range d { // symmetric to the last bit
		for j := range i + 1 {
			v := 0.5 * (s.product[i*d+j] + s.product[j*d+i])
			g[i*d+j], g[j*d+i] = v, v
		}
	}
	return true
}

// TraceGrad implements [Metric].
func (s *SoftAbs) TraceGrad(x, a, grad []float64) error {
	if s.dim == 0 {
		return nil
	}
	if err := s.decompose(x); err != nil {
		return err
	}
	if !s.run.do(s.differentiate, a) {
		return errEigen
	}
	return s.hessian.HessianTraceGrad(x, s.product, grad)
}

// differentiated computes a matrix B, and writes it to s.product, such that the derivative of
// tr(B·H) for the Hessian H equals that of tr(A·G) for the metric, where A is a.
func (s *SoftAbs) differentiated(a []float64) bool {
	d := s.dim
	s.multiply(blas.Trans, blas.NoTrans, s.vectors, a, s.tmp)
	s.multiply(blas.NoTrans, blas.NoTrans, s.tmp, s.vectors, s.product) // QᵀAQ
	for i := range d {
		for j := range d {
			s.product[i*d+j] *= dividedDifference(s.values[i], s.values[j], s.alpha)
		}
	}
	s.multiply(blas.NoTrans, blas.NoTrans, s.vectors, s.product, s.tmp)
	s.multiply(blas.NoTrans, blas.Trans, s.tmp, s.vectors, s.product)
	// The metric is a function of minus the Hessian.
	m := s.product
	for i := range d {
		for j := range i + 1 {
			v := -0.5 * (m[i*d+j] + m[j*d+i])
			m[i*d+j], m[j*d+i] = v, v
		}
	}
	return true
}

// softAbs returns v coth(αv), with its limit 1/α at 0.
func softAbs(v, alpha float64) float64 {
	u := alpha * v
	if math.Abs(u) < 1e-4 {
		return (1 + u*u/3) / alpha // the next term is of order u⁴
	}
	return v / math.Tanh(u)
}

// softAbsSlope returns the derivative of softAbs: coth u - u/sinh² u at u = αv.
func softAbsSlope(v, alpha float64) float64 {
	u := alpha * v
	switch a := math.Abs(u); {
	case a < 1e-2:
		return u * (2./3 - u*u*(4./45-u*u*4./315))
	case a > 350: // sinh² overflows
		return math.Copysign(1, u)
	}
	sh := math.Sinh(u)
	return 1/math.Tanh(u) - u/(sh*sh)
}

// dividedDifference returns (f(a) - f(b))/(a - b) for f = softAbs, or the slope if a and b are
// (almost) equal.
func dividedDifference(a, b, alpha float64) float64 {
	if math.Abs(a-b) <= 1e-6*(math.Abs(a)+math.Abs(b)+1/alpha) {
		return 0.5 * (softAbsSlope(a, alpha) + softAbsSlope(b, alpha))
	}
	return (softAbs(a, alpha) - softAbs(b, alpha)) / (a - b)
}

func equal(a, b []float64) bool {
	for i := range a {
		if a[i] != b[i] {
			return false
		}
	}
	return true
}
