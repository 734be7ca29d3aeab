package hmc

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/ppl-lang/ppl/infer"
	"github.com/ppl-lang/ppl/infer/internal/vector"
	"github.com/ppl-lang/ppl/infer/whiten"
)

// Euclidean is the Hamiltonian H(q, p) = -log π(q) + ½ pᵀM⁻¹p of a constant metric M, with the
// leapfrog step, which computes one gradient.
//
// With a metric that is not diagonal, the Cache of its points is the velocity M⁻¹p, which both the
// kinetic energy and U-turn criteria need. With a diagonal metric, the Cache is filled only if
// Velocity is called: computing the velocity again takes less time than storing it.
type Euclidean struct {
	target *infer.Meter
	dim    int
	kind   infer.MetricKind

	inverse []float64         // M⁻¹: its diagonal (ones for Unit), or for LowRank in the form of infer.Metric
	scale   []float64         // for Unit and Diagonal: standard deviations of the momentum
	dense   blas64.General    // for Dense: M⁻¹, in the memory of inverse
	upper   blas64.Triangular // for Dense: U with M⁻¹ = UᵀU
	low     *whiten.LowRank
	work    []float64 // work space for Diagonal and LowRank
	begun   begun
}

// begun is the first half of a step: what it writes before the gradient.
type begun struct {
	from               *infer.Point // where the step begins; nil: there is none
	eps                float64
	position, momentum []float64
	cache              []float64 // for Whitened
}

// take moves the first half of a step from the point from to z, if it is there, and ends it
// otherwise.
func (b *begun) take(from, z *infer.Point, eps float64) bool {
	ok := b.from == from && b.eps == eps
	b.from = nil
	if ok {
		z.Position, b.position = b.position, z.Position
		z.Momentum, b.momentum = b.momentum, z.Momentum
	}
	return ok
}

// begin makes room for the first half of a step.
func (b *begun) begin(from *infer.Point, eps float64) {
	b.from, b.eps = from, eps
	if d := len(from.Position); len(b.position) != d {
		b.position, b.momentum = make([]float64, d), make([]float64, d)
	}
}

var (
	_ infer.Euclidean = (*Euclidean)(nil)
	_ infer.Scaled    = (*Euclidean)(nil)

	_ infer.Continuing = (*Euclidean)(nil)
)

// NewEuclidean returns the Hamiltonian of target (wrapped in a [infer.Meter] unless it is one) with
// metric m. An m without Kind is the unit metric; an m of another kind without elements is the
// identity.
func NewEuclidean(target infer.LogDensity, m infer.Metric) (*Euclidean, error) {
	h := &Euclidean{target: infer.NewMeter(target), dim: target.Dim()}
	if err := h.SetMetric(orIdentity(m, h.dim)); err != nil {
		return nil, err
	}
	return h, nil
}

// orIdentity returns m, or the identity for an m without elements.
func orIdentity(m infer.Metric, dim int) infer.Metric {
	if m.Kind == "" {
		m.Kind = infer.Unit
	}
	if m.Dim == 0 && m.Inverse == nil {
		return Identity(m.Kind, dim)
	}
	return m
}

// Identity returns the identity as a metric of the given kind.
func Identity(kind infer.MetricKind, dim int) infer.Metric {
	m := infer.Metric{Kind: kind, Dim: dim}
	switch kind {
	case infer.Diagonal:
		m.Inverse = make([]float64, dim)
		for i := range m.Inverse {
			m.Inverse[i] = 1
		}
	case infer.LowRank: // without eigenvalues, which is rank 0
		m.Inverse = make([]float64, dim)
		for i := range m.Inverse {
			m.Inverse[i] = 1
		}
	case infer.Dense:
		m.Inverse = make([]float64, dim*dim)
		for i := range dim {
			m.Inverse[i*dim+i] = 1
		}
	}
	return m
}

