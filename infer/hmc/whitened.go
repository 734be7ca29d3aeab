package hmc

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/ppl-lang/ppl/infer"
	"github.com/ppl-lang/ppl/infer/internal/quick"
	"github.com/ppl-lang/ppl/infer/internal/vector"
	"github.com/ppl-lang/ppl/infer/whiten"
)

// Whitened is the geometry of [Euclidean] in coordinates y in which the metric is the identity: x =
// μ + Ly, with M⁻¹ = LLᵀ and μ the mean of the metric. Momenta are those of y.
//
// Its step is the leapfrog step or, with Rotate, the exact-normal splitting. In the middle of a
// leapfrog step, the position moves along a straight line. In the splitting, position and momentum
// rotate, which follows the normal distribution N(μ, M⁻¹) exactly. The steps of the momentum then
// use the difference between the gradient of the log density and that of this normal. On that
// normal the splitting has no error, whatever the step size. On other targets it is as accurate as
// the metric is good. Like the leapfrog step it is symmetric and preserves volume. (Casas,
// Sanz-Serna and Shaw 2022, "Split Hamiltonian Monte Carlo revisited"; Shahbaba, Lan, Johnson and
// Neal 2014, "Split Hamiltonian Monte Carlo".)
//
// The Cache of its points has y, the versions of the metric to which y and the gradient Lᵀ∇log π
// belong, and this gradient. A chain continues from y, since the position is computed from it and
// rounded. If the metric has changed, or the point has been Reset, Momentum computes y from the
// position. Leapfrog steps with a diagonal metric do not store the gradient Lᵀ∇log π, since
// computing it again takes less time. Their points may have no memory for it.
type Whitened struct {
	Rotate bool // may be changed between transitions

	target *infer.Meter
	dim    int
	*whiten.Map
	version float64 // version of the current metric, from 1

	eps, sin, cos float64 // step size, sine and cosine of the last rotation
	begun         begun
}

var (
	_ infer.Euclidean = (*Whitened)(nil)
	_ infer.Precise   = (*Whitened)(nil)
	_ infer.Scaled    = (*Whitened)(nil)

	_ infer.Continuing = (*Whitened)(nil)
)

