package auto

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/ppl-lang/ppl/infer"
	"github.com/ppl-lang/ppl/infer/optimize"
	"github.com/ppl-lang/ppl/infer/whiten"
)

// Constants of the start.
const (
	climbs = 100 // maximum number of evaluations of L-BFGS, plus twice the root of the dimension
	// maximum dimension in which the first metric is computed from all second derivatives
	maxCurvature      = 100
	difference        = 1e-3
	newtonSteps       = 6 // minimum number of Newton steps; in few dimensions, as many as newtonEvaluations allow
	newtonEvaluations = 160
	halvings          = 12
	shorter           = 4 // maximum number of halvings of a draw's distance from the centre
	// The log density of a draw may be below that at the centre by half the dimension plus this
	// number of its standard deviations.
	farthest  = 8
	nearMeans = 0.6 // maximum of group-level terms at the start of a climb, in units of their scale
	fewTerms  = 30  // number of group-level terms from which they begin nearer to their means
	tries     = 2   // number of points from which to climb until one climb ends where a normal distribution fits
)

// start moves the chain to the typical set. It climbs by L-BFGS and, in few dimensions, by Newton
// steps with the absolute values of the eigenvalues. Then it takes a draw from the normal
// distribution found there, or begins nearer to its centre if the density at the draw is too low.
// The first metric is learnt from the steps of the climb. The chain stays where it was if the climb
// does not end, or ends where the density does not resemble a normal one, as in many hierarchical
// models.
//
// Climbs go around points that are slow to evaluate, unless they can only begin at such a point.
func (w *chain) start(ctx context.Context, given bool) (p pairs, err error) {
	first := slices.Clone(w.Point.Position)
	from := slices.Clone(first)
	for i := range tries {
		if w.RandomStart {
			w.nearMeans(from, w.Rng)
		}
		w.Target.SetHasty(infer.SlowStart)
		p, err = w.startFrom(ctx, from, given)
		if i == 0 && isRejected(err) { // with group-level terms near their means, the point is rejected
			p, err = w.startFrom(ctx, first, given)
		}
		if w.Target.SetHasty(0) && i == 0 && isRejected(err) { // the chain can only begin at a slow point
			w.slow = true
			p, err = w.startFrom(ctx, first, given)
		}
		if i > 0 && isRejected(err) {
			break
		}
		if err != nil || p.settled || p.mouth {
			return p, err
		}
		for i := range from {
			from[i] = 2 * (2*w.Rng.Float64() - 1)
		}
	}
	return pairs{}, w.move(first)
}

// isRejected reports whether a climb could not begin, because the model rejects the point.
func isRejected(err error) bool {
	none := (*infer.InitError)(nil)
	return errors.As(err, &none)
}

// nearMeans moves the group-level terms of x near their means, if the chain learns their
// coordinates. Widely spread terms are noise, and a climb removes it fastest by moving the scale
// near 0: a plateau without a way back. The gain of that is the sum of the squares of the terms, so
// the more terms there are, the nearer to their means they begin. They do not begin at their means,
// which may be a saddle, for instance of loadings times factors.
func (w *chain) nearMeans(x []float64, rng *rand.Rand) {
	if !w.learns {
		return
	}
	terms := w.Chart.Recentring().Elements()
	most := nearMeans * math.Sqrt(min(1, fewTerms/float64(len(terms))))
	for _, j := range terms {
		x[j] = most * (2*rng.Float64() - 1)
	}
}

// startFrom is start from a given point.
func (w *chain) startFrom(ctx context.Context, origin []float64, given bool) (pairs, error) {
	d := w.Target.Dim()
	a, err := w.ascend(ctx, origin, w.Rng)
	if err != nil {
		return pairs{}, err
	}
	p := pairs{steps: a.Steps, changes: a.Changes}
	if most := max(12, d); len(p.steps) > most { // steps far from the end say little about the density there
		p.steps, p.changes = p.steps[len(p.steps)-most:], p.changes[len(p.changes)-most:]
	}
	if given || d > maxCurvature {
		switch {
		case a.Draw != nil:
			p.settled, p.normal, p.peak = true, a.Normal, a.Peak
			return p, w.move(a.Draw)
		case a.Climbed: // the density does not resemble a normal one there
			return pairs{}, w.move(origin)
		}
		return p, w.move(a.X)
	}
	if err := w.move(a.X); err != nil {
		return p, err
	}
	p, placed, err := w.newton(a, p)
	if err != nil || placed {
		return p, err
	}
	return pairs{}, w.move(origin)
}

