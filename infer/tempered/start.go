package tempered

import (
	"cmp"
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/ppl-lang/ppl/infer"
	"github.com/ppl-lang/ppl/infer/nuts"
	"github.com/ppl-lang/ppl/infer/optimize"
	"github.com/ppl-lang/ppl/infer/warmup"
	"github.com/ppl-lang/ppl/internal/sorting"
)

var errNoLadder = errors.New("tempered: the stages of a ladder were run before it was made")

// Constants of the search for modes.
//
// In many dimensions, the narrower of two modes attracts few of the starting points. Of four modes
// in 20 dimensions, with scales 0.1 to 0.15, at most one climb in a thousand leads to the
// narrowest. So many climbs are needed; near a normal mode each takes only about ten gradients.
const (
	climbs     = 100 // maximum number of evaluations per climb, plus twice the root of the dimension
	summits    = 30  // maximum number of iterations from the end of a climb to the summit
	localWarm  = 100 // number of transitions of NUTS for adaptation, at the end of a climb
	localDraws = 60  // number of draws from which a component is learnt, plus one per dimension up to maxDense
	localDepth = 6
	patience   = 6   // the search ends after this number of consecutive short runs that lead to known modes
	scanned    = 250 // number of points per start at which the density is evaluated
	scanClimbs = 8   // number of climbs from the best of these points
	ofGroup    = 2   // maximum number of climbs per group of points
	ofHeat     = 64  // maximum number of points from which climbs may begin, per heat
	maxStarts  = 8   // maximum number of starts while they find modes, as a multiple of those asked for

	searchShare = 0.2 // share of warm-up's gradients for further searches: half for evaluating points, half for climbs
	usualLength = 8   // approximate number of gradients of a NUTS transition

	seekBest    = 8    // number of climbs after a round, from the draws that are least explained
	seekRuns    = 2    // number of short runs from draws that are not explained
	foundWeight = 0.05 // weight of a component found in this way
)

// radii are the radii of the random points from which climbs begin, in this order.
var radii = []float64{2, 4, 1, 2, 8, 2, 16, 4, 2, 1, 32, 2, 8, 2, 64, 4}

// local describes a mode: a normal distribution and the log mass. The weight of its component is
// not used.
type local struct {
	Component
	log   float64
	draws [][]float64
	logs  []float64 // log densities of the draws
}

// known is a description of the target: a mixture, and the log of its mass.
type known struct {
	m   *Mixture // nil: no mode is known
	log float64
}

// knownOf combines the modes found into one description.
func knownOf(found []local) known {
	if len(found) == 0 {
		return known{}
	}
	var logs []float64
	for _, f := range found {
		logs = append(logs, f.log)
	}
	total := logSum(logs)
	var parts []Component
	for _, f := range found {
		parts = append(parts, Component{max(math.Exp(f.log-total), 1e-250), f.Normal})
	}
	m, err := NewMixture(parts)
	if err != nil {
		return known{}
	}
	return known{m, total}
}

// excess returns the log density of the target minus that of the known mixture.
func (w known) excess(x []float64, log float64) float64 {
	if w.m == nil {
		return math.Inf(1)
	}
	return log - w.log - w.m.Log(x)
}

// explains reports whether the known mixture explains the density at a point. In many dimensions it
// allows a larger difference, since normal distributions learnt from few draws are not exact.
func (w known) explains(x []float64, log float64) bool {
	return w.excess(x, log) < 4+math.Sqrt(float64(len(x)))
}

// explainsMode reports whether most draws of a mode are explained.
func (w known) explainsMode(f local) bool {
	n := 0
	for i, x := range f.draws {
		if w.explains(x, f.logs[i]) {
			n++
		}
	}
	return 2*n > len(f.draws)
}

// search is the stage of warm-up that looks for modes. It climbs from random points. At each end
// that no known mode explains, it makes a short run of NUTS and fits a normal distribution to its
// draws. The ladder begins with the modes of all chains.
type search struct{ k *Kernel }

