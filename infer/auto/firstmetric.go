package auto

import (
	"github.com/ppl-lang/ppl/infer"
	"github.com/ppl-lang/ppl/infer/whiten"
)

// This file: the first metric, which the climbs of all chains make together.

// pairs are the steps of an optimiser with the changes of the gradient, and where it
// has led.
type pairs struct {
	steps, changes [][]float64

	settled    bool // at a draw from a normal distribution that fits there
	mouth      bool // where a climb should have ended, see chain.mouth
	position   []float64
	logDensity float64
	normal     infer.Metric // about its mean; without a Kind: none
	peak       float64      // the log density there, were it normal
	hasMass    bool
	mass       float64 // logarithm, of the normal distribution there, but for a constant
}

// lesserMass, and half the dimension for what normal distributions miss, is how much less
// the logarithm of the mass of a mode is whose draws are not worth having.
const lesserMass = 20

// first is what the starts of all chains come to.
type first struct {
	metric infer.Metric
	best   pairs // the settled start with the largest log density, or mass
}

// trails reports whether a start is where next to nothing of the distribution is: in a
// mode so much lower that no draw of the run should be there.
func (f *first) trails(p pairs, d int) bool {
	if !p.settled && f.best.settled && p.position != nil { // it has not found anything
		return p.logDensity < f.best.logDensity-100-10*float64(d)
	}
	if p.hasMass && f.best.hasMass {
		return p.mass < f.best.mass-lesserMass-0.5*float64(d)
	}
	return p.settled && f.best.settled && p.logDensity < f.best.logDensity-100-10*float64(d)
}

// firstMetric puts the climbs of all chains together.
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
		if d <= maxCurvature { // all second derivatives are known
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