// Metric implements [infer.Euclidean].
func (h *Euclidean) Metric() infer.Metric {
	m := infer.Metric{Kind: h.kind, Dim: h.dim}
	if h.kind != infer.Unit {
		m.Inverse = slices.Clone(h.inverse)
	}
	return m
}

// SetMetric implements [infer.Euclidean].
func (h *Euclidean) SetMetric(m infer.Metric) error {
	h.begun.from = nil
	if err := m.Check(); err != nil {
		return fmt.Errorf("hmc: %w", err)
	}
	if m.Dim != h.dim {
		return fmt.Errorf("hmc: a metric of dimension %d for a target of dimension %d", m.Dim, h.dim)
	}
	if m.Kind == infer.Dense {
		return h.setDense(m)
	}
	if m.Kind == infer.LowRank {
		h.kind, h.low = m.Kind, whiten.NewLowRank(m)
		h.inverse, h.scale, h.work = slices.Clone(m.Inverse), nil, make([]float64, h.dim)
		return nil
	}
	h.kind = m.Kind
	h.work = make([]float64, h.dim)
	h.inverse = make([]float64, h.dim)
	h.scale = make([]float64, h.dim)
	for i := range h.inverse {
		h.inverse[i] = 1
		if m.Kind == infer.Diagonal {
			h.inverse[i] = m.Inverse[i]
		}
		h.scale[i] = 1 / math.Sqrt(h.inverse[i])
	}
	return nil
}

func (h *Euclidean) setDense(m infer.Metric) error {
	if h.dim > 0 {
		sym := mat.NewSymDense(h.dim, slices.Clone(m.Inverse))
		for i := range h.dim {
			for j := range i {
				// A covariance near 0 consists only of rounding errors, whose size is that of the
				// variances.
				a, b := m.Inverse[i*h.dim+j], m.Inverse[j*h.dim+i]
				if size := math.Sqrt(m.Inverse[i*h.dim+i] * m.Inverse[j*h.dim+j]); math.Abs(a-b) > 1e-8*size {
					return fmt.Errorf("hmc: the inverse metric is not symmetric: elements (%d,%d) and (%d,%d) are %v and %v", i+1, j+1, j+1, i+1, a, b)
				}
			}
		}
		var factor mat.Cholesky
		if !factor.Factorize(sym) {
			return errors.New("hmc: the inverse metric is not positive definite")
		}
		var u mat.TriDense
		factor.UTo(&u)
		h.upper = u.RawTriangular()
	}
	h.kind = infer.Dense
	h.inverse = slices.Clone(m.Inverse)
	h.scale = nil
	h.dense = blas64.General{Rows: h.dim, Cols: h.dim, Stride: max(1, h.dim), Data: h.inverse}
	return nil
}

// Reset implements [infer.Hamiltonian].
func (h *Euclidean) Reset(z *infer.Point) error {
	h.begun.from = nil
	lp, err := h.target.LogDensityGrad(z.Position, z.Gradient)
	z.LogDensity, z.Energy = lp, math.Inf(1)
	return err
}

func (h *Euclidean) grow(z *infer.Point) {
	if cap(z.Cache) < h.dim {
		z.Cache = make([]float64, h.dim)
	}
	z.Cache = z.Cache[:h.dim]
}

// Momentum implements [infer.Hamiltonian]: p ~ normal(0, M).
func (h *Euclidean) Momentum(rng *rand.Rand, z *infer.Point) {
	h.begun.from = nil
	p := z.Momentum
	for i := range p {
		p[i] = rng.NormFloat64()
	}
	switch h.kind {
	case infer.LowRank:
		h.low.Momentum(p)
	case infer.Dense:
		// U⁻¹ times standard normals has the covariance (UᵀU)⁻¹ = M.
		if h.dim > 0 {
			blas64.Trsv(blas.NoTrans, h.upper, blasVector(p))
		}
	default:
		for i, s := range h.scale {
			p[i] *= s
		}
	}
	h.complete(z)
}

