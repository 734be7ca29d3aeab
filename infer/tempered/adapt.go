package tempered

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/ppl-lang/ppl/infer"
	"github.com/ppl-lang/ppl/infer/warmup"
	"github.com/ppl-lang/ppl/infer/whiten"
)

// New makes the kernel of a ladder from a description of the target, for samplers that switch to
// tempering within a run. The stages of [Kernel.Stages] then adapt it. Zero options have the
// defaults of [Sampler].
func New(rng *rand.Rand, target *infer.Meter, options Sampler, start Start) (*Kernel, error) {
	if err := options.Validate(); err != nil {
		return nil, err
	}
	k := newKernel(options, target)
	return k, k.begin(rng, start)
}

// Constants of adaptation.
const (
	firstFitted = 4 // initial number of intervals of the fitted leg
	firstBroad  = 6 // initial number of intervals of the broad leg, at β = (i/n)^firstPower
	firstPower  = 3 //
	// share of warm-up, near its end, in which the schedule is learnt and modes are not searched
	// for
	scheduleShare = 0.1
	tuneShare     = 0.1     // share of warm-up, at its end, in which only step sizes are adapted
	minRound      = 20      // minimum number of scans in a round
	keepFloats    = 4 << 20 // maximum amount of numbers that draws of all levels may take
	keepDraws     = 400     // maximum number of draws kept per level
	fitDraws      = 1000    // maximum number of draws, of all chains, to which a reference is fitted
	averageReach  = 2       // factor on the first step size in dual averaging in later rounds, see warmup.Averaging
)

// begin makes the initial ladder.
func (k *Kernel) begin(rng *rand.Rand, start Start) error {
	parts := slices.Clone(start.Modes)
	lift(parts)
	var err error
	if k.fitted, err = NewMixture(parts); err != nil {
		return err
	}
	k.broad = nil
	if !k.options.OneLeg {
		broad := start.Broad
		if broad.Kind == "" {
			broad = widen(parts)
		}
		if k.broad, err = NewMixture([]Component{{1, broad}}); err != nil {
			return err
		}
	}
	common := within(parts)
	most := k.options.Replicas
	var up, down []rung
	n := min(firstFitted, max(1, most-1))
	for _, beta := range spread(n, 1) {
		up = append(up, rung{beta, common, 0})
	}
	if n := min(firstBroad, most-len(up)); k.broad != nil && n > 0 {
		wide, narrow := variances(k.broad.parts[0].Normal), variances(common)
		betas := spread(n, firstPower)
		for i := n - 1; i >= 0; i-- {
			m := infer.Metric{Kind: infer.Diagonal, Dim: len(wide), Inverse: make([]float64, len(wide))}
			for j := range wide {
				m.Inverse[j] = 1 / ((1-betas[i])/wide[j] + betas[i]/narrow[j])
			}
			down = append(down, rung{betas[i], m, 0})
		}
	}
	if err := k.build(up, down); err != nil {
		return err
	}
	k.replicas = nil
	for i, l := range k.levels {
		z := newPoint(k.target.Dim())
		switch {
		case i == k.cold:
			copy(z.Position, start.At)
			err = l.h.Reset(z)
		case len(start.Points) > 0 && i%2 == 0:
			copy(z.Position, start.Points[i/2%len(start.Points)])
			err = l.h.Reset(z)
		default:
			err = k.place(rng, l, z, start.At)
		}
		if err != nil {
			return err
		}
		k.replicas = append(k.replicas, &replica{point: z})
	}
	if err := k.searchSteps(rng); err != nil {
		return err
	}
	k.reset()
	return nil
}

// place draws a point for a level from the fitted reference. If the density of the target is 0 at
// each of several such points, it uses the point otherwise.
func (k *Kernel) place(rng *rand.Rand, l *level, z *infer.Point, otherwise []float64) error {
	for range 20 {
		k.fitted.Sample(rng, z.Position)
		if err := l.h.Reset(z); err != nil || !math.IsInf(z.LogDensity, -1) {
			return err
		}
	}
	copy(z.Position, otherwise)
	return l.h.Reset(z)
}

