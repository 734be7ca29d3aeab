package riemann

import (
	"errors"
	"math"
	"time"

	"github.com/ppl-lang/ppl/infer"
)

// work is the memory for a step.
type work struct {
	half          []float64 // momentum p½ after half of the step
	returned      []float64 // the same momentum, found on the way back
	x0            []float64 // position at the start of the step
	back          []float64 // position at the end of the way back
	v, v0         []float64 // velocities
	force         []float64 // gradient of ½ log|G| + ½ pᵀG⁻¹p
	next          []float64 // result of an iteration
	delta         []float64
	factor, other []float64 // factors of G, at the start and elsewhere
	known         []float64 // values of settleAt at the start
	logDet        float64   // log determinant for the factor other
	here          bool      // other is the factor at the new position
}

func newWork(d, factor int) work {
	b := make([]float64, 9*d)
	cut := func() []float64 {
		v := b[:d:d]
		b = b[d:]
		return v
	}
	return work{half: cut(), returned: cut(), x0: cut(), back: cut(), v: cut(), v0: cut(), force: cut(), next: cut(), delta: cut(),
		factor: make([]float64, factor), other: make([]float64, factor)}
}

var (
	errUnsolved   = errors.New("an implicit step of the Riemannian geometry did not converge: the step size is too large there")
	errUnreturned = errors.New("an implicit step of the Riemannian geometry does not lead back: the step size is too large there")
)

// outcome says how a part of a step ended.
type outcome int

const (
	done outcome = iota
	outside
	unsolved
	unreturned
)

// Step implements [infer.Hamiltonian] by the generalised leapfrog step:
//
//	p½ = p + ε/2 (∇log π(x) - ∇τ(x, p½))          implicit
//	x' = x + ε/2 (G(x)⁻¹p½ + G(x')⁻¹p½)           implicit
//	p' = p½ + ε/2 (∇log π(x') - ∇τ(x', p½))       explicit
//
// with τ(x, p) = ½ log|G(x)| + ½ pᵀG(x)⁻¹p.
func (h *Hamiltonian) Step(from, z *infer.Point, eps float64) error {
	if from != z {
		z.CopyFrom(from)
	}
	h.counts.Steps++
	result, err := h.step(z, eps)
	switch {
	case err == nil && result == done:
		return nil
	case result == unsolved:
		h.counts.Unsolved++
		h.target.Reject(errUnsolved)
	case result == unreturned:
		h.counts.Unreturned++
		h.target.Reject(errUnreturned)
	}
	z.Energy = math.Inf(1)
	return err
}

func (h *Hamiltonian) step(z *infer.Point, eps float64) (outcome, error) {
	copy(h.x0, z.Position)
	copy(h.factor, h.factorOf(z))
	copy(h.work.known, h.knownOf(z))

	if result, err := h.solveMomentum(z.Position, z.Momentum, z.Gradient, h.factor, h.work.known, eps, h.half); result != done || err != nil {
		return result, err
	}
	if result, err := h.solvePosition(h.x0, h.half, h.factor, h.work.known, eps, z.Position, false); result != done || err != nil {
		return result, err
	}
	if h.here { // the last evaluation of the metric was at the new position
		copy(h.factorOf(z), h.other)
		*h.logDetOf(z) = h.work.logDet
	} else {
		logDet, ok, err := h.metricAt(z.Position, h.factorOf(z))
		if !ok || err != nil {
			return outside, err
		}
		*h.logDetOf(z) = logDet
	}
	lp, err := h.target.LogDensityGrad(z.Position, z.Gradient)
	z.LogDensity = lp
	if err != nil || math.IsInf(lp, -1) {
		return outside, err
	}
	if h.along != nil {
		if result, err := h.settleAt(z.Position, h.factorOf(z), h.knownOf(z)); result != done || err != nil {
			return result, err
		}
	}
	if result, err := h.forceAt(z.Position, h.half, h.factorOf(z), h.knownOf(z)); result != done || err != nil {
		return result, err
	}
	for i := range z.Momentum {
		z.Momentum[i] = h.half[i] + 0.5*eps*(z.Gradient[i]-h.work.force[i])
	}
	h.complete(z)
	if math.IsInf(z.Energy, 1) {
		return outside, nil
	}
	if h.options.Mode == Published {
		return done, nil
	}
	return h.goBack(z, eps)
}