// Step implements [infer.Hamiltonian] by a leapfrog step: half a step of the momentum, a step of
// the position, half a step of the momentum.
func (h *Euclidean) Step(from, z *infer.Point, eps float64) error {
	return h.StepOn(from, z, eps, false)
}

// StepOn implements [infer.Continuing]. With a diagonal metric, the last half of a step and the
// first half of the next are one pass over memory.
func (h *Euclidean) StepOn(from, z *infer.Point, eps float64, more bool) error {
	half := 0.5 * eps
	continued := h.begun.take(from, z, eps)
	q := z.Position
	p, g := z.Momentum[:len(q)], z.Gradient[:len(q)]
	q0 := from.Position[:len(q)]
	switch {
	case continued:
	case h.kind == infer.Dense:
		floats.AddScaledTo(p, from.Momentum, half, from.Gradient)
		copy(q, q0)
		h.multiply(eps, p, 1, q)
	case h.kind == infer.LowRank:
		floats.AddScaledTo(p, from.Momentum, half, from.Gradient)
		h.low.Velocity(p, h.work)
		floats.AddScaledTo(q, q0, eps, h.work)
	default:
		inv, _ := h.VelocityScale()
		vector.Leap(q, p, q0, from.Momentum, from.Gradient, inv, half, eps)
	}
	lp, err := h.target.LogDensityGrad(q, g)
	z.LogDensity = lp
	if err != nil || math.IsInf(lp, -1) {
		z.Energy = math.Inf(1)
		return err
	}
	if inv, ok := h.VelocityScale(); ok {
		var twice float64
		if more {
			h.begun.begin(z, eps)
			twice = vector.KickLeap(h.begun.position, h.begun.momentum, p, q, g, inv, half, eps)
		} else {
			twice = vector.Kick(p, g, inv, half)
		}
		setEnergy(z, twice)
		return nil
	}
	floats.AddScaled(p, half, g)
	h.complete(z)
	return nil
}

// complete computes the energy and, unless the metric is diagonal, the velocity.
func (h *Euclidean) complete(z *infer.Point) {
	p, v := z.Momentum, z.Momentum
	switch h.kind {
	case infer.Dense:
		h.grow(z)
		v = z.Cache
		h.multiply(1, p, 0, v)
	case infer.LowRank:
		h.grow(z)
		v = z.Cache
		h.low.Velocity(p, v)
	case infer.Diagonal:
		v = h.work
		vector.Times(v, h.inverse, p)
	}
	setEnergy(z, floats.Dot(p, v))
}

// Velocity implements [infer.Hamiltonian].
func (h *Euclidean) Velocity(z *infer.Point) []float64 {
	inv, ok := h.VelocityScale()
	switch {
	case !ok:
		return z.Cache
	case inv == nil:
		return z.Momentum
	}
	h.grow(z)
	vector.Times(z.Cache, inv, z.Momentum)
	return z.Cache
}

// VelocityScale implements [infer.Scaled].
func (h *Euclidean) VelocityScale() (scale []float64, ok bool) {
	if h.kind == infer.Diagonal {
		return h.inverse, true
	}
	return nil, h.kind == infer.Unit
}

// multiply sets y to alpha M⁻¹x + beta y.
func (h *Euclidean) multiply(alpha float64, x []float64, beta float64, y []float64) {
	if h.dim > 0 {
		blas64.Gemv(blas.NoTrans, alpha, h.dense, blasVector(x), beta, blasVector(y))
	}
}

func blasVector(x []float64) blas64.Vector { return blas64.Vector{N: len(x), Inc: 1, Data: x} }

// setEnergy sets the energy of a point from twice its kinetic energy; it is infinite where a
// gradient is not finite.
func setEnergy(z *infer.Point, twiceKinetic float64) {
	z.Energy = 0.5*twiceKinetic - z.LogDensity
	if math.IsNaN(z.Energy) {
		z.Energy = math.Inf(1)
	}
}