// newton continues the climb where L-BFGS ended. It takes Newton steps with the absolute values of
// the eigenvalues until a step promises little. Then it moves the chain to a draw from the normal
// distribution found there, or to the mouth of a funnel's neck. placed is false if that fails.
func (w *chain) newton(a climb, p pairs) (_ pairs, placed bool, err error) {
	d := w.Target.Dim()
	scale := a.Scale
	next := infer.NewPoint(d)
	step := make([]float64, d)
	for i := 0; ; i++ {
		local, err := w.curvature(scale, every(d, 0, 1))
		if err != nil {
			return p, false, err
		}
		if len(local.steps) < min(2, d) {
			return p, false, nil
		}
		m, err := whiten.Fit(infer.LowRank, whiten.Sample{Draws: local.steps, Scores: local.changes, Plain: true}, whiten.Options{Shrink: 1e-10, Cutoff: 1.01, Rank: d})
		if err != nil {
			return p, false, nil
		}
		p, scale = local, slices.Clone(m.Inverse[:d])
		whiten.NewLowRank(m).Velocity(w.Point.Gradient, step)
		gain := floats.Dot(step, w.Point.Gradient)
		little := max(0.25*float64(d), 0.5)
		if gain > little && i >= max(newtonSteps, newtonEvaluations/d) {
			return p, false, nil // in a funnel, a climb gains without end
		}
		if gain <= little {
			return w.arrive(a, p, m, step, gain, next)
		}
		climbed, err := w.climb(step, gain, next)
		if err != nil || !climbed {
			return p, false, err
		}
	}
}

// arrive ends the climb. m is the normal distribution at its end; step, which gains little, leads
// to its centre.
func (w *chain) arrive(a climb, p pairs, m infer.Metric, step []float64, gain float64, next *infer.Point) (_ pairs, placed bool, err error) {
	d := w.Target.Dim()
	centre := w.Point.LogDensity
	m.Mean = slices.Clone(w.Point.Position)
	if gain <= float64(d) {
		floats.Add(m.Mean, step)
	}
	end := w.at.newMode(m, centre+0.5*min(gain, float64(d)))
	if end == nil {
		return p, false, nil
	}
	begin, err := w.mouth(a, end)
	if err != nil {
		return p, false, err
	}
	if begin != nil {
		return pairs{mouth: true}, true, w.move(begin)
	}
	drawn, err := w.draw(m, next)
	if drawn {
		p.settled, p.hasMass, p.normal, p.peak, p.mass = true, true, m, end.logDensity, end.mass
	}
	return p, drawn, err // otherwise the density does not resemble a normal one there
}

// climb is the end of a climb, and the points on its path.
type climb struct {
	*optimize.Approach
	path [][]float64 // beginning with its origin; only that in more dimensions than maxCurvature
}

// mouth returns the point at which a climb should have ended, because it has lost mass since; nil
// if it has not. In the neck of a funnel the density is high only because the volume is small. The
// mass at a point is density times volume, for the normal distribution with the second derivatives
// there (absolute values of the eigenvalues). Second derivatives along the path are computed only
// if a step of the climb found a curvature much smaller than that at the end; for a normal
// distribution the two are equal.
func (w *chain) mouth(c climb, end *mode) ([]float64, error) {
	d := len(c.X)
	y, room := make([]float64, d), make([]float64, d)
	bent := false
	for k, step := range c.Steps {
		for i, v := range step {
			y[i] = end.metric.Mean[i] + v
		}
		bent = bent || -floats.Dot(step, c.Changes[k]) < w.at.flatter*end.distanceIn(room, y)
	}
	if !bent {
		return nil, nil
	}
	was := infer.NewPoint(d)
	was.CopyFrom(w.Point)
	defer w.Point.CopyFrom(was)
	scale := make([]float64, d)
	for i, v := range variances(end.metric) {
		scale[i] = math.Sqrt(v)
	}
	var best []float64
	most := end.mass + w.at.neckMargin + w.at.neckPerDim*float64(d)
	for _, share := range []int{0, 1, 2, 4} { // in eighths of the path; a neck is long
		x := c.path[share*(len(c.path)-1)/8]
		if err := w.move(x); err != nil {
			return nil, err
		}
		here, err := w.curved(x, w.Point.LogDensity, scale)
		if err != nil {
			return nil, err
		}
		if here == nil {
			continue
		}
		here.to.Pull(w.Point.Gradient, y)
		if mass := here.mass + 0.5*min(floats.Dot(y, y), float64(d)); mass > most {
			best, most = x, mass
		}
	}
	return best, nil
}

// ascend calls optimize.FindTypical. If that makes no progress, it tries again from points closer
// to zero.
func (w *chain) ascend(ctx context.Context, origin []float64, rng *rand.Rand) (a climb, err error) {
	x := slices.Clone(origin)
	most := climbs + int(2*math.Sqrt(float64(len(x))))
	for _, shrink := range []float64{1, 0.3, 0.1, 0} {
		for i, v := range origin {
			x[i] = shrink * v
		}
		next := climb{path: [][]float64{slices.Clone(x)}}
		next.Approach, err = optimize.FindTypical(ctx, w.Target, x, rng, most, func(x []float64) {
			if len(x) <= maxCurvature {
				next.path = append(next.path, slices.Clone(x))
			}
		})
		if isRejected(err) && a.Approach != nil {
			continue
		}
		if err != nil {
			return climb{}, err
		}
		if a.Approach == nil || next.LogDensity > a.LogDensity {
			a = next
		}
		if next.Climbed {
			return next, nil
		}
	}
	return a, nil
}

// move moves the chain to x.
func (w *chain) move(x []float64) error {
	copy(w.Point.Position, x)
	return w.Hamiltonian.Reset(w.Point)
}

