package auto

import (
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

// more reports whether a step takes more work in the coordinates a than in b, as far as that is
// known.
func (w work) more(a, b []float64) bool {
	of := func(evidence []float64) float64 {
		if slices.Equal(evidence, w.written) {
			return w.own
		}
		return w.inOthers
	}
	return w.own > 0 && w.inOthers > 0 && of(a) > of(b)
}
