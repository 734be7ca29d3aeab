package riemann

import (
	"fmt"
	"math"
	"math/rand/v2"
	"time"

	"gonum.org/v1/gonum/blas/blas64"

	"github.com/ppl-lang/ppl/infer"
)

// Mode is a way to solve the implicit equations.
type Mode string

// The modes, see the package documentation.
const (
	Reversible Mode = "reversible"
	Published  Mode = "published"
)

// Defaults of [Options].
const (
	DefaultIterations          = 100 // maximum number of iterations in the mode Reversible
	DefaultPublishedIterations = 4   // number in Girolami and Calderhead's logistic regressions
	DefaultTolerance           = 1e-7
	DefaultReturnTolerance     = 1e-5
)

// Options are the options of the generalised leapfrog step.
type Options struct {
	Mode Mode // "": Reversible

	// Iterations is the number of iterations for each implicit equation in the mode Published (0:
	// 4), and the maximum number in the mode Reversible (0: 100).
	Iterations int

	// Tolerance is the maximum change in the last iteration, and ReturnTolerance the maximum
	// distance between the end of the way back and the start of the step. Both are per coordinate,
	// in units of the metric (ΔxᵀGΔx ≤ D·tolerance², and ΔpᵀG⁻¹Δp in the same way). Only the mode
	// Reversible uses them. 0: 1e-7 and 1e-5.
	Tolerance, ReturnTolerance float64

	// Ridge times each diagonal element of the metric is added to that element, so that rounding
	// does not make a singular metric indefinite. The geometry is then exactly that of G +
	// Ridge·diag(G).
	Ridge float64
}

// ModelRidge is the Ridge for metrics written in a model.
const ModelRidge = 1e-10

func (o Options) withDefaults() Options {
	if o.Mode == "" {
		o.Mode = Reversible
	}
	if o.Iterations == 0 {
		o.Iterations = DefaultIterations
		if o.Mode == Published {
			o.Iterations = DefaultPublishedIterations
		}
	}
	if o.Tolerance == 0 {
		o.Tolerance = DefaultTolerance
	}
	if o.ReturnTolerance == 0 {
		o.ReturnTolerance = DefaultReturnTolerance
	}
	return o
}

// Validate returns an error if an option is invalid.
func (o Options) Validate() error {
	switch d := o.withDefaults(); {
	case d.Mode != Reversible && d.Mode != Published:
		return fmt.Errorf("riemann: unknown mode %q; it can be %s or %s", o.Mode, Reversible, Published)
	case !(o.Ridge >= 0 && o.Ridge < 1):
		return fmt.Errorf("riemann: the ridge must be at least 0 and less than 1, but is %v", o.Ridge)
	}
	err := infer.CheckOptions(map[string]int{"fixed-points": o.Iterations})
	if err == nil {
		err = infer.CheckOptions(map[string]float64{"implicit-tolerance": o.Tolerance, "return-tolerance": o.ReturnTolerance})
	}
	if err != nil {
		return fmt.Errorf("riemann: %w", err)
	}
	return nil
}

// Hamiltonian returns a function for the field Hamiltonian of samplers. For each chain it makes a
// metric, from the chain's own target, and the geometry of that metric.
func (o Options) Hamiltonian(metric func(target *infer.Meter) (Metric, error)) func(*infer.Meter) (infer.Hamiltonian, error) {
	return func(target *infer.Meter) (infer.Hamiltonian, error) {
		m, err := metric(target)
		if err != nil {
			return nil, err
		}
		return New(target, m, o)
	}
}

// Hamiltonian is H(x, p) = -log π(x) + ½ log|G(x)| + ½ pᵀG(x)⁻¹p, with p ~ normal(0, G(x)) and the
// generalised leapfrog step.
//
// The Cache of its points has the velocity G⁻¹p, log|G|, the values of settleAt if the metric is
// [Directional], and a factor of G.
type Hamiltonian struct {
	target  *infer.Meter
	dim     int
	options Options
	counts  Counts
	await   runner
	stopped bool // the run was interrupted during a long computation

	along  Directional // nil: the whole metric is always used
	mixing *mixing     // work space of foresee; nil without along

	geometry
	work // memory for a step
}