// climb moves the chain along a step that promises a gain. It halves the step until the density
// increases.
func (w *chain) climb(step []float64, gain float64, next *infer.Point) (bool, error) {
	for eps := 1.0; eps > math.Pow(0.5, halvings); eps /= 2 {
		floats.AddScaledTo(next.Position, w.Point.Position, eps, step)
		if err := w.h.Reset(next); err != nil {
			return false, err
		}
		if next.LogDensity >= w.Point.LogDensity+1e-4*eps*gain && finite(next.Gradient) {
			w.Point.CopyFrom(next)
			return true, nil
		}
	}
	return false, nil
}

// draw moves the chain to a draw from the normal distribution described by the metric m and its
// mean. If the density there is too low, it halves the draw's distance from the mean: along bent
// ridges, and where a scale may be large, the quadratic approximation holds only near its centre.
func (w *chain) draw(m infer.Metric, next *infer.Point) (drawn bool, err error) {
	d := m.Dim
	to, err := whiten.NewMap(m)
	if err != nil {
		return false, nil
	}
	z := make([]float64, d)
	for i := range z {
		z[i] = w.Rng.NormFloat64()
	}
	for range shorter + 1 {
		to.Forward(z, next.Position)
		if err := w.h.Reset(next); err != nil {
			return false, err
		}
		if next.LogDensity >= w.Point.LogDensity-0.5*float64(d)-farthest*math.Sqrt(0.5*float64(d)) && finite(next.Gradient) {
			w.Point.CopyFrom(next)
			return true, nil
		}
		floats.Scale(0.5, z)
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

// every returns every of-th number below n, beginning with number part.
func every(n, part, of int) []int {
	which := make([]int, 0, (n-part+of-1)/of)
	for i := part; i < n; i += of {
		which = append(which, i)
	}
	return which
}

// curvature makes small steps along some coordinates and records the changes of the gradient, for a
// Hessian by finite differences. It skips steps that leave the support.
func (w *chain) curvature(scale []float64, which []int) (p pairs, err error) {
	d, n := len(scale), len(which)
	room := make([]float64, 2*d*(1+n))
	both := make([][]float64, 2*n)
	p.steps, p.changes = both[:0:n], both[n:n]
	next := func() (v []float64) { v, room = room[:d:d], room[d:]; return v }
	x, g := next(), next()
	for _, i := range which {
		copy(x, w.Point.Position)
		h := difference * scale[i]
		x[i] += h
		h = x[i] - w.Point.Position[i] // the actual step, after rounding
		lp, err := w.Target.LogDensityGrad(x, g)
		if err != nil {
			return p, err
		}
		if h == 0 || math.IsInf(lp, -1) {
			continue
		}
		for j := range g {
			g[j] = (g[j] - w.Point.Gradient[j]) / h
		}
		// In units of the coordinate's width, so that all coordinates count equally.
		unit := scale[i]
		if v := 1 / math.Sqrt(math.Abs(g[i])); v > 0 && !math.IsInf(v, 0) {
			unit = v
		}
		step, change := next(), next()
		step[i] = unit
		floats.AddScaled(change, unit, g)
		if finite(change) {
			p.steps, p.changes = append(p.steps, step), append(p.changes, change)
		}
	}
	return p, nil
}

// curved returns the mode at x, with the scale given by the second derivatives there.
func (w *chain) curved(x []float64, logDensity float64, scale []float64) (*mode, error) {
	d := len(x)
	was := infer.NewPoint(d)
	was.CopyFrom(w.Point)
	defer w.Point.CopyFrom(was)
	if err := w.move(x); err != nil {
		return nil, err
	}
	local, err := w.curvature(scale, every(d, 0, 1))
	if err != nil || len(local.steps) < d {
		return nil, err
	}
	s := whiten.Sample{Draws: local.steps, Scores: local.changes, Plain: true}
	diagonal, err := whiten.Fit(infer.Diagonal, s, whiten.Options{})
	if err != nil {
		return nil, nil
	}
	var wrong []int // coordinates whose steps had the wrong length, so that differences are rough
	scale = slices.Clone(scale)
	for i, v := range diagonal.Inverse {
		is := math.Sqrt(v)
		if math.Abs(math.Log(is/scale[i])) >= math.Log(10) {
			wrong = append(wrong, i)
		}
		scale[i] = is
	}
	better, err := w.curvature(scale, wrong)
	if err != nil || len(better.steps) < len(wrong) {
		return nil, err
	}
	for k, i := range wrong {
		s.Draws[i], s.Scores[i] = better.steps[k], better.changes[k]
	}
	m, err := whiten.Fit(infer.LowRank, s, whiten.Options{Shrink: 1e-10, Cutoff: 1.01, Rank: d})
	if err != nil {
		return nil, nil
	}
	m.Mean = slices.Clone(x)
	found := w.at.newMode(m, logDensity)
	if found != nil {
		z := make([]float64, d)
		found.to.Pull(w.Point.Gradient, z)
		found.promise = 0.5 * floats.Dot(z, z)
	}
	return found, nil
}