// Run implements [infer.Stage].
func (f search) Run(ctx context.Context, s *infer.State) error {
	k := f.k
	first := slices.Clone(s.Point.Position)
	own, err := k.find(ctx, s.Rng, first)
	if err != nil {
		return err
	}
	all := own
	if !k.options.Alone {
		shared, err := s.Exchange(own, func(parts []any) any {
			var all []local
			for _, p := range parts {
				if p != nil {
					all = merged(all, p.([]local))
				}
			}
			return all
		})
		if err != nil {
			return err
		}
		all = shared.([]local)
	}
	if len(all) == 0 {
		if err := k.improvise(s.Rng, first); err != nil {
			return err
		}
	} else {
		start := Start{At: first}
		w := knownOf(all)
		for i, m := range all {
			m.Weight = w.m.parts[i].Weight
			start.Modes = append(start.Modes, m.Component)
		}
		if len(own) > 0 {
			start.At = own[0].draws[len(own[0].draws)-1]
		}
		for i := range localDraws / 4 {
			for _, m := range own {
				start.Points = append(start.Points, m.draws[len(m.draws)-1-i])
			}
		}
		if err := k.begin(s.Rng, start); err != nil {
			return err
		}
	}
	copy(s.Point.Position, k.replicas[k.cold].point.Position)
	return s.Hamiltonian.Reset(s.Point)
}

// merged adds the modes found by another chain, without duplicates.
func merged(found, others []local) []local {
	out := slices.Clone(found)
	for _, m := range others {
		if !knownOf(out).explainsMode(m) {
			out = append(out, m)
		}
	}
	if len(out) > maxComponents {
		sorting.Stable(out, func(a, b local) int { return cmp.Compare(b.log, a.log) })
		out = out[:maxComponents]
	}
	return out
}

// find looks for modes, first from the chain's own start and then from random points. If it finds
// nothing, it returns the error of the chain's own start; other errors end the chain.
func (k *Kernel) find(ctx context.Context, rng *rand.Rand, first []float64) (found []local, err error) {
	k.patience = patience
	x := slices.Clone(first)
	var failure error
	random := func(i int) {
		radius := radii[i%len(radii)]
		for j := range x {
			x[j] = radius * (2*rng.Float64() - 1)
		}
	}
	for i, vain := 0, 0; vain < k.options.Starts && i < maxStarts*k.options.Starts && len(found) < maxComponents; i++ {
		if i > 0 {
			random(i - 1)
		}
		vain++
		modes, err := k.climb(ctx, rng, x, knownOf(found))
		if final(err) {
			return nil, err
		}
		if err != nil && i == 0 {
			failure = err
		}
		if len(modes) > 0 {
			found, vain = append(found, modes...), 0
		}
	}
	if len(found) == 0 {
		return nil, failure
	}
	// Climbs rarely reach a mode with a small region of attraction. But at points within it, the
	// density exceeds that of the known modes.
	add := func(more []local, err error) error {
		found = append(found, more...)
		return err
	}
	leads, err := k.scan(knownOf(found), scanned*k.options.Starts, len(radii), ofGroup, func(i int, to []float64) {
		random(i)
		copy(to, x)
	})
	if err == nil {
		err = add(k.follow(ctx, rng, slices.Concat(leads...), scanClimbs, knownOf(found)))
	}
	if err != nil {
		return found, err
	}
	allowed := int64(searchShare * float64(k.warmup*(firstFitted+firstBroad)*usualLength))
	if leads, err = k.scanHot(rng, knownOf(found), int(allowed/2)); err != nil {
		return found, err
	}
	centre, sd := sphere(found)
	err = add(k.quickClimbs(ctx, rng, knownOf(found), allowed/2, func(i int) []float64 {
		if i%2 == 0 {
			if lead := best(rng, &leads); lead != nil {
				return lead
			}
		}
		if i%4 < 2 {
			random(i / 4)
			return x
		}
		for j := range x {
			x[j] = centre[j] + nearRadii[i/4%len(nearRadii)]*sd*rng.NormFloat64()
		}
		return x
	}))
	return found, err
}

// best removes and returns the lead with the largest excess of a random group; nil if no leads are
// left.
func best(rng *rand.Rand, groups *[][]lead) []float64 {
	*groups = slices.DeleteFunc(*groups, func(g []lead) bool { return len(g) == 0 })
	if len(*groups) == 0 {
		return nil
	}
	g := &(*groups)[rng.IntN(len(*groups))]
	x := (*g)[0].x
	*g = (*g)[1:]
	return x
}

