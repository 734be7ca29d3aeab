package auto

import (
	"context"
	"errors"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/ppl-lang/ppl/infer"
	"github.com/ppl-lang/ppl/infer/optimize"
	"github.com/ppl-lang/ppl/infer/whiten"
)

// The constants of the start.
const (
	climbs        = 100 // evaluations of L-BFGS, and twice the root of the dimension
	mostCurvature = 100 // dimensions in which the first metric is that of all second derivatives
	difference    = 1e-3
	newtonSteps   = 6
	halvings      = 12
	// A draw may have a log density that is less than that of its centre by half the
	// dimension and so many of its standard deviations.
	farthest = 8
)

// start moves the chain to the typical set: up by L-BFGS and, in few dimensions, on by
// Newton's steps with the absolute values of the second derivatives, then to a draw
// from the normal distribution found there. The pairs are what the first metric is
// learnt from. Where the climb does not end, or leads to where the density is not like
// a normal one, as those of hierarchical models do, the chain stays where it was.
func (w *chain) start(ctx context.Context, given bool) (pairs, error) {
	d := w.Target.Dim()
	origin := slices.Clone(w.Point.Position)
	a, err := w.ascend(ctx, origin)
	if err != nil {
		return pairs{}, err
	}
	p := pairs{steps: a.Steps, changes: a.Changes}
	if most := max(12, d); len(p.steps) > most { // what is far tells little
		p.steps, p.changes = p.steps[len(p.steps)-most:], p.changes[len(p.changes)-most:]
	}
	if given || d > mostCurvature {
		switch {
		case a.Draw != nil:
			p.settled = true
			return p, w.move(a.Draw)
		case a.Climbed: // the density is not like a normal one there
			return pairs{}, w.move(origin)
		}
		return p, w.move(a.X)
	}
	if err := w.move(a.X); err != nil {
		return p, err
	}
	scale := a.Scale
	next, draw := infer.NewPoint(d), make([]float64, d)
	step := make([]float64, d)
	for i := 0; ; i++ {
		local, err := w.curvature(scale)
		if err != nil {
			return p, err
		}
		if len(local.steps) < min(2, d) {
			break
		}
		m, err := whiten.Fit(infer.LowRank, whiten.Sample{Draws: local.steps, Scores: local.changes, Plain: true}, whiten.Options{Shrink: 1e-10, Cutoff: 1.01, Rank: d})
		if err != nil {
			break
		}
		p, scale = local, slices.Clone(m.Inverse[:d])
		low := whiten.NewLowRank(m)
		low.Velocity(w.Point.Gradient, step)
		gain := floats.Dot(step, w.Point.Gradient)
		if gain > max(0.25*float64(d), 0.5) && i == newtonSteps {
			break // on the way up a funnel gains do not end
		}
		if gain <= max(0.25*float64(d), 0.5) {
			drawn, err := w.draw(m, step, gain, draw, next)
			if err != nil || drawn {
				p.settled = drawn
				return p, err
			}
			break // the density is not like a normal one there
		}
		climbed, err := w.climb(step, gain, next)
		if err != nil {
			return p, err
		}
		if !climbed {
			break
		}
	}
	return pairs{}, w.move(origin)
}

// ascend is optimize.FindTypical, from points ever nearer to zero if it does not get
// anywhere.
func (w *chain) ascend(ctx context.Context, origin []float64) (a *optimize.Approach, err error) {
	x := slices.Clone(origin)
	most := climbs + int(2*math.Sqrt(float64(len(x))))
	for _, shrink := range []float64{1, 0.3, 0.1, 0} {
		for i, v := range origin {
			x[i] = shrink * v
		}
		next, err := optimize.FindTypical(ctx, w.Target, x, w.Rng, most)
		if none := (*infer.InitError)(nil); errors.As(err, &none) && a != nil {
			continue
		}
		if err != nil {
			return nil, err
		}
		if a == nil || next.LogDensity > a.LogDensity {
			a = next
		}
		if next.Climbed {
			return next, nil
		}
	}
	return a, nil
}

// move puts the chain at x.
func (w *chain) move(x []float64) error {
	copy(w.Point.Position, x)
	return w.Hamiltonian.Reset(w.Point)
}

// climb moves the chain along a step that promises a gain, halved until it gains.
func (w *chain) climb(step []float64, gain float64, next *infer.Point) (bool, error) {
	for eps := 1.0; eps > math.Pow(0.5, halvings); eps /= 2 {
		floats.AddScaledTo(next.Position, w.Point.Position, eps, step)
		lp, err := w.Target.LogDensityGrad(next.Position, next.Gradient)
		if err != nil {
			return false, err
		}
		next.LogDensity = lp
		if lp >= w.Point.LogDensity+1e-4*eps*gain && finite(next.Gradient) {
			copy(w.Point.Position, next.Position)
			copy(w.Point.Gradient, next.Gradient)
			w.Point.LogDensity = lp
			return true, nil
		}
	}
	return false, nil
}

// draw moves the chain to a draw from the normal distribution with the metric m about
// the point that a Newton step leads to, unless that is no good.
func (w *chain) draw(m infer.Metric, step []float64, gain float64, x []float64, next *infer.Point) (drawn bool, err error) {
	d := len(x)
	m.Mean = slices.Clone(w.Point.Position)
	if gain <= float64(d) {
		floats.Add(m.Mean, step)
	}
	to, err := whiten.NewMap(m)
	if err != nil {
		return false, nil
	}
	z := make([]float64, d)
	for i := range z {
		z[i] = w.Rng.NormFloat64()
	}
	to.Forward(z, next.Position)
	lp, err := w.Target.LogDensityGrad(next.Position, next.Gradient)
	if err != nil {
		return false, err
	}
	if lp >= w.Point.LogDensity-0.5*float64(d)-farthest*math.Sqrt(0.5*float64(d)) && finite(next.Gradient) {
		copy(w.Point.Position, next.Position)
		copy(w.Point.Gradient, next.Gradient)
		w.Point.LogDensity = lp
		return true, nil
	}
	return false, nil
}

func finite(x []float64) bool {
	for _, v := range x {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return false
		}
	}
	return true
}

// curvature makes pairs of small steps along each coordinate, which span the space: a Hessian by differences of the gradient. Steps out of the support
// are left out.
func (w *chain) curvature(scale []float64) (p pairs, err error) {
	d := len(scale)
	x, g := make([]float64, d), make([]float64, d)
	for i := range scale {
		copy(x, w.Point.Position)
		h := difference * scale[i]
		x[i] += h
		h = x[i] - w.Point.Position[i] // as rounded
		lp, err := w.Target.LogDensityGrad(x, g)
		if err != nil {
			return p, err
		}
		if h == 0 || math.IsInf(lp, -1) {
			continue
		}
		// In units of the coordinate's scale, so that all count alike.
		step, change := make([]float64, d), make([]float64, d)
		step[i] = scale[i]
		finite := true
		for j := range change {
			change[j] = (g[j] - w.Point.Gradient[j]) * scale[i] / h
			finite = finite && !math.IsNaN(change[j]) && !math.IsInf(change[j], 0)
		}
		if finite {
			p.steps, p.changes = append(p.steps, step), append(p.changes, change)
		}
	}
	return p, nil
}
