package auto

import (
	"errors"
	"math"
	"slices"

	"github.com/ppl-lang/ppl/infer"
	"github.com/ppl-lang/ppl/infer/whiten"
)

// pool is what all chains have observed so far. Each chain has its own copy, but only one chain
// judges; the others adopt its verdict.
type pool struct {
	course
	given   bool
	chart   *infer.Chart // nil: the target has no group-level terms
	learns  bool         // the coordinates of these terms are learnt
	work    work         // in a step
	several bool         // several modes are known, and chains begin in different ones on purpose
	metric  infer.Metric // the current metric
	rounds  [][]record   // records by round, then by chain
	history []*verdict
}

// verdict is the result of a round: what all chains do next.
type verdict struct {
	at     *limits
	rounds [][]record // the rounds of the pool, including this one

	crew
	coordinates
	choice
	steps
	mixing

	fitters *[3]whiten.Fitter // work space of chooseCoordinates: for each half of the draws, and for all

	split     bool // chains are in different places, in this round and the one before
	unsettled bool // all transitions of warm-up are used, but it has not settled
	done      bool
	err       error
}

// crew is the state of all chains of the run.
type crew struct {
	chains   int        // number of chains of the run
	standing []standing // state of each chain
	restarts []int      // indices of the chains that restart
	plateau  bool       // a chain is on a plateau, see plateaus
	wavering bool       // a restarted chain is useless again, but has not been dropped
}

// coordinates are the coordinates of group-level terms.
type coordinates struct {
	evidence []float64 // see infer.Recentring; nil: the target's own
	learnt   *evidence // what was last learnt about the terms; nil: nothing
	vanishes bool      // scales of terms may be 0, as seen in this round or the one before
}

// choice is the chosen metric and its divergence.
type choice struct {
	metric infer.Metric
	why    string
	// the previous metric is kept, see take; it cannot be learnt from the current draws
	kept       bool
	divergence float64 // held-out divergence of the chosen metric
	attainable float64 // smallest divergence that any metric can reach
	unripe     bool    // with more draws, another kind of metric would have a much smaller divergence
}

// steps describes the NUTS steps of the last round.
type steps struct {
	stepSize    float64 // mean over all chains
	delta       float64
	divergent   float64 // share of divergent transitions
	divergences int
	refined     float64 // share of the paths between leaves that were divided into smaller steps
	length      float64 // number of steps of a transition
}

// mixing describes how well the chains explore.
type mixing struct {
	rhat   float64 // largest R-hat
	worth  float64 // effective draws per transition of NUTS, for the quantity that mixes worst
	scales []float64
	slow   []int       // slow whitened coordinates, the slowest first
	tails  [][]float64 // points in the tails, as extreme in one coordinate as those that a longer run may reach
}

func (p *pool) adopt(v *verdict) {
	p.rounds = v.rounds
	p.history = append(p.history, v)
}

var errNoChains = errors.New("auto: no chain is left")

// deltas are the successive target acceptances of NUTS. After a round in which the share of
// divergent transitions exceeds deltaFrom, the next one is used. One or two divergences are not
// enough.
var (
	deltas    = []float64{0.9, 0.95, 0.98, 0.99}
	deltaFrom = []float64{0.003, 0.01, 0.03, 0.03}
)

const (
	fewDivergent = 3
	// the first round whose metric is good enough for divergences to be a property of the target
	ripeRound = 4
)

// judge computes the verdict of a round. With late, chains in several known modes may end warm-up
// after this round.
func (p *pool) judge(parts []any, last, late bool) *verdict {
	v := &verdict{at: p.at, steps: steps{delta: p.options.Delta}}
	now := v.muster(parts, p.before())
	if len(now) == 0 {
		v.err = errNoChains
		return v
	}
	v.rounds = append(slices.Clone(p.rounds), now)
	if !p.options.NoPool {
		v.judgeChains(p.chart, parts, len(v.rounds) == 1 || last, p.several)
	}
	forget(v.rounds)
	own := v.present(parts, later(v.rounds))
	if len(own) == 0 { // those that were not dropped have ended
		v.err = errNoChains
		return v
	}
	recent := own
	draws := 0 // per chain, on average
	for _, r := range recent {
		draws += len(r.draws)
	}
	draws /= len(now)
	v.countSteps(v.rounds[len(v.rounds)-1])
	recent = v.chooseCoordinates(p, recent)
	v.unripe = v.unripe && !v.plateau // second derivatives there would mislead
	to, err := whiten.NewMap(v.metric)
	if err != nil {
		v.err = err
		return v
	}
	v.diagnose(to, recent)
	v.raiseDelta(p)
	settled := v.settled(p, draws)
	before := p.before()
	v.split = len(v.rounds) >= int(p.at.minRounds) && before != nil && v.rhat > p.at.apart && before.rhat > p.at.apart && v.groups(to, recent) > 1
	v.done = last || settled && !p.options.NoEarlyEnd
	v.unsettled = last && !settled && !p.options.NoEarlyEnd
	if v.split || v.done || p.several && late { // warm-up may end here
		v.worth = worthOf(v.usable(own))
		v.extremes(to, recent)
	}
	return v
}

