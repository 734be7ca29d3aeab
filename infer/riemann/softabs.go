package riemann

import (
	"errors"
	"fmt"
	"math"

	"gonum.org/v1/gonum/mat"
)

// DefaultAlpha is SoftAbs' hardness: eigenvalues below about 1/DefaultAlpha are
// raised to that.
const DefaultAlpha = 1e6

// SoftAbs is Betancourt's metric ("A general metric for Riemannian manifold
// Hamiltonian Monte Carlo", 2013): with H = Q diag(λ) Qᵀ the Hessian of the
// negative log density, G = Q diag(λ coth(αλ)) Qᵀ. It is positive definite
// wherever H exists.
//
// tr(A·G) has the derivative tr(Q(J∘QᵀAQ)Qᵀ·∂H), with J the divided differences
// of λ coth(αλ), so the Hessian's TraceGrad is all it needs.
type SoftAbs struct {
	hessian Hessian
	dim     int
	alpha   float64

	h, sym, tmp, b *mat.Dense
	eigen          mat.EigenSym
	values, soft   []float64
	vectors        mat.Dense
	at             []float64 // where the decomposition belongs
	valid          bool
}

// NewSoftAbs returns the metric of a target's Hessian; alpha 0 is DefaultAlpha.
func NewSoftAbs(dim int, hessian Hessian, alpha float64) (*SoftAbs, error) {
	if alpha == 0 {
		alpha = DefaultAlpha
	}
	if !(alpha > 0) || math.IsInf(alpha, 1) {
		return nil, fmt.Errorf("riemann: the alpha of SoftAbs must be positive and finite, but is %v", alpha)
	}
	s := &SoftAbs{hessian: hessian, dim: dim, alpha: alpha, at: make([]float64, dim), soft: make([]float64, dim)}
	if dim > 0 {
		s.h, s.sym, s.tmp, s.b = mat.NewDense(dim, dim, nil), mat.NewDense(dim, dim, nil), mat.NewDense(dim, dim, nil), mat.NewDense(dim, dim, nil)
	}
	return s, nil
}

// Dim implements [Metric].
func (s *SoftAbs) Dim() int { return s.dim }

var errEigen = errors.New("the Hessian has no finite eigenvalues")

// decompose brings eigenvalues and vectors of -H(x) up to date.
func (s *SoftAbs) decompose(x []float64) error {
	if s.valid && equal(s.at, x) {
		return nil
	}
	s.valid = false
	h := s.h.RawMatrix().Data
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
	if !s.eigen.Factorize(mat.NewSymDense(d, h), true) {
		return errEigen
	}
	s.values = s.eigen.Values(s.values)
	s.eigen.VectorsTo(&s.vectors)
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
	d := s.dim
	for i := range d {
		for j := range d {
			s.tmp.Set(i, j, s.vectors.At(i, j)*s.soft[j])
		}
	}
	s.sym.Mul(s.tmp, s.vectors.T())
	for i := range d { // symmetric to the last bit
		for j := range i + 1 {
			v := 0.5 * (s.sym.At(i, j) + s.sym.At(j, i))
			g[i*d+j], g[j*d+i] = v, v
		}
	}
	return nil
}

// TraceGrad implements [Metric].
func (s *SoftAbs) TraceGrad(x, a, grad []float64) error {
	if s.dim == 0 {
		return nil
	}
	if err := s.decompose(x); err != nil {
		return err
	}
	d := s.dim
	am := mat.NewDense(d, d, a)
	s.tmp.Mul(s.vectors.T(), am)
	s.b.Mul(s.tmp, &s.vectors)
	for i := range d {
		for j := range d {
			s.b.Set(i, j, s.b.At(i, j)*dividedDifference(s.values[i], s.values[j], s.alpha))
		}
	}
	s.tmp.Mul(&s.vectors, s.b)
	s.sym.Mul(s.tmp, s.vectors.T())
	// G is a function of minus the Hessian.
	m := s.sym.RawMatrix().Data
	for i := range d {
		for j := range i + 1 {
			v := -0.5 * (m[i*d+j] + m[j*d+i])
			m[i*d+j], m[j*d+i] = v, v
		}
	}
	return s.hessian.HessianTraceGrad(x, m, grad)
}

// softAbs is v coth(αv), with its limit 1/α at 0.
func softAbs(v, alpha float64) float64 {
	u := alpha * v
	if math.Abs(u) < 1e-4 {
		return (1 + u*u/3) / alpha // the next term is of order u⁴
	}
	return v / math.Tanh(u)
}

// softAbsSlope is the derivative of softAbs: coth u - u/sinh² u at u = αv.
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

// dividedDifference is (f(a) - f(b))/(a - b) for f = softAbs, the slope where
// a and b are (almost) equal.
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