// sphere returns the common centre of the modes, each with the same weight, and the root mean
// square distance of their draws from it, per coordinate.
func sphere(found []local) (centre []float64, sd float64) {
	d := found[0].Normal.Dim
	n := float64(len(found))
	centre = make([]float64, d)
	for _, m := range found {
		if m.Normal.Mean != nil {
			floats.AddScaled(centre, 1/n, m.Normal.Mean)
		}
	}
	square := 0.0
	for _, m := range found {
		for j, v := range variances(m.Normal) {
			if m.Normal.Mean != nil {
				v += (m.Normal.Mean[j] - centre[j]) * (m.Normal.Mean[j] - centre[j])
			}
			square += v / (n * float64(d))
		}
	}
	return centre, math.Sqrt(square)
}

// scan evaluates the density at n points, which draw writes, for the groups in alternation. It
// returns the points with a positive excess: at most `most` per group, those with the largest
// excess first.
func (k *Kernel) scan(w known, n, groups, most int, draw func(group int, x []float64)) ([][]lead, error) {
	x := make([]float64, k.target.Dim())
	out := make([][]lead, groups)
	for i := range n {
		g := i % groups
		draw(g, x)
		log, err := k.logAt(x)
		if err != nil {
			return nil, err
		}
		e := w.excess(x, log)
		if !(e > 0) || len(out[g]) == most && e <= out[g][most-1].excess {
			continue
		}
		at, _ := slices.BinarySearchFunc(out[g], e, func(l lead, e float64) int { return cmp.Compare(e, l.excess) })
		out[g] = slices.Insert(out[g], at, lead{slices.Clone(x), e, g})
		out[g] = out[g][:min(len(out[g]), most)]
	}
	return out, nil
}

// scanHot scans around the known modes. The standard deviations of their components are multiplied
// by the roots of heats, one for each group.
func (k *Kernel) scanHot(rng *rand.Rand, w known, n int) ([][]lead, error) {
	return k.scan(w, n, len(heats), ofHeat, func(i int, x []float64) {
		w.m.sampleHot(rng, math.Sqrt(heats[i]), x)
	})
}

// heats are factors on the variances.
var heats = []float64{2, 5, 10, 20, 50, 100, 200, 500, 1000}

// quickClimbs climbs from the points that next returns, while there are gradients left.
func (k *Kernel) quickClimbs(ctx context.Context, rng *rand.Rand, w known, allowed int64, next func(i int) []float64) (found []local, err error) {
	begun := k.target.Gradients()
	for i := 0; int64(i) < allowed && len(found) < maxComponents && k.target.Gradients()-begun < allowed; i++ {
		x := next(i)
		if x == nil {
			break
		}
		modes, err := k.quickClimb(ctx, rng, x, w)
		if final(err) {
			return found, err
		}
		for _, m := range modes {
			found, w = append(found, m), w.with(m)
		}
	}
	return found, nil
}

// nearRadii are the distances of random points from the known modes, in standard deviations of the
// mode.
var nearRadii = []float64{1, 2, 0.5, 4}

// lead is a point from which a climb may find a new mode.
type lead struct {
	x      []float64
	excess float64
	group  int // group of the lead; only a few leads of each group are followed
}

// follow climbs from the leads with the largest excess: at most ofGroup of each group, and at most
// `most` in all.
func (k *Kernel) follow(ctx context.Context, rng *rand.Rand, leads []lead, most int, w known) (found []local, err error) {
	sorting.Stable(leads, func(a, b lead) int { return cmp.Compare(b.excess, a.excess) })
	taken := map[int]int{}
	for _, l := range leads {
		if most == 0 || len(found) == maxComponents {
			break
		}
		if taken[l.group] == ofGroup {
			continue
		}
		taken[l.group]++
		most--
		modes, err := k.climb(ctx, rng, l.x, w)
		if final(err) {
			return found, err
		}
		for _, m := range modes {
			found, w = append(found, m), w.with(m)
		}
	}
	return found, nil
}

// final reports whether an error ends the chain, wherever it occurs.
func final(err error) bool {
	return errors.Is(err, infer.ErrInterrupted) || errors.Is(err, infer.ErrFatal)
}

