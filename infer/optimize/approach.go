package optimize

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/ppl-lang/ppl/infer"
)

// Approach is the result of [FindTypical] or [FindTop].
type Approach struct {
	X, Draw    []float64 // end of the climb; a draw from the normal distribution there, nil: none
	LogDensity float64   // at X

	Scale []float64 // standard deviation of each coordinate, from the diagonal of L-BFGS

	// Steps and Changes are the steps of L-BFGS and the changes of the gradient of the log density
	// along them, the latest last: Changes ≈ Hessian·Steps. Steps without a usable curvature are
	// left out. In tens of thousands of dimensions, FindTypical returns only the last ones. FindTop
	// returns those that Normal is made of.
	Steps, Changes [][]float64

	Climbed bool // FindTypical reached the typical set, or FindTop the mode

	// Normal is the normal distribution found, as a metric with its mean; without a Kind there is
	// none. Peak is the log density of the target at that mean, as the quadratic approximation
	// predicts it.
	Normal infer.Metric
	Peak   float64
}

// maxGain limits how far the log density of the draw may fall below its expectation, LogDensity −
// dim/2. It is in standard deviations of the log density of a normal distribution.
const maxGain = 8

// settled is the number of last steps that must have gained little before a climb ends. The
// predictions of the first steps are unreliable.
const settled = 8

// maxKept is the maximum amount of numbers in the steps of a climb and its changes of the gradient,
// 24 MiB, and minKept the number of steps that FindTypical returns whatever their size.
const (
	maxKept = 3 << 20
	minKept = 12
)

// keptSteps returns the number of steps that FindTypical returns at most in d dimensions.
func keptSteps(d int) int { return max(minKept, maxKept/(2*max(d, 1))) }

// arrived is the gain per dimension below which the mode itself has been reached.
const arrived = 1e-3

// FindTypical climbs from x by L-BFGS to the typical set, and there draws from the normal
// distribution that L-BFGS has found. It stops when the predicted gain of a Newton step, and the
// gain of the last few steps, are at most half the dimension: draws are about that far below a
// mode. So it does not climb on to the mode, nor up a funnel without end.
//
// It makes at most most evaluations. each, if not nil, is called after every step with the point
// reached, which it must not keep.
func FindTypical(ctx context.Context, target infer.LogDensity, x []float64, rng *rand.Rand, most int, each func(x []float64)) (_ *Approach, err error) {
	defer infer.Recover(&err)
	if err := wanted(ctx, target, rng); err != nil {
		return nil, err
	}
	tell := func(x []float64, _ float64) bool {
		if each != nil {
			each(x)
		}
		return false
	}
	return approach(ctx, target, x, rng, most, tell)
}

// FindTop climbs from x as [FindTypical] does, but on to the mode, until neither the last step nor
// the predicted next one gains much. After every step it calls stop with the point reached. If stop
// returns true, it ends early with Climbed false.
func FindTop(ctx context.Context, target infer.LogDensity, x []float64, most int, stop func(x []float64, logDensity float64) bool) (_ *Approach, err error) {
	defer infer.Recover(&err)
	if err := wanted(ctx, target); err != nil {
		return nil, err
	}
	return approach(ctx, target, x, nil, most, stop)
}

// approach implements [FindTypical] and [FindTop]. Without rng it climbs to the mode and makes no
// draw.
func approach(ctx context.Context, target infer.LogDensity, x []float64, rng *rand.Rand, most int, stop func(x []float64, logDensity float64) bool) (*Approach, error) {
	options := Options{History: 6, TolObj: -1, TolRelObj: -1, TolGrad: -1, TolRelGrad: -1, TolParam: -1}.withDefaults()
	o := newObjective(ctx, target)
	s, err := newAscent(o, x, options)
	if err != nil {
		return nil, err
	}
	d := len(x)
	const some = 16 // steps of many climbs
	pairs := make([][]float64, 2*some)
	a := &Approach{Steps: pairs[:0:some], Changes: pairs[some:some]}
	gains := make([]float64, 0, some)
	// The first step has at most length one, the unit of the unconstrained scale.
	if norm := floats.Norm(s.g, 2); norm > 0 {
		s.options.InitAlpha = min(s.options.InitAlpha, 1/norm)
	}
	begun := o.meter.Gradients()
	alpha := make([]float64, d)
	for i := range alpha {
		alpha[i] = 1
	}
	keep := options.History
	if rng != nil {
		keep = keptSteps(d)
	}
	for d > 0 && s.reason == 0 && o.meter.Gradients()-begun < int64(most) {
		if err := s.quasiNewton(); err != nil {
			return nil, err
		}
		if s.reason == LineSearchFailed {
			// At the mode itself, no step gains anything. One step may have led there.
			a.Climbed = rng == nil && len(gains) > 0 && -floats.Dot(s.p, s.g) <= arrived*float64(d)
			break
		}
		step, change := s.lastStep, s.lastChange
		if tame(step, change) {
			improveDiagonal(alpha, step, change)
			if len(a.Steps) == keep {
				a.Steps, a.Changes = slices.Delete(a.Steps, 0, 1), slices.Delete(a.Changes, 0, 1)
			}
			a.Steps, a.Changes = append(a.Steps, step), append(a.Changes, change)
		}
		if stop(s.x, -s.f) {
			break
		}
		gains = append(gains, s.oldF-s.f)
		recent := 0.0
		for _, gain := range gains[max(0, len(gains)-settled):] {
			recent += gain
		}
		promise := -floats.Dot(s.p, s.g)
		if gains[len(gains)-1] <= arrived*float64(d) && promise <= arrived*float64(d) ||
			rng != nil && len(gains) >= settled && recent <= 0.5*float64(d) && promise <= float64(d) {
			a.Climbed = true
			break
		}
	}
	a.X, a.LogDensity = s.x, -s.f
	first := max(0, len(a.Steps)-options.History)
	if a.Climbed {
		q := newInverse(s.x, s.g, alpha, a.Steps[first:], a.Changes[first:])
		if q != nil {
			step := make([]float64, d)
			floats.SubTo(step, q.mean, s.x)
			a.Normal, a.Peak = q.metric(), a.LogDensity-0.5*floats.Dot(step, s.g)
		}
		if rng != nil {
			if err := a.draw(o, s, rng, q); err != nil {
				return nil, err
			}
		}
	}
	for _, c := range a.Changes {
		floats.Scale(-1, c)
	}
	a.Scale = alpha
	for i, v := range alpha {
		a.Scale[i] = math.Sqrt(v)
	}
	return a, nil
}

// draw makes a draw from q, and keeps it unless its log density is too low.
func (a *Approach) draw(o *objective, s *ascent, rng *rand.Rand, q *inverse) error {
	d := len(a.X)
	if q == nil {
		return nil
	}
	z, x, grad := make([]float64, d), make([]float64, d), make([]float64, d)
	for i := range z {
		z[i] = rng.NormFloat64()
	}
	q.transform(z, x)
	if !finite(x) {
		return nil
	}
	f, ok, err := o.at(x, grad)
	if err != nil || !ok {
		return err
	}
	if least := a.LogDensity - 0.5*float64(d) - maxGain*math.Sqrt(0.5*float64(d)); -f >= least {
		a.Draw = x
	}
	return nil
}
