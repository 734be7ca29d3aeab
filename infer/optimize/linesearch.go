package optimize

import (
	"math"

	"gonum.org/v1/gonum/floats"
)

// Constants of the line search, as in Stan.
const (
	sufficient    = 1e-4 // c₁ of the Wolfe conditions, for the decrease
	curvature     = 0.9  // c₂ of the Wolfe conditions, for the slope
	minAlpha      = 1e-12
	minInterval   = 1e-16
	maxExtensions = 20 // maximum number of extensions of the step, by a factor of ten each
	maxRetreats   = 10 // maximum number of retreats from points that are rejected
)

// lineSearch looks for a step along p from x that satisfies the strong Wolfe conditions: algorithms
// 3.5 and 3.6 of Nocedal and Wright. If the target rejects a point, it retreats halfway.
type lineSearch struct {
	*objective
	x, g, p []float64
	f       float64

	slope float64 // at x

	alpha, newF float64 // step size found, and the objective there
	newX, newG  []float64
}

// trial is a step with the value and the slope at its end.
type trial struct{ alpha, f, slope float64 }

// run searches, beginning with alpha. It writes the point found and its gradient to x and g.
func (l *lineSearch) run(alpha float64, x, g []float64) (found bool, err error) {
	l.newX, l.newG = x, g
	l.slope = floats.Dot(l.g, l.p)
	if !(l.slope < 0) {
		return false, nil
	}
	before := trial{0, l.f, l.slope}
	retreats := 0
	for extensions := 0; extensions < maxExtensions; {
		at, ok, err := l.try(alpha)
		if err != nil {
			return false, err
		}
		if !ok {
			if retreats++; retreats > maxRetreats {
				return false, nil
			}
			alpha = (max(before.alpha, minAlpha) + alpha) / 2
			continue
		}
		retreats = 0
		switch {
		case !l.decreases(at) || at.f >= before.f && extensions > 0:
			return l.zoom(before, at)
		case math.Abs(at.slope) <= -curvature*l.slope:
			return l.accept(at)
		case at.slope >= 0:
			return l.zoom(at, before)
		}
		before = at
		alpha *= 10
		extensions++
	}
	return false, nil
}

// try evaluates a step.
func (l *lineSearch) try(alpha float64) (t trial, ok bool, err error) {
	floats.AddScaledTo(l.newX, l.x, alpha, l.p)
	f, ok, err := l.at(l.newX, l.newG)
	if err != nil || !ok {
		return trial{}, false, err
	}
	return trial{alpha, f, floats.Dot(l.newG, l.p)}, true, nil
}

// decreases reports whether a step satisfies the first Wolfe condition.
func (l *lineSearch) decreases(t trial) bool { return t.f <= l.f+sufficient*t.alpha*l.slope }

func (l *lineSearch) accept(t trial) (bool, error) {
	l.alpha, l.newF = t.alpha, t.f
	return true, nil
}

// zoom narrows an interval that contains an acceptable step. lo is the end with the lower value,
// and its slope points into the interval.
func (l *lineSearch) zoom(lo, hi trial) (bool, error) {
	for i := 1; ; i++ {
		width := math.Abs(hi.alpha - lo.alpha)
		if width < minInterval || width <= 4*0x1p-52*max(lo.alpha, hi.alpha) { // the interval is within rounding error
			return false, nil
		}
		left, right := min(lo.alpha, hi.alpha), max(lo.alpha, hi.alpha)
		alpha := (left + right) / 2
		if i%5 != 0 { // otherwise a bisection, so that the search ends
			along := hi.alpha - lo.alpha
			c := lo.alpha + along*cubicMinimum(lo.slope*along, 1, hi.f-lo.f, hi.slope*along, 0, 1)
			if c > left+0.01*width && c < right-0.01*width {
				alpha = c
			}
		}
		if alpha <= left || alpha >= right {
			return false, nil // no float64 lies between them
		}
		at, ok, err := l.try(alpha)
		for err == nil && !ok {
			alpha = (alpha + left) / 2
			if alpha-left < minInterval || alpha <= left {
				return false, nil
			}
			at, ok, err = l.try(alpha)
		}
		if err != nil {
			return false, err
		}
		if !l.decreases(at) || at.f >= lo.f {
			hi = at
			continue
		}
		if math.Abs(at.slope) <= -curvature*l.slope {
			return l.accept(at)
		}
		if at.slope*(hi.alpha-lo.alpha) >= 0 {
			hi = lo
		}
		lo = at
	}
}