// searchSteps finds step sizes for the levels that have none.
func (k *Kernel) searchSteps(rng *rand.Rand) error {
	for i, l := range k.levels {
		if l.step > 0 {
			continue
		}
		l.step = 1
		if l.beta == 0 || math.IsInf(k.replicas[i].point.LogDensity, -1) {
			continue
		}
		s := infer.State{Rng: rng, Target: k.target, Hamiltonian: l.h, Point: k.replicas[i].point, StepSize: 0.5}
		if err := (warmup.Search{}).Run(context.Background(), &s); err != nil {
			return err
		}
		l.step = s.StepSize
	}
	return nil
}

// Stages returns a warm-up of n transitions. It begins with rounds, each about twice as long as the
// one before. After each round, reference, metrics, schedule and number of replicas are learnt from
// its draws. Then a round learns the schedule for the final reference, including the shapes of
// modes that were found last. In the last round, only step sizes are adapted.
func (k *Kernel) Stages(n int) []infer.Stage {
	part := func(share float64, left int) int {
		return min(max(int(share*float64(n)), minRound), left)
	}
	tune := part(tuneShare, n)
	schedule := part(scheduleShare, n-tune)
	var stages []infer.Stage
	for i, length := range rounds(n - tune - schedule) {
		stages = append(stages, round{k, length, i == 0, learnAll})
	}
	if schedule > 0 {
		stages = append(stages, round{k, schedule, false, learnSchedule})
	}
	return append(stages, round{k, tune, false, learnSteps}, settle{k})
}

// learns says what is learnt from a round in addition to step sizes.
type learns int

const (
	learnSteps learns = iota
	learnSchedule
	learnAll
)

// rounds returns the lengths of rounds, which double and sum to n.
func rounds(n int) (out []int) {
	for length := minRound; n > 0; length *= 2 {
		if n < length+2*length {
			length = n
		}
		out = append(out, length)
		n -= length
	}
	return out
}

// learning has the draws that are kept in a round, level by level.
type learning struct {
	every, seen int // one in every scans is kept; seen is the number of scans so far
	draws       [][][]float64
	scores      [][][]float64 // scores of the levels' densities; none for references
	logs        [][]float64   // log densities of the target at the draws
}

// learn stores the states of all levels, if the round needs them.
func (k *Kernel) learn() {
	l := k.learning
	if l == nil {
		return
	}
	l.seen++
	if (l.seen-1)%l.every != 0 {
		return
	}
	for i, r := range k.replicas {
		log, _ := ofTarget(r.point)
		l.draws[i] = append(l.draws[i], slices.Clone(r.point.Position))
		l.logs[i] = append(l.logs[i], log)
		if k.levels[i].beta > 0 {
			l.scores[i] = append(l.scores[i], slices.Clone(r.point.Gradient))
		}
	}
}

// share is what a chain tells the others after a round.
type share struct {
	draws, scores [][]float64 // draws of the target, and their scores
	logs          []float64
	found         []local
}

// learnt is the fitted reference with which all chains continue. Found says that it has modes that
// no chain had before, whose shapes are poorly known.
type learnt struct {
	parts []Component
	found bool
}

// learnReference fits a reference to the draws of all chains. It starts from the old reference and
// the modes that the chains have found.
func learnReference(old *Mixture, shares []any) learnt {
	var all share
	for _, part := range shares {
		if part != nil {
			s := part.(share)
			all.draws, all.scores = append(all.draws, s.draws...), append(all.scores, s.scores...)
			all.logs, all.found = append(all.logs, s.logs...), merged(all.found, s.found)
		}
	}
	if every := 1 + (len(all.draws)-1)/fitDraws; every > 1 {
		n := 0
		for i := 0; i < len(all.draws); i += every {
			all.draws[n], all.scores[n], all.logs[n] = all.draws[i], all.scores[i], all.logs[i]
			n++
		}
		all.draws, all.scores, all.logs = all.draws[:n], all.scores[:n], all.logs[:n]
	}
	m := old
	if len(all.draws) >= minPoints {
		if fit, err := refit(old, all.draws, all.scores, all.logs); err == nil {
			m = fit
		}
	}
	parts := m.Components()
	w, found := known{m, massOf(m, all.draws, all.logs)}, false
	for _, f := range all.found {
		if w.explainsMode(f) {
			continue
		}
		w = w.with(f)
		f.Weight, found = foundWeight, true
		if len(parts) == maxComponents { // drop the component with the smallest weight
			least := 0
			for i, p := range parts {
				if p.Weight < parts[least].Weight {
					least = i
				}
			}
			parts = slices.Delete(parts, least, least+1)
		}
		parts = append(parts, f.Component)
	}
	lift(parts)
	return learnt{parts, found}
}