// geometry computes with the metric at a point, given a factor of it, which is size numbers.
type geometry interface {
	size() int

	// evaluate computes the metric at x; factorise computes its factor f, and log|G|. ok is false
	// if there is no factor. Long computations are run by run, which returns false if the run was
	// interrupted; their results are then undefined and may still be written to.
	evaluate(x, f []float64) error
	factorise(f []float64, run runner) (logDet float64, ok bool)

	solve(f, p, v []float64)                   // v = G⁻¹p
	momentum(rng *rand.Rand, f, p []float64)   // p ~ normal(0, G)
	norm(f, x []float64, momenta bool) float64 // √(xᵀG⁻¹x) for momenta, otherwise √(xᵀGx); it overwrites x
	// smallest pivot of the factorisation, relative to the diagonal element
	minPivot(f []float64) float64
	invert(f []float64, run runner) bool  // computes the inverse that force uses
	force(x, f, v, force []float64) error // the gradient in x of ½ log|G| + ½ pᵀG⁻¹p, with v = G⁻¹p
}

var (
	_ infer.Hamiltonian = (*Hamiltonian)(nil)
	_ infer.Describer   = (*Hamiltonian)(nil)
)

// Counts has the numbers of evaluations and failures of a Hamiltonian. Evaluations of metrics are
// not among the gradients that a run reports; they are charged (see infer.Meter.Charge).
type Counts struct {
	Metrics    int64 // evaluations of G
	TraceGrads int64 // gradients of tr(A·G)
	Directions int64 // products with G, or gradients of vᵀGv, in a single direction
	Steps      int64
	Unsolved   int64 // steps that failed because a fixed point did not converge
	Unreturned int64 // steps that failed because the way back led elsewhere
}

// New returns the Hamiltonian of target (wrapped in a [infer.Meter] unless it
// is one) with a metric.
func New(target infer.LogDensity, metric Metric, options Options) (*Hamiltonian, error) {
	if err := options.Validate(); err != nil {
		return nil, err
	}
	d := target.Dim()
	if metric.Dim() != d {
		return nil, fmt.Errorf("riemann: a metric of dimension %d for a target of dimension %d", metric.Dim(), d)
	}
	g := newDense(metric, options.Ridge)
	return newHamiltonian(target, g, metric, options), nil
}

// NewSparse is New with a sparse metric, or a sparse one plus a matrix of low rank. Its cost is
// that of a sparse Cholesky factorisation.
func NewSparse(target infer.LogDensity, metric Sparse, options Options) (*Hamiltonian, error) {
	if err := options.Validate(); err != nil {
		return nil, err
	}
	p := metric.Pattern()
	if err := p.validate(target.Dim()); err != nil {
		return nil, err
	}
	return newHamiltonian(target, newSparse(metric, newSymbolic(p), options.Ridge), metric, options), nil
}

// alongDim is the minimum dimension in which products with single directions are cheaper than
// another evaluation of the whole metric, all of whose derivatives come from one sweep.
const alongDim = 8

// newHamiltonian makes the Hamiltonian of a geometry with the given metric.
func newHamiltonian(target infer.LogDensity, g geometry, metric any, options Options) *Hamiltonian {
	h := &Hamiltonian{target: infer.NewMeter(target), dim: target.Dim(), options: options.withDefaults(), geometry: g}
	h.work = newWork(h.dim, g.size())
	// The mode Published does not use them, since its results must not change in any bit.
	if along, ok := metric.(Directional); ok && h.dim >= alongDim && h.options.Mode == Reversible {
		h.along, h.mixing = along, newMixing(h.dim)
		h.work.known = make([]float64, h.dim+1)
	}
	h.await = await(h.target, h.dim, func() { h.stopped = true })
	if d, ok := g.(*dense); ok {
		if m, ok := d.metric.(interface{ await(runner) }); ok {
			m.await(h.await)
		}
	}
	return h
}

// Counts returns the counts so far.
func (h *Hamiltonian) Counts() Counts { return h.counts }

// Describe implements [infer.Describer].
func (h *Hamiltonian) Describe() map[string]float64 {
	return map[string]float64{
		"metric_evaluations": float64(h.counts.Metrics),
		"metric_gradients":   float64(h.counts.TraceGrads),
		"metric_directions":  float64(h.counts.Directions),
		"implicit_steps":     float64(h.counts.Steps),
		"steps_unsolved":     float64(h.counts.Unsolved),
		"steps_unreturned":   float64(h.counts.Unreturned),
	}
}

