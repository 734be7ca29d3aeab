package riemann

import (
	"fmt"
	"math"
	"math/rand/v2"
	"time"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/lapack/lapack64"

	"github.com/ppl-lang/ppl/infer"
)

// Mode says how implicit equations are solved.
type Mode string

// The modes, see the package comment.
const (
	Reversible Mode = "reversible"
	Published  Mode = "published"
)

// Defaults of [Options].
const (
	DefaultIterations          = 100 // Reversible: at most
	DefaultPublishedIterations = 4   // of Girolami and Calderhead's logistic regressions
	DefaultTolerance           = 1e-7
	DefaultReturnTolerance     = 1e-5
)

// Options of the step.
type Options struct {
	Mode Mode // "": Reversible

	// Iterations of each fixed point: the number of them in the mode
	// Published (0: 4), a limit in the mode Reversible (0: 100).
	Iterations int

	// Tolerance is how much the last iteration may change its result, and
	// ReturnTolerance how far from its start the way back may lead, per
	// coordinate, in units of the metric (ΔxᵀGΔx ≤ D·tolerance², ΔpᵀG⁻¹Δp
	// likewise). 0: 1e-7 and 1e-5. They are for Reversible.
	Tolerance, ReturnTolerance float64

	// Ridge is added to each diagonal element of the metric, relative to it, so that
	// rounding does not make a metric indefinite that is singular, or almost. The
	// geometry is that of G + Ridge·diag(G) then, exactly.
	Ridge float64
}

// ModelRidge is a Ridge for metrics that come from the text of a model.
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

// Validate says what is wrong with the options.
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

// Of returns what samplers take as their Hamiltonian: one that makes a metric
// for each chain, from the chain's own target, and the geometry of it.
func (o Options) Of(metric func(target *infer.Meter) (Metric, error)) func(*infer.Meter) (infer.Hamiltonian, error) {
	return func(target *infer.Meter) (infer.Hamiltonian, error) {
		m, err := metric(target)
		if err != nil {
			return nil, err
		}
		return New(target, m, o)
	}
}

// Hamiltonian is H(x, p) = -log π(x) + ½ log|G(x)| + ½ pᵀG(x)⁻¹p, in which
// p ~ normal(0, G(x)), with the generalised leapfrog step.
//
// The Cache of its points is the velocity G⁻¹p, log|G|, and the Cholesky factor
// of G.
type Hamiltonian struct {
	target  *infer.Meter
	metric  Metric
	dim     int
	options Options
	counts  Counts

	work       // of step.go
	inverse, a []float64
}

var (
	_ infer.Hamiltonian = (*Hamiltonian)(nil)
	_ infer.Describer   = (*Hamiltonian)(nil)
)

// Counts is the account of a Hamiltonian. Evaluations of metrics are not among
// the gradients that a run reports, but are charged (see infer.Meter.Charge).
type Counts struct {
	Metrics    int64 // evaluations of G
	TraceGrads int64 // gradients of tr(A·G)
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
	h := &Hamiltonian{
		target: infer.NewMeter(target), metric: metric, dim: d, options: options.withDefaults(),
		inverse: make([]float64, d*d), a: make([]float64, d*d),
	}
	h.work = newWork(d)
	return h, nil
}

// Counts returns the account so far.
func (h *Hamiltonian) Counts() Counts { return h.counts }

// Describe implements [infer.Describer].
func (h *Hamiltonian) Describe() map[string]float64 {
	return map[string]float64{
		"metric_evaluations": float64(h.counts.Metrics),
		"metric_gradients":   float64(h.counts.TraceGrads),
		"implicit_steps":     float64(h.counts.Steps),
		"steps_unsolved":     float64(h.counts.Unsolved),
		"steps_unreturned":   float64(h.counts.Unreturned),
	}
}

// The layout of a point's cache.
func (h *Hamiltonian) velocityOf(z *infer.Point) []float64 { return z.Cache[:h.dim] }
func (h *Hamiltonian) logDetOf(z *infer.Point) *float64    { return &z.Cache[h.dim] }
func (h *Hamiltonian) factorOf(z *infer.Point) []float64   { return z.Cache[h.dim+1:] }

