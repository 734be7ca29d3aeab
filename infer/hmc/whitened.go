package hmc

import (
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/ppl-lang/ppl/infer"
	"github.com/ppl-lang/ppl/infer/whiten"
)

// Whitened is the geometry of [Euclidean] in coordinates y in which the metric is
// the identity: x = μ + Ly with M⁻¹ = LLᵀ and μ the mean of the metric. Momenta are
// those of y. Its step is the leapfrog step, or, with Rotate, the exact-normal
// splitting: where the leapfrog step lets the position drift, it follows the normal
// distribution N(μ, M⁻¹) exactly, by a rotation of (y, momentum), and kicks by what
// the gradient of the log density differs from that of this normal only. On that
// normal it has no error whatever the step size; otherwise it is as accurate as the
// metric is good, and symmetric and volume preserving like the leapfrog step.
// (Casas, Sanz-Serna and Shaw 2022, "Split Hamiltonian Monte Carlo revisited";
// Shahbaba, Lan, Johnson and Neal 2014, "Split Hamiltonian Monte Carlo".)
//
// The Cache of its points is y and the gradient Lᵀ∇log π. Momentum computes them
// from the position, so that the metric may change between transitions and a
// position says all that there is to say of a state.
type Whitened struct {
	Rotate bool // may be changed between transitions

	target *infer.Meter
	dim    int
	*whiten.Map

	eps, sin, cos float64 // of the last rotation
}

var _ infer.Euclidean = (*Whitened)(nil)

// NewWhitened returns the Hamiltonian of target (wrapped in a [infer.Meter] unless
// it is one) with metric m; Unit is the metric of an m with no Kind.
func NewWhitened(target infer.LogDensity, m infer.Metric) (*Whitened, error) {
	h := &Whitened{target: infer.NewMeter(target), dim: target.Dim()}
	if m.Kind == "" {
		m.Kind = infer.Unit
	}
	if m.Dim == 0 && m.Inverse == nil {
		m = Identity(m.Kind, h.dim)
	}
	if err := h.SetMetric(m); err != nil {
		return nil, err
	}
	return h, nil
}

// SetMetric implements [infer.Euclidean].
func (h *Whitened) SetMetric(m infer.Metric) error {
	if m.Dim != h.dim {
		return fmt.Errorf("hmc: a metric of dimension %d for a target of dimension %d", m.Dim, h.dim)
	}
	to, err := whiten.NewMap(m)
	if err != nil {
		return fmt.Errorf("hmc: %w", err)
	}
	h.Map = to
	return nil
}

// Reset implements [infer.Hamiltonian].
func (h *Whitened) Reset(z *infer.Point) error {
	h.grow(z)
	lp, err := h.target.LogDensityGrad(z.Position, z.Gradient)
	z.LogDensity, z.Energy = lp, math.Inf(1)
	return err
}

func (h *Whitened) grow(z *infer.Point) {
	if cap(z.Cache) < 2*h.dim {
		z.Cache = make([]float64, 2*h.dim)
	}
	z.Cache = z.Cache[:2*h.dim]
}

// Momentum implements [infer.Hamiltonian]: standard normal.
func (h *Whitened) Momentum(rng *rand.Rand, z *infer.Point) {
	h.grow(z)
	h.Whiten(z.Position, z.Gradient, z.Cache[:h.dim], z.Cache[h.dim:])
	kinetic := 0.0
	for i := range z.Momentum {
		v := rng.NormFloat64()
		z.Momentum[i] = v
		kinetic += v * v
	}
	h.complete(z, kinetic)
}

// Step implements [infer.Hamiltonian].
func (h *Whitened) Step(z *infer.Point, eps float64) error { return h.StepTo(z, z, eps) }

// StepTo makes z what Step makes of from, which it may be; from is left as it is otherwise. Only what
// a step needs of a point is read, which is less than all that there is to copy.
func (h *Whitened) StepTo(from, z *infer.Point, eps float64) error {
	d := h.dim
	if d == 0 {
		return h.Reset(z)
	}
	half := 0.5 * eps
	h.grow(z)
	y, w, r := z.Cache[:d], z.Cache[d:2*d], z.Momentum[:d]
	y0, w0, r0 := from.Cache[:d], from.Cache[d:2*d], from.Momentum[:d]
	if h.Rotate {
		if eps != h.eps {
			h.eps = eps
			h.sin, h.cos = math.Sincos(eps)
		}
		sin, cos := h.sin, h.cos
		for i, yi := range y0 {
			ri := r0[i] + half*(w0[i]+yi)
			y[i] = cos*yi + sin*ri
			r[i] = cos*ri - sin*yi
		}
	} else {
		for i, wi := range w0 {
			ri := r0[i] + half*wi
			r[i] = ri
			y[i] = y0[i] + eps*ri
		}
	}
	h.Forward(y, z.Position)
	lp, err := h.target.LogDensityGrad(z.Position, z.Gradient)
	z.LogDensity = lp
	if err != nil || math.IsInf(lp, -1) {
		z.Energy = math.Inf(1)
		return err
	}
	h.Pull(z.Gradient, w)
	kinetic := 0.0
	if h.Rotate {
		for i, wi := range w {
			ri := r[i] + half*(wi+y[i])
			r[i] = ri
			kinetic += ri * ri
		}
	} else {
		for i, wi := range w {
			ri := r[i] + half*wi
			r[i] = ri
			kinetic += ri * ri
		}
	}
	h.complete(z, kinetic)
	return nil
}

func (h *Whitened) complete(z *infer.Point, kinetic float64) {
	z.Energy = 0.5*kinetic - z.LogDensity
	if math.IsNaN(z.Energy) { // a gradient that is not finite
		z.Energy = math.Inf(1)
	}
}

// Velocity implements [infer.Hamiltonian].
func (h *Whitened) Velocity(z *infer.Point) []float64 { return z.Momentum }