// The parts of a point's Cache.
func (h *Hamiltonian) velocityOf(z *infer.Point) []float64 { return z.Cache[:h.dim] }
func (h *Hamiltonian) logDetOf(z *infer.Point) *float64    { return &z.Cache[h.dim] }
func (h *Hamiltonian) knownOf(z *infer.Point) []float64    { return z.Cache[h.dim+1:][:len(h.work.known)] }
func (h *Hamiltonian) factorOf(z *infer.Point) []float64   { return z.Cache[h.dim+1+len(h.work.known):] }

// Reset implements [infer.Hamiltonian].
func (h *Hamiltonian) Reset(z *infer.Point) error {
	n := h.dim + 1 + len(h.work.known) + h.size()
	if cap(z.Cache) < n {
		z.Cache = make([]float64, n)
	}
	z.Cache = z.Cache[:n]
	lp, err := h.target.LogDensityGrad(z.Position, z.Gradient)
	z.LogDensity, z.Energy = lp, math.Inf(1)
	if err != nil || math.IsInf(lp, -1) {
		return err
	}
	logDet, ok, err := h.metricAt(z.Position, h.factorOf(z))
	if !ok {
		// If there is no metric, a momentum cannot be drawn, so no chain may be here.
		z.LogDensity = math.Inf(-1)
		return err
	}
	*h.logDetOf(z) = logDet
	if h.along == nil {
		return nil
	}
	result, err := h.settleAt(z.Position, h.factorOf(z), h.knownOf(z))
	if result != done {
		z.LogDensity = math.Inf(-1) // as above
	}
	return err
}

// metricAt writes the factor of G(x) to f. If there is none, ok is false and the rejection is
// counted. An error is final.
func (h *Hamiltonian) metricAt(x, f []float64) (logDet float64, ok bool, err error) {
	h.counts.Metrics++
	start := time.Now()
	err = h.evaluate(x, f)
	h.target.Charge(infer.MetricValue, start)
	switch {
	case h.stopped:
		return 0, false, infer.ErrInterrupted
	case err != nil:
		return 0, false, h.target.Final(err)
	}
	logDet, ok = h.factorise(f, h.await)
	if h.stopped {
		return 0, false, infer.ErrInterrupted
	}
	if !ok {
		return 0, false, h.target.Final(errNotPositive)
	}
	return logDet, true, nil
}

// Potential returns -log π(x) + ½ log|G(x)|, or +Inf if there is no density or no metric. It is
// minus the log density relative to the volume element of the geometry, so it does not depend on
// coordinates. If the metric widens the neck of a funnel, Potential has no funnel.
func (h *Hamiltonian) Potential(x []float64) (float64, error) {
	lp, err := h.target.LogDensityGrad(x, h.work.delta)
	if err != nil || math.IsInf(lp, -1) {
		return math.Inf(1), err
	}
	logDet, ok, err := h.metricAt(x, h.work.other)
	if !ok {
		return math.Inf(1), err
	}
	return 0.5*logDet - lp, nil
}

// Momentum implements [infer.Hamiltonian]: p ~ normal(0, G(x)).
func (h *Hamiltonian) Momentum(rng *rand.Rand, z *infer.Point) {
	h.momentum(rng, h.factorOf(z), z.Momentum)
	h.complete(z)
}

// complete computes velocity and energy.
func (h *Hamiltonian) complete(z *infer.Point) {
	v := h.velocityOf(z)
	h.solve(h.factorOf(z), z.Momentum, v)
	kinetic := *h.logDetOf(z)
	for i, p := range z.Momentum {
		kinetic += p * v[i]
	}
	z.Energy = 0.5*kinetic - z.LogDensity
	if math.IsNaN(z.Energy) {
		z.Energy = math.Inf(1)
	}
}

// Velocity implements [infer.Hamiltonian].
func (h *Hamiltonian) Velocity(z *infer.Point) []float64 { return h.velocityOf(z) }

func vector(x []float64) blas64.Vector { return blas64.Vector{N: len(x), Inc: 1, Data: x} }
