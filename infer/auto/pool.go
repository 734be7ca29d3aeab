package auto

import (
	"cmp"
	"errors"
	"math"
	"slices"

	"github.com/ppl-lang/ppl/infer"
	"github.com/ppl-lang/ppl/infer/whiten"
)

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
		if d <= mostCurvature { // all second derivatives are known
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

// pool is what has been seen by all chains so far. Every chain has one of its own,
// but only one of them judges; the others adopt.
type pool struct {
	course
	given   bool
	chart   *infer.Chart // nil: the target has no effects
	learns  bool         // their coordinates
	several bool         // modes are known, and chains begin in different ones on purpose
	metric  infer.Metric // in use
	rounds  [][]record   // by round, then chain
	history []*verdict
}

// verdict is what becomes of a round.
type verdict struct {
	at     *limits
	rounds [][]record // of the pool, with this one

	crew
	coordinates
	choice
	steps
	mixing

	split     bool // chains are in different places, and have been in the round before
	unsettled bool // all of warm-up was made, and it has not settled
	done      bool
	err       error
}

// crew is the chains of the run and what has become of each.
type crew struct {
	chains   int        // of the run
	standing []standing // by chain
	restarts []int      // chains that start again
	wavering bool       // a chain that has done so is useless again, and not dropped yet
}

// coordinates are those of effects.
type coordinates struct {
	evidence []float64 // see infer.Recentring; nil: the target's own
	effects  *evidence // what was learnt of them last; nil: nothing
	vanishes bool      // scales of effects may be 0, as was seen in this round or the one before
}

// choice is the metric.
type choice struct {
	metric     infer.Metric
	why        string
	kept       bool    // the metric in use is taken again, see take, and cannot be learnt anew from the draws there are
	divergence float64 // held-out, of the metric chosen
	attainable float64 // the least that a metric may have
	unripe     bool    // a metric that needs more draws than there are would have a much lower one
}

// steps are those of NUTS in the last round.
type steps struct {
	stepSize    float64 // of all chains
	delta       float64
	divergent   float64 // share of the transitions
	divergences int
	refined     float64 // share of ways from leaf to leaf that were made of smaller steps
}

// mixing is how the chains explore what they have seen.
type mixing struct {
	rhat   float64 // largest
	worth  float64 // effective draws per transition of NUTS, of the poorest quantity
	scales []float64
	slow   []int       // whitened coordinates, the slowest first
	tails  [][]float64 // positions where a coordinate is as extreme as a longer run may be
}

func (p *pool) adopt(v *verdict) {
	p.rounds = v.rounds
	p.history = append(p.history, v)
}

var errNoChains = errors.New("auto: no chain is left")

// The acceptance that NUTS aims at is raised, a step after each round, while more than
// these shares of the transitions diverge; one or two divergences prove nothing.
var (
	deltas    = []float64{0.9, 0.95, 0.98, 0.99}
	deltaFrom = []float64{0.003, 0.01, 0.03, 0.03}
)

const (
	fewDivergent = 3
	ripeRound    = 4 // from which on the metric is good enough for divergences to tell of the target
)

// judge makes the verdict of a round.
func (p *pool) judge(parts []any, last bool) *verdict {
	v := &verdict{at: p.at, steps: steps{delta: p.options.Delta}}
	now := v.muster(parts, p.before())
	if len(now) == 0 {
		v.err = errNoChains
		return v
	}
	v.rounds = append(slices.Clone(p.rounds), now)
	if !p.options.NoPool {
		v.judgeChains(parts, len(v.rounds) == 1 || last || p.several)
	}
	recent := v.present(parts, later(v.rounds))
	draws := 0 // of a chain, on average
	for _, r := range recent {
		draws += len(r.draws)
	}
	draws /= len(now)
	v.countSteps(v.rounds[len(v.rounds)-1])
	recent = v.chooseCoordinates(p, recent)
	to, err := whiten.NewMap(v.metric)
	if err != nil {
		v.err = err
		return v
	}
	v.diagnose(to, recent)
	v.raiseDelta(p)
	settled := v.settled(p, draws)
	before := p.before()
	v.split = len(v.rounds) >= int(p.at.fewestRounds) && before != nil && v.rhat > p.at.apart && before.rhat > p.at.apart && v.groups(to, recent) > 1
	v.extremes(to, recent)
	v.done = last || settled && !p.options.NoEarlyEnd
	v.unsettled = last && !settled && !p.options.NoEarlyEnd
	if v.split || v.done {
		v.worth = worthOf(v.usable(later(v.rounds)))
	}
	return v
}

// before is the verdict of the round before; nil: there is none.
func (p *pool) before() *verdict {
	if len(p.history) == 0 {
		return nil
	}
	return p.history[len(p.history)-1]
}

// muster notes which chains are still there, and returns what these have seen.
func (v *verdict) muster(parts []any, before *verdict) []record {
	var now []record
	v.chains, v.standing = len(parts), make([]standing, len(parts))
	if before != nil {
		copy(v.standing, before.standing)
	}
	for chain, part := range parts {
		r, ok := part.(record)
		v.standing[chain].present = ok
		if ok {
			now = append(now, r)
		}
	}
	return now
}

// countSteps puts the steps of the chains together, but for those that are useless.
func (v *verdict) countSteps(now []record) {
	kept, total := 0, 0
	finer, ways := int64(0), int64(0)
	v.stepSize = 0
	for _, r := range now {
		if r.useless {
			continue
		}
		kept++
		v.stepSize += math.Log(r.stepSize)
		finer, ways = finer+r.finer, ways+r.ways
		v.divergences += r.divergent
		total += len(r.draws)
	}
	v.stepSize = math.Exp(v.stepSize / float64(max(1, kept)))
	v.divergent = float64(v.divergences) / float64(total)
	v.refined = float64(finer) / float64(max(1, ways))
}

// raiseDelta raises the acceptance that NUTS aims at where transitions diverge: a step size at which
// nothing diverges is worth more than one that is optimal elsewhere. (The first rounds come from
// outside.)
func (v *verdict) raiseDelta(p *pool) {
	if before := p.before(); before != nil {
		v.delta = before.delta
	}
	if v.rhat < 1.2 && len(v.rounds) >= ripeRound && v.divergences >= fewDivergent && p.options.raises {
		for i, d := range deltas {
			if v.delta < d && v.divergent > deltaFrom[i] {
				v.delta = d
				break
			}
		}
	}
}

// settled reports whether another round would change little: of step size, divergence and means, which
// chains of so many draws have.
func (v *verdict) settled(p *pool, draws int) bool {
	before := p.before()
	if before == nil {
		return false
	}
	near := v.near() && before.near()
	fewest := int(p.at.fewestRounds)
	if near {
		fewest = fewestNear
	}
	return len(v.restarts) == 0 && !v.wavering && !(v.unripe && v.metric.Dim <= mostDenseNormal) && len(v.rounds) >= fewest &&
		(near || math.Abs(math.Log(v.stepSize/before.stepSize)) < p.at.settledStep) &&
		math.Abs(v.divergence-before.divergence) < 0.05+0.2*v.divergence &&
		v.rhat < 1+p.at.settledRhat+4/float64(draws) && v.delta == before.delta
}

// later is the later half of all transitions, by chain.
func later(rounds [][]record) []record {
	total := 0
	for _, r := range rounds {
		total += len(r[0].draws)
	}
	keep := (total + 1) / 2
	out := make([]record, len(rounds[len(rounds)-1]))
	useless := make([]bool, len(out))
	for _, r := range slices.Backward(rounds) {
		if len(r) != len(out) { // a chain has ended since
			break
		}
		n := len(r[0].draws)
		take := min(n, keep)
		for i := range out {
			out[i].draws = append(slices.Clone(r[i].draws[n-take:]), out[i].draws...)
			out[i].scores = append(slices.Clone(r[i].scores[n-take:]), out[i].scores...)
			useless[i] = useless[i] || r[i].useless
			for range take {
				out[i].unused = append(out[i].unused, useless[i])
			}
			out[i].logDensity = append(slices.Clone(r[i].logDensity[n-take:]), out[i].logDensity...)
		}
		if keep -= take; keep == 0 {
			break
		}
	}
	return out
}

const (
// How much larger the divergence may be in the coordinates learnt, which are better
// where the draws have hardly been; and by some more where the metric is learnt from draws
// in either. (Where that is allowed of all, good metrics, from second derivatives, are given up for coordinates that
// differ by chance: three of six runs of radon_all_hierarchical_intercept had 36,000 gradients of warm-up in place of 13,000.)
// The divergence above which non-centred effects are tried too: what the data tell
// may be far from constant.
)

// chooseCoordinates learns coordinates of effects, and the metric in the better ones of
// them and those in use, in which it returns the draws.
func (v *verdict) chooseCoordinates(p *pool, original []record) []record {
	learn := v.usable(original)
	if p.chart == nil {
		v.choose(p, learn, true)
		return original
	}
	v.evidence = p.chart.Evidence()
	recent := in(p.chart, v.evidence, original)
	v.choose(p, in(p.chart, v.evidence, learn), true)
	if !p.learns {
		return recent
	}
	v.effects = learnEvidence(p.chart, learn, p.at.vanishing)
	v.vanishes = v.effects != nil && v.effects.vanishes
	if before := p.before(); before != nil && before.effects != nil {
		v.vanishes = v.vanishes || before.effects.vanishes
	}
	now := v.evidence
	if now == nil {
		now = p.chart.Of().Written()
	}
	if v.effects == nil {
		return recent
	}
	try := func(evidence []float64, most float64) {
		other := *v
		other.kept = false
		other.choose(p, in(p.chart, evidence, learn), false)
		if other.err == nil && (v.err != nil || other.divergence < most) {
			*v = other
			v.evidence = evidence
			recent = in(p.chart, evidence, original)
		}
	}
	plain := infer.Centred(0, len(v.effects.logScale))
	begins := slices.Equal(now, plain)
	if !v.effects.similar(now) {
		most := p.at.mostWorse * v.divergence
		if !v.kept {
			most += 0.02
		}
		try(v.effects.of, most)
	}
	if !begins && v.divergence > p.at.poorCoordinates {
		try(plain, v.divergence/p.at.mostWorse)
	}
	return recent
}

// usable are the draws to learn from: not those of chains that were useless then, nor
// those on the way to the typical set.
func (v *verdict) usable(recent []record) []record {
	n := 0
	for _, r := range recent {
		n += len(r.logDensity)
	}
	levels := make([]float64, 0, n)
	for i, r := range recent {
		for t, l := range r.logDensity {
			if !recent[i].unused[len(r.unused)-1-t] {
				levels = append(levels, l)
			}
		}
	}
	if len(levels) == 0 {
		return recent
	}
	slices.Sort(levels)
	n = len(levels)
	least := levels[n/2] - v.at.below - v.at.below*(levels[n*3/4]-levels[n/4])
	var out []record
	for _, r := range recent {
		n := len(r.logDensity)
		kept := record{draws: make([][]float64, 0, n), scores: make([][]float64, 0, n), logDensity: make([]float64, 0, n)}
		for t, l := range r.logDensity {
			if l >= least && !r.unused[len(r.unused)-1-t] {
				kept.draws, kept.scores, kept.logDensity = append(kept.draws, r.draws[t]), append(kept.scores, r.scores[t]), append(kept.logDensity, l)
			}
		}
		if len(kept.draws) > 2 {
			out = append(out, kept)
		}
	}
	if len(out) == 0 || len(recent) > 1 && len(out) == 1 {
		return recent
	}
	return out
}

// below is how much lower the log density of a draw may be than the median, in itself and in
// distances between quartiles, for a metric to be learnt from it: a
// normal distribution has one in a million such draws in 4 dimensions. Scores out there may
// be thousands of times as large as elsewhere, and would decide alone.

// How many tails are looked at, and how much farther out than the draws, in the
// coordinate that makes them extreme.
const (
	mostTails = 12
	farther   = 1.5
)

// extremes finds the draws with the most extreme whitened coordinates and moves them
// farther out.
func (v *verdict) extremes(to *whiten.Map, recent []record) {
	d := v.metric.Dim
	type extreme struct {
		size       float64
		coordinate int
		y          []float64
	}
	var all []extreme
	w := make([]float64, d)
	for _, r := range recent {
		for t, x := range r.draws {
			y := make([]float64, d)
			to.Whiten(x, r.scores[t], y, w)
			e := extreme{y: y}
			for j, c := range y {
				if math.Abs(c) > e.size {
					e.size, e.coordinate = math.Abs(c), j
				}
			}
			all = append(all, e)
		}
	}
	slices.SortStableFunc(all, func(a, b extreme) int { return cmp.Compare(b.size, a.size) })
	for _, e := range all[:min(mostTails, len(all))] {
		e.y[e.coordinate] *= farther
		x := make([]float64, d)
		to.Forward(e.y, x)
		v.tails = append(v.tails, x)
	}
}

// diagnose finds R-hat of the log density and of the whitened coordinates, their
// variances, and which of them are slow.
func (v *verdict) diagnose(to *whiten.Map, recent []record) {
	d := v.metric.Dim
	n := len(recent[0].draws)
	means := make([][]float64, len(recent))
	within, lag := make([]float64, d), make([]float64, d)
	y, w, previous := make([]float64, d), make([]float64, d), make([]float64, d)
	for i, r := range recent {
		means[i] = make([]float64, d)
		squares := make([]float64, d)
		for t, x := range r.draws {
			to.Whiten(x, r.scores[t], y, w)
			for j, v := range y {
				means[i][j] += v / float64(n)
				squares[j] += v * v / float64(n)
				if t > 0 {
					lag[j] += (v - previous[j]) * (v - previous[j]) / float64(len(recent)*max(1, n-1))
				}
			}
			copy(previous, y)
		}
		for j := range within {
			within[j] += max(0, squares[j]-means[i][j]*means[i][j]) / float64(len(recent))
		}
	}
	between := func(j int) float64 {
		mean, sum := 0.0, 0.0
		for _, m := range means {
			mean += m[j] / float64(len(means))
		}
		for _, m := range means {
			sum += (m[j] - mean) * (m[j] - mean)
		}
		return sum / float64(max(1, len(means)-1))
	}
	v.rhat = 1
	v.scales = make([]float64, d)
	speed := make([]float64, d)
	for j := range d {
		b := between(j)
		if within[j] > 0 {
			v.rhat = max(v.rhat, math.Sqrt(1+b/within[j]))
		} else if b > 0 {
			v.rhat = infinity
		}
		v.scales[j] = within[j] + b
		speed[j] = lag[j] / max(v.scales[j], 1e-300)
		v.slow = append(v.slow, j)
	}
	slices.SortStableFunc(v.slow, func(a, b int) int {
		switch {
		case speed[a] < speed[b]:
			return -1
		case speed[a] > speed[b]:
			return 1
		}
		return 0
	})
	// Log density.
	mean, variance := make([]float64, len(recent)), 0.0
	grand := 0.0
	for i, r := range recent {
		for _, l := range r.logDensity {
			mean[i] += l / float64(n)
		}
		for _, l := range r.logDensity {
			variance += (l - mean[i]) * (l - mean[i]) / float64(n*len(recent))
		}
		grand += mean[i] / float64(len(recent))
	}
	b := 0.0
	for _, m := range mean {
		b += (m - grand) * (m - grand) / float64(max(1, len(recent)-1))
	}
	if variance > 0 {
		v.rhat = max(v.rhat, math.Sqrt(1+b/variance))
	}
}