// before returns the verdict of the previous round; nil: there is none.
func (p *pool) before() *verdict {
	if len(p.history) == 0 {
		return nil
	}
	return p.history[len(p.history)-1]
}

// muster records which chains are still present, and returns their records.
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

// countSteps combines the steps of all chains that are not useless.
func (v *verdict) countSteps(now []record) {
	kept, total := 0, 0
	finer, ways, leapfrogs := int64(0), int64(0), 0
	v.stepSize = 0
	for _, r := range now {
		if r.useless {
			continue
		}
		kept++
		v.stepSize += math.Log(r.stepSize)
		finer, ways = finer+r.finer, ways+r.ways
		leapfrogs += r.leapfrogs
		v.divergences += r.divergent
		total += r.transitions
	}
	v.stepSize = math.Exp(v.stepSize / float64(max(1, kept)))
	v.divergent = float64(v.divergences) / float64(total)
	v.refined = float64(finer) / float64(max(1, ways))
	v.length = float64(leapfrogs) / float64(max(1, total))
}

// raiseDelta raises the target acceptance of NUTS if transitions diverge: a step size without
// divergences is better than one that is optimal elsewhere. It ignores the first rounds, since
// chains start far outside the typical set.
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

// settled reports whether another round would change little: whether the step size, the divergence
// and the means of the chains are stable. A chain that has started again gets two rounds to arrive.
// draws is the number of draws of each chain.
func (v *verdict) settled(p *pool, draws int) bool {
	before := p.before()
	if before == nil {
		return false
	}
	near := v.near() && before.near()
	fewest := int(p.at.minRounds)
	if near {
		fewest = minRoundsNear
	}
	return len(v.restarts) == 0 && len(before.restarts) == 0 && !v.wavering && !(v.unripe && v.metric.Dim <= maxDenseNormal) && len(v.rounds) >= fewest &&
		(near || math.Abs(math.Log(v.stepSize/before.stepSize)) < p.at.settledStep) &&
		math.Abs(v.divergence-before.divergence) < 0.05+0.2*v.divergence &&
		v.rhat < 1+p.at.settledRhat+4/float64(draws) && v.delta == before.delta
}

// pooledRounds limits the draws that are used in many dimensions, to those of so many full rounds
// (see recorded). Otherwise, the memory of learning would grow with the number of rounds.
const pooledRounds = 2

// laterHalf returns where the later half of all recorded draws begins: the first round whose draws
// are used, the number of its draws to skip, and the number of draws of each chain. In many
// dimensions it returns less than half of them.
func laterHalf(rounds [][]record) (first, skip, n int) {
	total := 0
	for _, r := range rounds {
		total += len(r[0].draws)
	}
	last := rounds[len(rounds)-1]
	chains := len(last)
	keep := (total + 1) / 2
	if len(last[0].draws) > 0 {
		keep = min(keep, pooledRounds*recorded(len(last[0].draws[0]), chains))
	}
	first = len(rounds)
	for first > 0 && n < keep && len(rounds[first-1]) == chains { // stop at a round before which a chain has ended
		first--
		n += len(rounds[first][0].draws)
	}
	skip = max(0, n-keep)
	return first, skip, n - skip
}

// forget releases the memory of draws that are not used any more: the later half of more rounds
// does not begin earlier.
func forget(rounds [][]record) {
	first, _, _ := laterHalf(rounds)
	for _, round := range rounds[:first] {
		for _, r := range round {
			clear(r.draws)
			clear(r.scores)
		}
	}
}