// Reset implements [infer.Hamiltonian].
func (h *Hamiltonian) Reset(z *infer.Point) error {
	n := h.dim + 1 + h.dim*h.dim
	if cap(z.Cache) < n {
		z.Cache = make([]float64, n)
	}
	z.Cache = z.Cache[:n]
	lp, err := h.target.LogDensityGrad(z.Position, z.Gradient)
	z.LogDensity, z.Energy = lp, math.Inf(1)
	if err != nil || math.IsInf(lp, -1) {
		return err
	}
	logDet, ok, err := h.evaluate(z.Position, h.factorOf(z))
	if !ok {
		// Without a metric there is no momentum: nobody may be here.
		z.LogDensity = math.Inf(-1)
		return err
	}
	*h.logDetOf(z) = logDet
	return nil
}

// evaluate writes the Cholesky factor of G(x) (its lower triangle L, G = LLᵀ)
// to l; ok is false, and the reason entered into the account of rejections, if
// there is none. An error is final.
func (h *Hamiltonian) evaluate(x, l []float64) (logDet float64, ok bool, err error) {
	h.counts.Metrics++
	start := time.Now()
	err = h.metric.Metric(x, l)
	h.target.Charge(infer.MetricValue, start)
	if err != nil {
		return 0, false, h.target.Final(err)
	}
	if h.dim == 0 {
		return 0, true, nil
	}
	if r := h.options.Ridge; r > 0 {
		for i := range h.dim {
			l[i*(h.dim+1)] *= 1 + r
		}
	}
	if !positive(l, h.dim) {
		return 0, false, h.target.Final(errNotPositive)
	}
	if _, ok := lapack64.Potrf(blas64.Symmetric{Uplo: blas.Lower, N: h.dim, Stride: h.dim, Data: l}); !ok {
		return 0, false, h.target.Final(errNotPositive)
	}
	for i := range h.dim {
		logDet += 2 * math.Log(l[i*(h.dim+1)])
	}
	return logDet, true, nil
}

// triangle is the factor as blas64 has it.
func (h *Hamiltonian) triangle(l []float64) blas64.Triangular {
	return blas64.Triangular{Uplo: blas.Lower, Diag: blas.NonUnit, N: h.dim, Stride: max(1, h.dim), Data: l}
}

// solve writes v = G⁻¹p.
func (h *Hamiltonian) solve(l, p, v []float64) {
	copy(v, p)
	if h.dim == 0 {
		return
	}
	blas64.Trsv(blas.NoTrans, h.triangle(l), vector(v))
	blas64.Trsv(blas.Trans, h.triangle(l), vector(v))
}

// Momentum implements [infer.Hamiltonian]: p ~ normal(0, G(x)).
func (h *Hamiltonian) Momentum(rng *rand.Rand, z *infer.Point) {
	for i := range z.Momentum {
		z.Momentum[i] = rng.NormFloat64()
	}
	if h.dim > 0 {
		blas64.Trmv(blas.NoTrans, h.triangle(h.factorOf(z)), vector(z.Momentum))
	}
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

// invert writes G⁻¹ to h.inverse, both triangles.
func (h *Hamiltonian) invert(l []float64) bool {
	d := h.dim
	if d == 0 {
		return true
	}
	copy(h.inverse, l)
	// Potri overwrites the lower triangle of the factor by that of the inverse.
	if _, ok := lapack64.Potri(h.triangle(h.inverse)); !ok {
		return false
	}
	for i := range d {
		for j := range i {
			h.inverse[j*d+i] = h.inverse[i*d+j]
		}
	}
	return true
}

// geometricForce writes the gradient in x of ½ log|G| + ½ pᵀG⁻¹p to force, by
// the trace trick. h.inverse is that of G(x), v is G⁻¹p.
func (h *Hamiltonian) geometricForce(x, v, force []float64) error {
	d := h.dim
	for i := range d {
		for j := range d {
			h.a[i*d+j] = 0.5 * (h.inverse[i*d+j] - v[i]*v[j])
		}
	}
	if r := h.options.Ridge; r > 0 { // tr(A(G + r·diag(G))) = tr((A + r·diag(A))G)
		for i := range d {
			h.a[i*(d+1)] *= 1 + r
		}
	}
	h.counts.TraceGrads++
	defer h.target.Charge(infer.MetricGradient, time.Now())
	return h.metric.TraceGrad(x, h.a, force)
}

func vector(x []float64) blas64.Vector { return blas64.Vector{N: len(x), Inc: 1, Data: x} }