// NewWhitened returns the Hamiltonian of target (wrapped in a [infer.Meter] unless
// it is one) with metric m; Unit is the metric of an m with no Kind.
func NewWhitened(target infer.LogDensity, m infer.Metric) (*Whitened, error) {
	h := &Whitened{target: infer.NewMeter(target), dim: target.Dim()}
	if err := h.SetMetric(orIdentity(m, h.dim)); err != nil {
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
	h.version++
	h.begun.from = nil
	return nil
}

// Reset implements [infer.Hamiltonian].
func (h *Whitened) Reset(z *infer.Point) error {
	h.begun.from = nil
	h.grow(z)
	h.belongs(z, 0, 0)
	lp, err := h.target.LogDensityGrad(z.Position, z.Gradient)
	z.LogDensity, z.Energy = lp, math.Inf(1)
	return err
}

// grow gives a point the memory that it needs.
func (h *Whitened) grow(z *infer.Point) {
	least, most := h.dim+versions, 2*h.dim+versions
	n := most
	if h.fused() {
		n = least
	}
	switch has := len(z.Cache); {
	case has == n || has == most:
	case has == least: // the gradient is not known yet
		z.Cache = append(z.Cache, make([]float64, h.dim)...)
	case cap(z.Cache) < n:
		z.Cache = make([]float64, n)
	default:
		z.Cache = z.Cache[:n]
		h.belongs(z, 0, 0)
	}
}

// versions is the number of versions in the cache of a point, between y and the gradient.
const versions = 2

// gradient returns the memory of the gradient Lᵀ∇log π; it is empty if the point has none.
func (h *Whitened) gradient(z *infer.Point) []float64 { return z.Cache[h.dim+versions:] }

// belongs records to which versions of the metric y and the gradient of a point belong; 0: they are
// unknown.
func (h *Whitened) belongs(z *infer.Point, y, gradient float64) {
	z.Cache[h.dim], z.Cache[h.dim+1] = y, gradient
}

// whitened recomputes y and the gradient of a point if they belong to another metric. The gradient
// is left out if fused steps compute it themselves.
func (h *Whitened) whitened(z *infer.Point) {
	h.grow(z)
	d := h.dim
	if z.Cache[d] != h.version {
		h.Inverse(z.Position, z.Cache[:d])
		h.belongs(z, h.version, 0)
	}
	if z.Cache[d+1] != h.version && !h.fused() {
		h.Pull(z.Gradient, h.gradient(z))
		h.belongs(z, h.version, h.version)
	}
}

// fused reports whether steps are leapfrog steps with a diagonal metric.
func (h *Whitened) fused() bool {
	_, scale := h.Diagonal()
	return scale != nil && !h.Rotate
}

// Coordinates implements [infer.Precise].
func (h *Whitened) Coordinates(z *infer.Point) []float64 {
	h.whitened(z)
	return slices.Clone(z.Cache[:h.dim])
}

// SetCoordinates implements [infer.Precise].
func (h *Whitened) SetCoordinates(z *infer.Point, y []float64) error {
	if len(y) != h.dim {
		return fmt.Errorf("hmc: a place of %d coordinates for a target of dimension %d", len(y), h.dim)
	}
	h.grow(z)
	copy(z.Cache, y)
	h.begun.from = nil
	h.belongs(z, h.version, 0)
	return nil
}

// Momentum implements [infer.Hamiltonian]: standard normal.
func (h *Whitened) Momentum(rng *rand.Rand, z *infer.Point) {
	h.begun.from = nil
	h.whitened(z)
	setEnergy(z, quick.Normals(rng, z.Momentum))
}

// Step implements [infer.Hamiltonian].
func (h *Whitened) Step(from, z *infer.Point, eps float64) error {
	return h.StepOn(from, z, eps, false)
}

// StepOn implements [infer.Continuing]. With a diagonal metric, the last half of a leapfrog step
// and the first half of the next are one pass over memory.
func (h *Whitened) StepOn(from, z *infer.Point, eps float64, more bool) error {
	d := h.dim
	half := 0.5 * eps
	continued := h.begun.take(from, z, eps)
	if continued {
		z.Cache, h.begun.cache = h.begun.cache, z.Cache
	}
	h.grow(z)
	h.grow(from)
	y, r := z.Cache[:d], z.Momentum[:d]
	mean, scale := h.Diagonal()
	fused := h.fused()
	if fused {
		h.belongs(z, h.version, 0)
	} else {
		h.whitened(from) // the steps before this one may have been fused
		h.belongs(z, h.version, h.version)
	}
	y0, w0, r0, w := from.Cache[:d], h.gradient(from), from.Momentum[:d], h.gradient(z)
	switch {
	case continued:
	case fused:
		vector.LeapTo(z.Position, y, r, y0, r0, from.Gradient, mean, scale, half, eps)
	case h.Rotate:
		if eps != h.eps {
			h.eps = eps
			h.sin, h.cos = quick.Sincos(eps)
		}
		vector.Rotate(y, r, y0, w0, r0, half, h.sin, h.cos)
		h.Forward(y, z.Position)
	default:
		vector.Leap(y, r, y0, r0, w0, nil, half, eps)
		h.Forward(y, z.Position)
	}
	lp, err := h.target.LogDensityGrad(z.Position, z.Gradient)
	z.LogDensity = lp
	if err != nil || math.IsInf(lp, -1) {
		z.Energy = math.Inf(1)
		return err
	}
	if fused {
		var twice float64
		if b := &h.begun; more {
			b.begin(z, eps)
			if len(b.cache) < d+versions {
				b.cache = make([]float64, d+versions)
			}
			twice = vector.KickLeapTo(b.position, b.cache[:d], b.momentum, r, y, z.Gradient, mean, scale, half, eps)
		} else {
			twice = vector.KickFrom(r, scale, z.Gradient, half)
		}
		setEnergy(z, twice)
		return nil
	}
	h.Pull(z.Gradient, w)
	if h.Rotate {
		setEnergy(z, vector.KickRotated(r, w, y, half))
	} else {
		setEnergy(z, vector.Kick(r, w, nil, half))
	}
	return nil
}

// Velocity implements [infer.Hamiltonian].
func (h *Whitened) Velocity(z *infer.Point) []float64 { return z.Momentum }

// VelocityScale implements [infer.Scaled].
func (h *Whitened) VelocityScale() (scale []float64, ok bool) { return nil, true }