// strange reports whether a reference does not explain some draws of the chains.
func strange(m *Mixture, shares []any) bool {
	for _, part := range shares {
		if s, ok := part.(share); ok {
			if _, found := foreign(m, s.draws, s.scores); found {
				return true
			}
		}
	}
	return false
}

// round is a stage of warm-up with a given number of transitions.
type round struct {
	k      *Kernel
	length int
	first  bool
	learns learns
}

// Run implements [infer.Stage].
func (r round) Run(ctx context.Context, s *infer.State) error {
	k := r.k
	if !k.ready() {
		return errNoLadder
	}
	k.reset()
	reach := float64(averageReach)
	if r.first {
		reach = 10
	}
	for _, l := range k.levels {
		if l.beta > 0 {
			l.averaging = warmup.NewDualAveraging(warmup.Averaging{Delta: k.options.Delta, Reach: reach}, l.step)
		}
	}
	if r.learns > learnSteps {
		n := len(k.levels)
		most := min(keepDraws, max(2*minPoints, keepFloats/(2*n*max(1, k.target.Dim()))))
		k.learning = &learning{every: 1 + (r.length-1)/most, draws: make([][][]float64, n), scores: make([][][]float64, n), logs: make([][]float64, n)}
	}
	defer func() { k.learning = nil }()
	begun := k.target.Gradients()
	for range r.length {
		if _, err := s.Advance(); err != nil {
			return err
		}
	}
	for _, l := range k.levels {
		if l.averaging != nil {
			l.step, l.averaging = l.averaging.Final(), nil
		}
	}
	if r.learns == learnSteps {
		return nil
	}
	l := k.learning
	own := share{draws: l.draws[k.cold], scores: l.scores[k.cold], logs: l.logs[k.cold]}
	if r.learns == learnAll {
		var err error
		spent := k.target.Gradients() - begun
		if own.found, err = k.seek(ctx, s.Rng, spent); err != nil {
			return err
		}
		k.searched += k.target.Gradients() - begun - spent
	}
	combine := func(parts []any) any {
		// A good reference is kept in this round, because the schedule was learnt for it.
		if r.learns == learnSchedule && !k.found && !strange(k.fitted, parts) {
			return learnt{}
		}
		return learnReference(k.fitted, parts)
	}
	shared := any(nil)
	if k.options.Alone {
		shared = combine([]any{own})
	} else {
		var err error
		if shared, err = s.Exchange(own, combine); err != nil {
			return err
		}
	}
	next := shared.(learnt)
	k.found = next.found
	return k.adapt(next.parts)
}

// settle is the stage that sets all counts to 0 before sampling.
type settle struct{ k *Kernel }

// Run implements [infer.Stage].
func (s settle) Run(context.Context, *infer.State) error {
	s.k.reset()
	return nil
}