// goBack makes a step back from z, and compares the half-step momentum and the position with those
// of the step. (By the first equation, p½ then also leads to p.)
func (h *Hamiltonian) goBack(z *infer.Point, eps float64) (outcome, error) {
	known := h.knownOf(z)
	result, err := h.solveMomentum(z.Position, z.Momentum, z.Gradient, h.factorOf(z), known, -eps, h.returned)
	if result != done || err != nil {
		return result, err
	}
	limit := h.options.ReturnTolerance
	if !h.near(h.returned, h.half, h.factorOf(z), limit, true) {
		return unreturned, nil
	}
	result, err = h.solvePosition(z.Position, h.returned, h.factorOf(z), known, -eps, h.back, true)
	if result != done || err != nil {
		return result, err
	}
	if !h.near(h.back, h.x0, h.factor, limit, false) {
		return unreturned, nil
	}
	return done, nil
}

// foresees reports whether products in single directions are used at a point, given its values of
// settleAt.
func (h *Hamiltonian) foresees(known []float64) bool { return h.along != nil && known[h.dim] == 1 }

// forceAt computes h.force at x for momentum p; l is the factor of G(x).
func (h *Hamiltonian) forceAt(x, p, l, known []float64) (outcome, error) {
	if h.foresees(known) {
		return h.forceAlong(x, p, l, known)
	}
	if ok, err := h.inverted(l); !ok {
		return outside, err
	}
	return h.forceWith(x, p, l)
}

// inverted computes the inverse that forceWith needs.
func (h *Hamiltonian) inverted(l []float64) (bool, error) {
	ok := h.invert(l, h.await)
	if h.stopped {
		return false, infer.ErrInterrupted
	}
	return ok, nil
}

// forceWith is forceAt if the inverse G(x)⁻¹ is already known.
func (h *Hamiltonian) forceWith(x, p, l []float64) (outcome, error) {
	h.solve(l, p, h.v)
	return h.traceGrad(x, l, h.v, h.work.force)
}

// traceGrad computes the gradient in x of ½ log|G| + ½ pᵀG⁻¹p, given v = G⁻¹p and the inverse, and
// writes it to force.
func (h *Hamiltonian) traceGrad(x, l, v, force []float64) (outcome, error) {
	h.counts.TraceGrads++
	start := time.Now()
	err := h.geometry.force(x, l, v, force)
	h.target.Charge(infer.MetricGradient, start)
	if h.stopped {
		return outside, infer.ErrInterrupted
	}
	if err != nil {
		return outside, h.target.Final(err)
	}
	return done, nil
}

// solveMomentum solves the first equation for the half-step momentum by fixed-point iteration from
// p. The metric at x is G = l lᵀ.
func (h *Hamiltonian) solveMomentum(x, p, grad, l, known []float64, eps float64, half []float64) (outcome, error) {
	force := h.forceAlong
	if !h.foresees(known) {
		if ok, err := h.inverted(l); !ok {
			return outside, err
		}
		force = func(x, p, l, _ []float64) (outcome, error) { return h.forceWith(x, p, l) }
	}
	copy(half, p)
	var watch contraction
	for k := range h.options.Iterations {
		if result, err := force(x, half, l, known); result != done || err != nil {
			return result, err
		}
		for i := range half {
			h.next[i] = p[i] + 0.5*eps*(grad[i]-h.work.force[i])
		}
		converged, hopeless := h.judge(&watch, half, l, k, true)
		copy(half, h.next)
		if converged {
			return done, nil
		}
		if hopeless || !finite(half) {
			return unsolved, nil
		}
	}
	if h.options.Mode == Published {
		return done, nil
	}
	return unsolved, nil
}