// climb climbs from x and explores the points where it ends, unless known modes explain them: the
// typical set, and the summit, which may be a narrow mode within a wide one.
func (k *Kernel) climb(ctx context.Context, rng *rand.Rand, x []float64, w known) (found []local, err error) {
	d := len(x)
	a, err := optimize.FindTypical(ctx, k.target, x, rng, climbs+int(2*math.Sqrt(float64(d))), nil)
	if none := (*infer.InitError)(nil); errors.As(err, &none) {
		return nil, nil // the density is zero at x
	}
	if err != nil {
		return nil, err
	}
	look := func(scale, x []float64, log float64) error {
		if k.patience == 0 || w.explains(x, log) {
			return nil
		}
		k.patience--
		mode, err := k.explored(ctx, rng, scale, x)
		if err != nil || w.explainsMode(mode) {
			return err // the climb led to a known mode
		}
		k.patience = patience
		found = append(found, mode)
		w = w.with(mode)
		return nil
	}
	end := a.X
	if a.Draw != nil {
		end = a.Draw
	}
	log, err := k.logAt(end)
	if err != nil {
		return nil, err
	}
	if err := look(a.Scale, end, log); err != nil {
		return found, err
	}
	top, err := optimize.Maximize(ctx, k.target, a.X, optimize.Options{Iterations: summits, TolRelObj: 1e10})
	if err != nil {
		if final(err) {
			return found, err
		}
		return found, nil
	}
	return found, look(a.Scale, top.X, top.LogDensity)
}

// quickClimb is a cheap climb. It ends as soon as it reaches a point that a known mode explains,
// and explores only the summit.
func (k *Kernel) quickClimb(ctx context.Context, rng *rand.Rand, x []float64, w known) (found []local, err error) {
	d := float64(len(x))
	most := climbs + int(2*math.Sqrt(d))
	top, err := optimize.FindTop(ctx, k.target, x, most, func(x []float64, log float64) bool {
		_, square := w.m.nearest(x)
		return square < d+4*math.Sqrt(2*d)+4 && w.excess(x, log) < 1
	})
	if none := (*infer.InitError)(nil); errors.As(err, &none) {
		return nil, nil
	}
	if err != nil || !top.Climbed || w.explains(top.X, top.LogDensity) {
		return nil, err
	}
	mode, err := k.explored(ctx, rng, top.Scale, top.X)
	if err != nil || w.explainsMode(mode) {
		return nil, err
	}
	return []local{mode}, nil
}

// logAt returns the log density at a point.
func (k *Kernel) logAt(x []float64) (float64, error) {
	return k.target.LogDensityGrad(x, k.work.Gradient)
}

// with returns the description with a further mode.
func (w known) with(m local) known {
	if w.m == nil {
		return knownOf([]local{m})
	}
	total := logSum([]float64{w.log, m.log})
	parts := w.m.Components()
	for i := range parts {
		parts[i].Weight = max(parts[i].Weight*math.Exp(w.log-total), 1e-250)
	}
	all, err := NewMixture(append(parts, Component{max(math.Exp(m.log-total), 1e-250), m.Normal}))
	if err != nil {
		return w
	}
	return known{all, total}
}