// adapt makes a new ladder from the draws of a round. The fitted reference consists of the
// components in next; if there are none, the old one stays.
func (k *Kernel) adapt(next []Component) error {
	metrics := make([]infer.Metric, len(k.levels))
	for i := range k.levels {
		metrics[i] = k.metricOf(i)
	}
	rejected := k.rejections()
	old, replicas, cold := k.levels, k.replicas, k.cold
	if len(next) > 0 {
		m, err := NewMixture(next)
		if err != nil {
			return err
		}
		k.fitted = m
	}
	type leg struct {
		places     []int // indices of the old levels, from the reference to the target
		betas      []float64
		cumulative []float64
		n          int // number of intervals wanted
	}
	legs := make([]leg, 0, 2)
	count := func(g leg) leg {
		for _, i := range g.places {
			g.betas = append(g.betas, old[i].beta)
		}
		g.n = intervals(g.cumulative[len(g.cumulative)-1], math.MaxInt32)
		return g
	}
	var places []int
	for i := range cold + 1 {
		places = append(places, i)
	}
	legs = append(legs, count(leg{places: places, cumulative: barrier(rejected[:cold])}))
	if len(old) > cold+1 {
		var places []int
		var r []float64
		for i := len(old) - 1; i >= cold; i-- {
			places = append(places, i)
			if i > cold {
				r = append(r, rejected[i-1])
			}
		}
		legs = append(legs, count(leg{places: places, cumulative: barrier(r)}))
	}
	// If there are not enough replicas, the fitted leg gets its intervals first.
	most := k.options.Replicas - 1
	if len(legs) == 2 {
		legs[0].n = max(1, min(legs[0].n, most-max(1, most/3)))
		legs[1].n = max(1, min(legs[1].n, most-legs[0].n))
	} else {
		legs[0].n = min(legs[0].n, max(1, most))
	}
	var rungs [2][]rung
	var from [2][]int
	for g, leg := range legs {
		betas := equalise(leg.betas, leg.cumulative, leg.n)
		for _, beta := range betas {
			// The new level starts with the metric and step size of the old level that is nearest
			// on the scale of the barrier.
			at := leg.places[nearestLevel(leg.betas, leg.cumulative, beta)]
			if beta > 0 && old[at].beta == 0 && len(leg.places) > 1 {
				at = leg.places[1]
			}
			rungs[g] = append(rungs[g], rung{beta, metrics[at], old[at].step})
			from[g] = append(from[g], at)
		}
	}
	up := rungs[0]
	sources := from[0]
	var down []rung
	for i := len(rungs[1]) - 2; i >= 0; i-- { // the target belongs to the other leg
		down = append(down, rungs[1][i])
		sources = append(sources, from[1][i])
	}
	if err := k.build(up, down); err != nil {
		return err
	}
	k.replicas = nil
	for i, level := range k.levels {
		z := newPoint(k.target.Dim())
		z.CopyFrom(replicas[sources[i]].point)
		if i == k.cold {
			z.CopyFrom(replicas[cold].point)
		}
		if log, _ := ofTarget(z); math.IsInf(log, -1) { // at a draw of a reference, the density may be 0
			z.CopyFrom(replicas[cold].point)
		}
		level.h.enter(z)
		k.replicas = append(k.replicas, &replica{point: z})
	}
	k.odd = false
	k.reset()
	return nil
}

// nearestLevel returns the index of the level nearest to β on the scale of the barrier and, if
// several are equally near, by β itself.
func nearestLevel(betas, cumulative []float64, beta float64) int {
	at := func(b float64) float64 {
		for j := 1; j < len(betas); j++ {
			if b <= betas[j] {
				return cumulative[j-1] + (cumulative[j]-cumulative[j-1])*(b-betas[j-1])/(betas[j]-betas[j-1]) + 1e-9*b
			}
		}
		return cumulative[len(cumulative)-1]
	}
	best, want := 0, at(beta)
	for j := range betas {
		if math.Abs(cumulative[j]+1e-9*betas[j]-want) < math.Abs(cumulative[best]+1e-9*betas[best]-want) {
			best = j
		}
	}
	return best
}

// metricOf returns the metric learnt from the draws of a level. Trajectories stay within modes, so
// deviations are measured from the component of the fitted reference that is nearest to each draw.
func (k *Kernel) metricOf(i int) infer.Metric {
	draws, scores := k.learning.draws[i], k.learning.scores[i]
	now := k.levels[i].h.inner.Metric()
	if len(scores) < 2*minPoints {
		return now
	}
	var s whiten.Sample
	for _, own := range k.fitted.assign(draws) {
		if len(own) == 0 {
			continue
		}
		for _, j := range own {
			s.Draws, s.Scores = append(s.Draws, draws[j]), append(s.Scores, scores[j])
		}
		s.Groups = append(s.Groups, len(own))
	}
	m, err := whiten.Fit(kindOf(k.target.Dim(), len(draws)), s, whiten.Options{})
	if err != nil {
		return now
	}
	m.Mean = nil
	if _, err := NewMixture([]Component{{1, m}}); err != nil {
		return now
	}
	return m
}