// solvePosition solves the second equation for the new position y by fixed-point iteration. The
// metric at x is G(x) = l lᵀ. It iterates from x, or from the position that foresee predicts. On
// the way back it accepts, without iteration, a prediction equal to the start of the step: the
// start solves the equation as exactly as the position that the step found.
func (h *Hamiltonian) solvePosition(x, half, l, known []float64, eps float64, y []float64, back bool) (outcome, error) {
	h.solve(l, half, h.v0)
	foreseen := false
	if h.foresees(known) {
		var err error
		if foreseen, err = h.foresee(x, half, l, eps, y); err != nil {
			return outside, err
		}
		if foreseen && back && h.near(y, h.x0, h.factor, h.options.ReturnTolerance, false) {
			return done, nil
		}
	}
	h.here = foreseen
	if !foreseen {
		for i := range y { // in the first iteration, G(x) is known
			y[i] = x[i] + eps*h.v0[i]
		}
		if h.options.Mode == Reversible && h.near(y, x, l, h.options.Tolerance, false) {
			return done, nil
		}
	}
	var watch contraction
	for k := 1; k < h.options.Iterations; k++ {
		if !finite(y) {
			return unsolved, nil
		}
		logDet, ok, err := h.metricAt(y, h.other)
		if !ok || err != nil {
			return outside, err
		}
		h.work.logDet = logDet
		h.solve(h.other, half, h.v)
		for i := range y {
			h.next[i] = x[i] + 0.5*eps*(h.v0[i]+h.v[i])
		}
		converged, hopeless := h.judge(&watch, y, h.other, k, false)
		if converged && foreseen { // y is as good as the result, and its metric is already known
			return done, nil
		}
		copy(y, h.next)
		if converged {
			return done, nil
		}
		if hopeless {
			return unsolved, nil
		}
	}
	if h.options.Mode == Published && finite(y) {
		return done, nil
	}
	return unsolved, nil
}

// judge decides whether an iteration has converged, by comparing the result of iteration k, h.next,
// with the previous one.
func (h *Hamiltonian) judge(watch *contraction, before, l []float64, k int, momenta bool) (converged, hopeless bool) {
	if h.options.Mode == Published {
		return false, false
	}
	distance, limit := h.distance(h.next, before, l, h.options.Tolerance, momenta)
	if distance <= limit {
		return true, false
	}
	return false, watch.hopeless(distance, limit, h.options.Iterations-1-k)
}

// rounding is the maximum relative difference of two results that rounding alone may cause: 256
// units in the last place.
const rounding = 256 * 0x1p-52

// near reports whether two momenta, or two positions, are close in units of the metric with factor
// l.
func (h *Hamiltonian) near(a, b, l []float64, tolerance float64, momenta bool) bool {
	distance, limit := h.distance(a, b, l, tolerance, momenta)
	return distance <= limit
}

// distance returns the distance between two momenta, or two positions, and the distance at which
// they count as close.
func (h *Hamiltonian) distance(a, b, l []float64, tolerance float64, momenta bool) (distance, limit float64) {
	if h.dim == 0 {
		return 0, 0
	}
	copy(h.delta, b)
	limit = tolerance*math.Sqrt(float64(h.dim)) + rounding*h.norm(l, h.delta, momenta)
	for i := range a {
		h.delta[i] = a[i] - b[i]
	}
	return h.norm(l, h.delta, momenta), limit
}

// contraction watches the distances between the iterates of a fixed-point iteration. It ends an
// iteration that does not get closer, so that a failing step does not evaluate the metric a hundred
// times. Whether a step fails still depends only on its start.
type contraction struct {
	past [contractionSpan]float64
	n    int
}

// contractionSpan is the number of iterations over which contraction is measured, beginning after
// twice that number.
const contractionSpan = 6

// hopeless reports whether the limit is unlikely to be reached within the remaining iterations.
func (c *contraction) hopeless(distance, limit float64, left int) bool {
	at := &c.past[c.n%contractionSpan]
	before := *at
	*at = distance
	if c.n++; c.n <= 2*contractionSpan {
		return false
	}
	return !(distance < before) || math.Log(distance/limit) > float64(left)/contractionSpan*math.Log(before/distance)
}

func finite(x []float64) bool {
	for _, v := range x {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return false
		}
	}
	return true
}
