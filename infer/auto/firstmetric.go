package auto

import (
	"github.com/ppl-lang/ppl/infer"
	"github.com/ppl-lang/ppl/infer/whiten"
)

// This file computes the first metric, from the climbs of all chains together.

// pairs are the steps of an optimiser with the changes of the gradient along them, and the point
// where the optimiser ended.
type pairs struct {
	steps, changes [][]float64

	settled    bool // the chain is at a draw from a normal distribution that fits the target there
	mouth      bool // the climb went into the neck of a funnel and the chain was moved back, see chain.mouth
	position   []float64
	logDensity float64
	normal     infer.Metric // that normal distribution; without a Kind: none
	// log density of the target at the mean, if it were that normal distribution
	peak    float64
	hasMass bool
	mass    float64 // log mass of that normal distribution, up to a constant
}

// lesserMass limits which modes matter. A mode is ignored if its log mass is below that of the
// largest mode by more than lesserMass plus half the dimension. The second term allows for the
// error of normal approximations.
const lesserMass = 20

// first combines the results of the starts of all chains.
type first struct {
	metric infer.Metric
	best   pairs // the settled start with the largest mass or, without masses, log density
}

// trails reports whether a start is in a mode so far below the best one that the run should have no
// draws from it.
func (f *first) trails(p pairs, d int) bool {
	if !p.settled && f.best.settled && p.position != nil { // the start has not settled in a mode, although another one has
		return p.logDensity < f.best.logDensity-100-10*float64(d)
	}
	if p.hasMass && f.best.hasMass {
		return p.mass < f.best.mass-lesserMass-0.5*float64(d)
	}
	return p.settled && f.best.settled && p.logDensity < f.best.logDensity-100-10*float64(d)
}

// firstMetric combines the climbs of all chains into the first metric.
func (w *chain) firstMetric(own pairs) (*first, error) {
	d := w.Target.Dim()
	all, err := w.Exchange(own, func(parts []any) any {
		s := whiten.Sample{Plain: true}
		f := &first{metric: infer.Metric{Kind: infer.Unit, Dim: d}}
		for _, part := range parts {
			p, ok := part.(pairs)
			if !ok || !p.settled {
				continue
			}
			larger := p.logDensity > f.best.logDensity
			if p.hasMass && f.best.hasMass {
				larger = p.mass > f.best.mass
			}
			if !f.best.settled || larger {
				f.best = p
			}
		}
		for _, part := range parts {
			if p, ok := part.(pairs); ok && !f.trails(p, d) {
				s.Draws, s.Scores = append(s.Draws, p.steps...), append(s.Scores, p.changes...)
			}
		}
		kind := w.options.Metric
		if kind == "" || kind == infer.Dense {
			kind = infer.LowRank
		}
		o := whiten.Options{Shrink: 1e-6, Cutoff: 1.1}
		if d <= maxCurvature { // the pairs determine all second derivatives
			o.Shrink, o.Rank = 1e-10, d
		}
		m, err := whiten.Fit(kind, s, o)
		if err != nil {
			m, err = whiten.Fit(infer.Diagonal, s, whiten.Options{})
		}
		if err == nil {
			f.metric = m
		}
		return f
	})
	if err != nil {
		return nil, err
	}
	return all.(*first), nil
}