// later returns the later half of all recorded draws, by chain.
func later(rounds [][]record) []record {
	first, skip, n := laterHalf(rounds)
	chains := len(rounds[len(rounds)-1])
	out := make([]record, chains)
	for i := range out {
		both := make([][]float64, 2*n)
		o := record{draws: both[:0:n], scores: both[n:n], logDensity: make([]float64, 0, n), unused: make([]bool, 0, n)}
		for k, r := range rounds[first:] {
			from := 0
			if k == 0 {
				from = skip
			}
			o.draws, o.scores = append(o.draws, r[i].draws[from:]...), append(o.scores, r[i].scores[from:]...)
			o.logDensity = append(o.logDensity, r[i].logDensity[from:]...)
		}
		useless := false
		for k, r := range slices.Backward(rounds[first:]) {
			useless = useless || r[i].useless
			count := len(r[i].draws)
			if k == 0 {
				count -= skip
			}
			for range count {
				o.unused = append(o.unused, useless)
			}
		}
		out[i] = o
	}
	return out
}

// chooseCoordinates learns the coordinates of group-level terms, and then a metric in the new
// coordinates and one in the current coordinates. It keeps the better of the two and returns the
// draws in its coordinates. The divergence in the new coordinates may be somewhat larger
// (maxWorse), since they are better where there are few draws, and larger by another 0.02 if
// both metrics are learnt from draws. The second allowance does not apply to metrics from second
// derivatives: with it, good ones were given up by chance, and three of six runs of
// radon_all_hierarchical_intercept took 36,000 gradients for warm-up instead of 13,000. If a
// step takes more work in the new coordinates, they must be better by maxWorse instead. In a
// series of 2000 volatilities they were no better, and a run took three times as long. If the
// divergence is above poorCoordinates, non-centred coordinates are also tried, since the learnt
// ones may not suit all regions.
func (v *verdict) chooseCoordinates(p *pool, original []record) []record {
	v.fitters = new([3]whiten.Fitter)
	defer func() { v.fitters = nil }() // release their memory
	if p.chart == nil {
		v.choose(p, v.usable(original), true)
		return original
	}
	v.evidence = p.chart.Evidence()
	levelsInUse(p.chart, original)
	recent := in(p.chart, v.evidence, original)
	v.choose(p, v.usable(recent), true)
	if !p.learns {
		return recent
	}
	v.learnt = learnEvidence(p.chart, v.usable(original), p.at.vanishing)
	v.vanishes = v.learnt != nil && v.learnt.vanishes
	if before := p.before(); before != nil && before.learnt != nil {
		v.vanishes = v.vanishes || before.learnt.vanishes
	}
	now := v.evidence
	if now == nil {
		now = p.chart.Recentring().Written()
	}
	if v.learnt == nil {
		return recent
	}
	try := func(evidence []float64, most float64) {
		other := *v
		other.kept = false
		there := in(p.chart, evidence, original)
		other.choose(p, other.usable(there), false)
		if other.err == nil && (v.err != nil || other.divergence < most) {
			*v = other
			v.evidence = evidence
			recent = there
		}
	}
	plain := infer.Centred(0, len(v.learnt.logScale))
	begins := slices.Equal(now, plain)
	if !v.learnt.similar(now) {
		most := p.at.maxWorse * v.divergence
		if !v.kept {
			most += 0.02
		}
		if p.work.more(v.learnt.of, now) {
			most = v.divergence / p.at.maxWorse
		}
		try(v.learnt.of, most)
	}
	if !begins && v.divergence > p.at.poorCoordinates {
		try(plain, v.divergence/p.at.maxWorse)
	}
	return recent
}

// usable returns the draws from which to learn. It leaves out draws of chains that were useless at
// the time, and draws on the way to the typical set. The latter have a log density far below the
// median (threshold below, in nats and in distances between quartiles). A normal distribution in 4
// dimensions has one such draw in a million. The scores on the way may be thousands of times as
// large as elsewhere, and would dominate.
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
		all := true
		for t, l := range r.logDensity {
			all = all && l >= least && !r.unused[len(r.unused)-1-t]
		}
		if all && n > 2 {
			out = append(out, record{draws: r.draws[:n:n], scores: r.scores[:n:n], logDensity: r.logDensity[:n:n]})
			continue
		}
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
