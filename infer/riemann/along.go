package riemann

import (
	"math"
	"time"

	"gonum.org/v1/gonum/blas/blas64"

	"github.com/ppl-lang/ppl/infer"
)

// Directional is an optional interface of a [Metric] or a [Sparse] whose products with single
// directions cost much less than the whole metric. Errors are those of the metric.
//
// With it, the mode [Reversible] needs few evaluations of the whole metric. The gradient in x of ½
// log|G| + ½ pᵀG⁻¹p has two terms. The first does not change while p is iterated. The second is -½
// times the gradient of vᵀGv with v = G⁻¹p held fixed.
type Directional interface {
	// Times writes G(x)·u to product.
	Times(x, u, product []float64) error

	// SquareGrad writes the gradient in x of uᵀG(x)u, with u fixed, to grad.
	SquareGrad(x, u, grad []float64) error
}

// soundPivot is the minimum pivot of a Cholesky factor for which the ridge is negligible, so that
// products along a direction may omit it. It is relative to the diagonal of the matrix and to the
// ridge.
const soundPivot = 1e5

// settleAt computes the values that forceAlong needs at x, where G = l lᵀ, and writes them to
// known: the part of the force that does not depend on the momentum, and a flag, which is 1 if the
// ridge may be omitted there. If the flag is 0, nothing in known is used.
func (h *Hamiltonian) settleAt(x, l, known []float64) (outcome, error) {
	d := h.dim
	known[d] = 0
	if r := h.options.Ridge; r > 0 && h.minPivot(l) < soundPivot*r {
		return done, nil
	}
	if ok, err := h.inverted(l); !ok {
		return outside, err
	}
	clear(h.v)
	if result, err := h.traceGrad(x, l, h.v, known[:d]); result != done || err != nil {
		return result, err
	}
	known[d] = 1
	return done, nil
}

// forceAlong is forceWith for points at which settleAt has been called.
func (h *Hamiltonian) forceAlong(x, p, l, known []float64) (outcome, error) {
	h.solve(l, p, h.v)
	if err := h.direction(h.along.SquareGrad, x, h.v, h.work.force); err != nil {
		return outside, h.target.Final(err)
	}
	for i, t := range known[:h.dim] {
		h.work.force[i] = t - 0.5*h.work.force[i]
	}
	return done, nil
}

// direction calls a method of h.along.
func (h *Hamiltonian) direction(f func(x, u, to []float64) error, x, u, to []float64) error {
	h.counts.Directions++
	start := time.Now()
	err := f(x, u, to)
	h.target.Charge(infer.MetricDirection, start)
	return err
}

// Constants of the iteration in foresee.
const (
	remembered = 5   // number of residuals that are remembered
	maxForesee = 40  // maximum number of iterations
	finer      = 0.1 // tolerance, relative to that of the equation
	// a residual is a combination of the others if the square of its new part, relative to the
	// whole, is below this
	nothingNew = 1e-12
)

// mixing is the memory of foresee: residuals of velocity and momentum, and the velocities that
// follow from them, as differences from the previous ones.
type mixing struct {
	residual, momentum, velocity [remembered][]float64
	f, r, next                   []float64 // those of the last iteration
	f0, r0, next0                []float64 // those of the iteration before
}

func newMixing(d int) *mixing {
	m := &mixing{}
	for i := range remembered {
		m.residual[i], m.momentum[i], m.velocity[i] = make([]float64, d), make([]float64, d), make([]float64, d)
	}
	for _, v := range []*[]float64{&m.f, &m.r, &m.next, &m.f0, &m.r0, &m.next0} {
		*v = make([]float64, d)
	}
	return m
}

// foresee solves the second implicit equation with products in single directions only, and the
// metric at x, whose factor is l. h.v0 is the velocity at x; the new position is written to y. It
// looks for the velocity w with
//
//	G(x + ε/2 (v0 + w))·w = p
//
// Each iteration adds G(x)⁻¹ times the residual to w. The residual is mixed with earlier ones so
// that the rest is smallest in the metric at x (Anderson, "Iterative procedures for nonlinear
// integral equations", 1965). ok is false if no w was found.
func (h *Hamiltonian) foresee(x, p, l []float64, eps float64, y []float64) (ok bool, err error) {
	m, w := h.mixing, h.v
	copy(w, h.v0)
	_, limit := h.distance(x, x, l, finer*h.options.Tolerance, false)
	var watch contraction
	for k := range maxForesee {
		for i := range y {
			y[i] = x[i] + 0.5*eps*(h.v0[i]+w[i])
		}
		if !finite(y) {
			return false, nil
		}
		if err := h.direction(h.along.Times, y, w, m.r); err != nil {
			return false, h.target.Final(err)
		}
		for i, v := range p {
			m.r[i] = v - m.r[i]
		}
		h.solve(l, m.r, m.f)
		size := math.Sqrt(max(0, dot(m.r, m.f)))
		if size *= 0.5 * math.Abs(eps); size <= limit {
			return true, nil
		}
		if watch.hopeless(size, limit, maxForesee-1-k) {
			return false, nil
		}
		for i, v := range w {
			m.next[i] = v + m.f[i]
		}
		m.mix(k, w)
	}
	return false, nil
}

// mix computes the velocity w that follows iteration k.
func (m *mixing) mix(k int, w []float64) {
	if k > 0 {
		slot := (k - 1) % remembered
		for i := range w {
			m.residual[slot][i] = m.f[i] - m.f0[i]
			m.momentum[slot][i] = m.r[i] - m.r0[i]
			m.velocity[slot][i] = m.next[i] - m.next0[i]
		}
	}
	copy(w, m.next)
	n := min(k, remembered)
	weights := m.weights(n)
	for i, c := range weights[:n] {
		blas64.Axpy(-c, vector(m.velocity[i]), vector(w))
	}
	m.f, m.f0, m.r, m.r0, m.next, m.next0 = m.f0, m.f, m.r0, m.r, m.next0, m.next
}

// weights returns the weights of the first n differences that minimise the residual, computed from
// the normal equations. A difference that is a combination of the others has weight 0.
func (m *mixing) weights(n int) (c [remembered]float64) {
	var l [remembered][remembered]float64
	for i := range n {
		c[i] = dot(m.momentum[i], m.f)
		for j := range i + 1 {
			v := dot(m.momentum[i], m.residual[j])
			whole := v
			for k := range j {
				v -= l[i][k] * l[j][k]
			}
			switch {
			case i > j && l[j][j] > 0:
				l[i][j] = v / l[j][j]
			case i == j && v > nothingNew*whole:
				l[i][i] = math.Sqrt(v)
			}
		}
	}
	for i := range n {
		for k := range i {
			c[i] -= l[i][k] * c[k]
		}
		c[i] = over(c[i], l[i][i])
	}
	for i := n - 1; i >= 0; i-- {
		for k := i + 1; k < n; k++ {
			c[i] -= l[k][i] * c[k]
		}
		c[i] = over(c[i], l[i][i])
	}
	return c
}

func over(a, b float64) float64 {
	if b == 0 {
		return 0
	}
	return a / b
}

func dot(a, b []float64) float64 { return blas64.Dot(vector(a), vector(b)) }
