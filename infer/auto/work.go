package auto

import (
	"math"
	"slices"

	"github.com/ppl-lang/ppl/infer"
)

// This file weighs what metrics and coordinates cost in a step against the rest of it.

// Numbers computed per dimension in a step, in the unit of [infer.Costed]: by leapfrog step, energy
// and U-turn criterion together, and by each eigenvector of a metric of low rank, which is
// multiplied with the position and with the gradient.
const (
	workOfStep   = 16
	workOfVector = 4
)

// NUTS takes about stepsOfNormal·d^¼ steps in d dimensions on a normal distribution whose metric is
// known: half a period, with the step size 1.3·d^-¼ that gives an acceptance of 0.8.
const stepsOfNormal = 2.4

// work is the numbers computed in a step with a diagonal metric, in the target's own coordinates
// and in others; 0: not known.
type work struct {
	dim           int
	written       []float64 // evidence of the target's own coordinates
	own, inOthers float64
}

// workOf returns the work for a target, which does not depend on the chain.
func workOf(target infer.LogDensity, c *infer.Chart) (w work) {
	w.dim = target.Dim()
	step := workOfStep * float64(w.dim)
	of := func(t any) float64 {
		if c, ok := t.(infer.Costed); ok && c.Work() > 0 {
			return c.Work() + step
		}
		return 0
	}
	w.own = of(infer.Innermost(target))
	if c != nil {
		w.written, w.inOthers = c.Recentring().Written(), of(c.Recentring())
	}
	return w
}

// perVector returns the work for an eigenvector of a metric, relative to a step without it; 0 if
// that is not known.
func (w work) perVector() float64 {
	if w.own == 0 {
		return 0
	}
	return workOfVector * float64(w.dim) / w.own
}

// in returns the work of a step in some coordinates; nil: the target's own. It is 0 if not known.
func (w work) in(evidence []float64) float64 {
	if evidence == nil || slices.Equal(evidence, w.written) {
		return w.own
	}
	return w.inOthers
}

// more reports whether a step takes more work in the coordinates a than in b, as far as that is
// known.
func (w work) more(a, b []float64) bool {
	return w.own > 0 && w.inOthers > 0 && w.in(a) > w.in(b)
}

// paysDense reports whether a dense metric, which takes two products with a triangle in each step,
// may save more steps than these products cost. steps is the number of steps of a transition with
// the current metric. In at most maxDense dimensions it always may.
func (w work) paysDense(evidence []float64, steps float64) bool {
	own, d := w.in(evidence), float64(w.dim)
	if own == 0 || w.dim <= maxDense {
		return true
	}
	return steps > stepsOfNormal*math.Pow(d, 0.25)*(1+d*d/own)
}