// explored makes a short run of NUTS from x and describes the mode there.
func (k *Kernel) explored(ctx context.Context, rng *rand.Rand, scale, x []float64) (local, error) {
	plan, err := nuts.Sampler{MaxDepth: localDepth, Refine: k.options.refine()}.Plan(k.target, localWarm)
	if err != nil {
		return local{}, err
	}
	variance := make([]float64, len(scale))
	for i, v := range scale {
		variance[i] = v * v
	}
	// If the metric cannot be used, the unit metric is kept.
	_ = plan.Hamiltonian.(infer.Euclidean).SetMetric(infer.Metric{Kind: infer.Diagonal, Dim: len(x), Inverse: variance})
	chain, err := infer.NewState(plan, k.target, rng, x)
	if err != nil {
		return local{}, err
	}
	for _, stage := range plan.Stages {
		if err := stage.Run(ctx, chain); err != nil {
			return local{}, err
		}
	}
	var m local
	var scores [][]float64
	for range localDraws + min(len(x), maxDense) {
		if _, err := chain.Advance(); err != nil {
			return m, err
		}
		m.draws, scores = append(m.draws, slices.Clone(chain.Point.Position)), append(scores, slices.Clone(chain.Point.Gradient))
		m.logs = append(m.logs, chain.Point.LogDensity)
	}
	var ok bool
	if m.Normal, ok = component(m.draws, scores); !ok {
		if len(x) > 0 {
			return m, warmup.ErrImproper
		}
		m.Normal = infer.Metric{Kind: infer.Unit}
	}
	q, err := NewMixture([]Component{{1, m.Normal}})
	if err != nil {
		return m, err
	}
	ratios := make([]float64, len(m.draws))
	for i, x := range m.draws {
		ratios[i] = m.logs[i] - q.Log(x)
	}
	m.log = floats.Sum(ratios) / float64(len(ratios))
	if math.IsNaN(m.log) || math.IsInf(m.log, 0) { // a mixture cannot have such a mass
		return m, warmup.ErrImproper
	}
	return m, nil
}

// seek looks for modes that the fitted reference misses, after a round that used `spent` gradients.
// It climbs from draws of all levels and from points around the reference, beginning with those
// that are least explained. It also makes short runs from draws of the target that are not
// explained, because they may belong to a wide mode around the summit of a narrow one.
func (k *Kernel) seek(ctx context.Context, rng *rand.Rand, spent int64) (found []local, err error) {
	k.patience = patience / 2
	l := k.learning
	w := known{k.fitted, massOf(k.fitted, l.draws[k.cold], l.logs[k.cold])}
	add := func(more []local, err error) error {
		for _, m := range more {
			w = w.with(m)
		}
		found = append(found, more...)
		return err
	}
	allowed := int64(searchShare * float64(spent))
	var leads []lead
	for i, draws := range l.draws {
		for j, x := range draws {
			if e := w.excess(x, l.logs[i][j]); e > 0 {
				leads = append(leads, lead{x, e, i})
			}
		}
	}
	if err := add(k.follow(ctx, rng, leads, seekBest, w)); err != nil {
		return found, err
	}
	groups, err := k.scanHot(rng, w, int(allowed/2))
	if err != nil {
		return found, err
	}
	for i, draws := range l.draws {
		var g []lead
		for j, x := range draws {
			g = append(g, lead{x, w.excess(x, l.logs[i][j]), i})
		}
		sorting.Stable(g, func(a, b lead) int { return cmp.Compare(b.excess, a.excess) })
		groups = append(groups, g)
	}
	if err := add(k.quickClimbs(ctx, rng, w, allowed/2, func(n int) []float64 {
		if n%2 == 0 {
			if lead := best(rng, &groups); lead != nil {
				return lead
			}
		}
		draws := l.draws[rng.IntN(len(l.draws))]
		if len(draws) == 0 {
			return nil
		}
		return draws[rng.IntN(len(draws))]
	})); err != nil {
		return found, err
	}
	runs := 0
	for place := k.cold; place < len(k.levels) && runs < seekRuns && k.levels[place].beta > 0.3; place++ {
		draws := l.draws[place]
		for j := len(draws) - 1; j >= 0; j -= 1 + len(draws)/8 {
			if w.explains(draws[j], l.logs[place][j]) {
				continue
			}
			runs++
			scale := variances(k.levels[place].h.inner.Metric())
			for i, v := range scale {
				scale[i] = math.Sqrt(v)
			}
			mode, err := k.explored(ctx, rng, scale, draws[j])
			if final(err) {
				return found, err
			}
			if err == nil && !w.explainsMode(mode) {
				found, w = append(found, mode), w.with(mode)
			}
			break
		}
	}
	return found, nil
}

// massOf estimates the log mass of a target from the density at its draws and a mixture close to
// it: the median of the log ratios.
func massOf(m *Mixture, draws [][]float64, logs []float64) float64 {
	if len(draws) == 0 {
		return 0
	}
	var ratios []float64
	for i, x := range draws {
		ratios = append(ratios, logs[i]-m.Log(x))
	}
	slices.Sort(ratios)
	return ratios[len(ratios)/2]
}
