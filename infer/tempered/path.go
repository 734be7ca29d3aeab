package tempered

import (
	"math"
	"math/rand/v2"

	"github.com/ppl-lang/ppl/infer"
	"github.com/ppl-lang/ppl/infer/hmc"
)

// annealed is the density of a level, r^(1-β) π^β, as an infer.LogDensity. It keeps log π and the
// score of π at the point evaluated last.
type annealed struct {
	target    *infer.Meter
	reference *Mixture
	beta      float64

	log   float64   // log π
	score []float64 // score of π
}

func (a *annealed) Dim() int { return a.target.Dim() }

func (a *annealed) LogDensityGrad(x, grad []float64) (float64, error) {
	log, err := a.target.LogDensityGrad(x, a.score)
	a.log = log
	if err != nil || math.IsInf(log, -1) {
		return math.Inf(-1), err
	}
	return a.mix(x, log, a.score, grad), nil
}

// mix computes the log density of the level and its gradient at a point where log π and its score
// are known.
func (a *annealed) mix(x []float64, log float64, score, grad []float64) float64 {
	if a.beta == 1 {
		copy(grad, score)
		return log
	}
	r := a.reference.LogGrad(x, grad)
	if a.beta == 0 {
		return r
	}
	for i, g := range score {
		grad[i] = (1-a.beta)*grad[i] + a.beta*g
	}
	return (1-a.beta)*r + a.beta*log
}

// hamiltonian is the geometry of a level: that of package hmc, with the level's metric, over the
// annealed density. The Cache of its points holds the velocity, the score of π and log π, so that a
// point can move to another level without an evaluation.
type hamiltonian struct {
	density *annealed
	inner   *hmc.Euclidean
	dim     int
	from, z infer.Point // points in the form that inner uses
}

var _ infer.Hamiltonian = (*hamiltonian)(nil)

func newHamiltonian(target *infer.Meter, reference *Mixture, beta float64, metric infer.Metric) (*hamiltonian, error) {
	d := target.Dim()
	a := &annealed{target: target, reference: reference, beta: beta, score: make([]float64, d)}
	metric.Mean = nil
	inner, err := hmc.NewEuclidean(a, metric)
	if err != nil {
		return nil, err
	}
	return &hamiltonian{density: a, inner: inner, dim: d}, nil
}

// newPoint returns a point with memory for its Cache.
func newPoint(dim int) *infer.Point {
	z := infer.NewPoint(dim)
	z.Cache = make([]float64, 2*dim+1)
	return z
}

// ofTarget returns log π and its score at a point that has been through Reset or Step.
func ofTarget(z *infer.Point) (log float64, score []float64) {
	d := len(z.Position)
	return z.Cache[2*d], z.Cache[d : 2*d]
}

// view makes v a point that inner can use and that shares the memory of z.
func (h *hamiltonian) view(v, z *infer.Point) *infer.Point {
	if len(z.Cache) != 2*h.dim+1 {
		z.Cache = make([]float64, 2*h.dim+1)
	}
	v.Position, v.Momentum, v.Gradient = z.Position, z.Momentum, z.Gradient
	v.LogDensity, v.Energy, v.Cache = z.LogDensity, z.Energy, z.Cache[:h.dim:h.dim]
	return v
}

// take copies to z the results of inner and the values that the density keeps.
func (h *hamiltonian) take(z *infer.Point) {
	z.LogDensity, z.Energy = h.z.LogDensity, h.z.Energy
	copy(z.Cache[h.dim:], h.density.score)
	z.Cache[2*h.dim] = h.density.log
}

// Reset implements [infer.Hamiltonian].
func (h *hamiltonian) Reset(z *infer.Point) error {
	err := h.inner.Reset(h.view(&h.z, z))
	h.take(z)
	return err
}

// enter makes z, which comes from another level, a point of this level. Only the reference is
// evaluated.
func (h *hamiltonian) enter(z *infer.Point) {
	log, score := ofTarget(z)
	z.Energy = math.Inf(1)
	if math.IsInf(log, -1) {
		z.LogDensity = log
		return
	}
	z.LogDensity = h.density.mix(z.Position, log, score, z.Gradient)
}

// Momentum implements [infer.Hamiltonian].
func (h *hamiltonian) Momentum(rng *rand.Rand, z *infer.Point) {
	h.inner.Momentum(rng, h.view(&h.z, z))
	z.Energy = h.z.Energy
}

// Step implements [infer.Hamiltonian].
func (h *hamiltonian) Step(from, z *infer.Point, eps float64) error {
	inner := h.view(&h.from, from)
	to := inner
	if from != z {
		to = h.view(&h.z, z)
	}
	err := h.inner.Step(inner, to, eps)
	if from == z {
		h.z = h.from
	}
	h.take(z)
	return err
}

// Velocity implements [infer.Hamiltonian].
func (h *hamiltonian) Velocity(z *infer.Point) []float64 { return z.Cache[:h.dim] }
