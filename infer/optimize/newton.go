package optimize

import (
	"errors"
	"fmt"
	"math"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
)

// newton makes one iteration of Newton's method. It makes all eigenvalues of the Hessian negative,
// so that the step climbs, and halves the step until it does.
func (s *ascent) newton() error {
	d := len(s.x)
	h := make([]float64, d*d)
	if _, err := s.hessian(s.x, h); err != nil {
		return err
	}
	values, vectors, err := eigen(h, d)
	if err != nil {
		return err
	}
	largest := 0.0
	for _, v := range values {
		largest = max(largest, math.Abs(v))
	}
	clear(s.p)
	for k, v := range values {
		// In a direction without curvature, the step is bounded.
		v = max(math.Abs(v), 1e-14*largest)
		if v == 0 {
			v = 1
		}
		along := 0.0
		for i := range d {
			along += vectors.At(i, k) * s.g[i]
		}
		for i := range d {
			s.p[i] -= vectors.At(i, k) * along / v
		}
	}
	s.iteration++
	s.note = ""
	s.alpha0 = 1
	for s.alpha = 1; ; s.alpha /= 2 {
		if s.alpha < 1e-50 {
			s.reason = LineSearchFailed
			if floats.Norm(s.g, 2) < math.Sqrt(0x1p-52)*max(1, math.Abs(s.f)) {
				s.reason = ObjConverged // the rest is below the rounding of the log density
			}
			return nil
		}
		floats.AddScaledTo(s.oldX, s.x, s.alpha, s.p)
		f, ok, err := s.at(s.oldX, s.oldG)
		if err != nil {
			return err
		}
		if ok && f <= s.f {
			s.x, s.oldX = s.oldX, s.x
			s.g, s.oldG = s.oldG, s.g
			s.f, s.oldF = f, s.f
			break
		}
	}
	s.step = s.alpha * floats.Norm(s.p, 2)
	switch {
	case s.oldF-s.f <= s.options.TolObj:
		s.reason = ObjConverged
	case s.iteration >= s.options.Iterations:
		s.reason = OutOfIterations
	}
	return nil
}

// errEigen says that the eigendecomposition of a Hessian failed.
var errEigen = errors.New("the eigenvalues of the Hessian cannot be computed")

// eigen returns the eigenvalues, ascending, and eigenvectors of a symmetric matrix.
func eigen(h []float64, d int) ([]float64, *mat.Dense, error) {
	if !finite(h) {
		return nil, nil, fmt.Errorf("%w: it is not finite", errEigen)
	}
	var e mat.EigenSym
	if !e.Factorize(mat.NewSymDense(d, h), true) {
		return nil, nil, errEigen
	}
	var vectors mat.Dense
	e.VectorsTo(&vectors)
	return e.Values(nil), &vectors, nil
}
