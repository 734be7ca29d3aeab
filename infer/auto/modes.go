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
	"github.com/ppl-lang/ppl/internal/sorting"
)

// This file searches for modes before the chains begin. Each chain climbs from its part of the
// starting points, which are random points of its own streams, and compares the ends of its climbs
// with the known modes. Then the chains agree on a list of modes and on the mode in which each
// chain begins.

const (
	// loneClimbs is the number of climbs of a chain that learns alone.
	loneClimbs = 8

	// firstClimbs is the minimum number of climbs of each chain in the search.
	firstClimbs = 2

	// A normal approximation is exact enough to count as the mode itself if, at its mean, its log
	// density differs from the target's by less than exact plus exactShare per dimension.
	exact, exactShare = 0.1, 0.01

	// ascentSteps is the maximum number of Newton steps from the end of a climb that is not a
	// maximum.
	ascentSteps = 30

	// A ray from a mode crosses this number of shells; each is shellGrowth times as far out as the
	// one before.
	shells, shellGrowth = 12, 2.0

	// directions is the number of random directions from a mode in which mass is looked for.
	directions = 9

	// If there are several modes, second derivatives are computed at up to maxModes of them, in up
	// to maxRefined dimensions.
	maxRefined, maxModes = 1024, 8

	// A chain far below the others first starts anew from up to moreTries random points. If that
	// fails, it continues to climb from where it is.
	moreTries = 3
)

// radii are the radii of random starts. The climbs of a chain use the list cyclically.
var radii = []float64{2, 1, 4, 8, 2, 16, 4, 32}

// mode is a local maximum of the density, with a normal distribution fitted there.
type mode struct {
	at         *limits
	metric     infer.Metric // its normal distribution
	logDensity float64      // log density at the mode, or of the normal distribution there
	mass       float64      // log mass, up to a constant
	found      []int        // indices of the chains that found it
	// gain of log density that a Newton step from the mode promises; 0 if second derivatives were
	// not computed
	promise float64
	// a wide region around another mode; it has no maximum, so no climb ends in it
	outer bool
	to    *whiten.Map
}

// newMode returns a mode with its mass; nil if no normal distribution can be fitted.
func (at *limits) newMode(m infer.Metric, logDensity float64) *mode {
	to, err := whiten.NewMap(m)
	if m.Kind == "" || err != nil {
		return nil
	}
	mass := logDensity + to.LogScale()
	if math.IsNaN(mass) || math.IsInf(mass, 0) {
		return nil
	}
	return &mode{at: at, metric: m, logDensity: logDensity, mass: mass, to: to}
}

// distance returns the squared distance of x from the mode, in units of the mode's standard
// deviations.
func (m *mode) distance(x []float64) float64 { return m.distanceIn(make([]float64, len(x)), x) }

// distanceIn is distance with room as work space, which has the length of x.
func (m *mode) distanceIn(room, x []float64) float64 {
	m.to.Inverse(x, room)
	return floats.Dot(room, room)
}

// has reports whether x is in the mode: near its mean, with a log density close to that of the
// mode's normal distribution. room is work space of the length of x.
func (m *mode) has(x []float64, logDensity float64, room []float64) bool {
	r := m.distanceIn(room, x)
	return near(r, len(x)) && math.Abs(logDensity-(m.logDensity-0.5*r)) < m.at.slack+m.at.slackShare*0.5*r
}

// reaches reports whether x is a plausible draw of the mode's normal distribution.
func (m *mode) reaches(x []float64) bool {
	return near(m.distance(x), len(x))
}

// near reports whether a squared distance from the mean is plausible for a draw of a normal
// distribution in n dimensions.
func near(squared float64, n int) bool {
	d := float64(n)
	return squared < d+4*math.Sqrt(2*d)+4
}

// same reports whether two modes have the same place and the same scale.
func (m *mode) same(other *mode) bool {
	d := float64(m.metric.Dim)
	limit := 0.1 + 0.05*d
	return min(m.distance(other.metric.Mean), other.distance(m.metric.Mean)) < limit &&
		math.Abs(m.to.LogScale()-other.to.LogScale()) < (d+1)*math.Log(m.at.otherScale)
}

// normalDraw returns a draw from the normal distribution of the mode.
func (m *mode) normalDraw(rng *rand.Rand) []float64 {
	d := m.metric.Dim
	z, x := make([]float64, d), make([]float64, d)
	for i := range z {
		z[i] = rng.NormFloat64()
	}
	m.to.Forward(z, x)
	return x
}

// finding is what a chain contributes to an exchange: the modes that it found, beginning with the
// one at its start, and the known modes in which it has been.
type finding struct {
	modes   []*mode
	visited []int
	start   bool    // the chain is in the first of modes
	level   float64 // log density at the chain's position
}

// known merges the findings of all chains into the list of known modes.
func (w *chain) known(before []*mode, own finding) ([]*mode, []any, error) {
	var parts []any
	all, err := w.Exchange(own, func(p []any) any { return slices.Clone(p) })
	if err != nil {
		return nil, nil, err
	}
	parts = all.([]any)
	out := make([]*mode, len(before))
	for i, m := range before {
		c := *m
		c.found = slices.Clone(m.found)
		out[i] = &c
	}
	for chain, part := range parts {
		f, _ := part.(finding)
		for _, i := range f.visited {
			if !slices.Contains(out[i].found, chain) {
				out[i].found = append(out[i].found, chain)
			}
		}
		for _, m := range f.modes {
			i := slices.IndexFunc(out, m.same)
			if i < 0 {
				c := *m
				c.found = []int{chain}
				out = append(out, &c)
				continue
			}
			if !slices.Contains(out[i].found, chain) {
				out[i].found = append(slices.Clip(out[i].found), chain)
			}
		}
	}
	return out, parts, nil
}

// searchModes looks for modes and moves the chain to the mode in which it begins. The chain stays
// at its start unless another mode needs a chain: one that this chain found, or one in which no
// chain started. start describes how the chain reached its start. The result is the modes that
// matter; it is empty if there is only one, or if none is known.
//
// The search goes around the slowest points, unless the chain could only begin at such a point: at
// radius 32, differential equations are often stiff, and one evaluation may take as long as 250
// elsewhere.
func (w *chain) searchModes(ctx context.Context, start pairs) ([]*mode, error) {
	if !w.slow {
		w.Target.SetHasty(infer.SlowSearch)
		defer w.Target.SetHasty(0)
	}
	var own finding
	if start.settled && w.RandomStart {
		var err error
		if own, err = w.ownModes(ctx, start); err != nil {
			return nil, err
		}
	}
	modes, parts, err := w.known(nil, own)
	if err != nil || len(modes) == 0 {
		return nil, err
	}
	climbs := int(w.at.searched) / len(parts)
	if w.options.NoPool {
		climbs = loneClimbs
	}
	var more finding
	if w.RandomStart {
		if more, err = w.climbs(ctx, modes, climbs-1); err != nil {
			return nil, err
		}
	}
	if modes, _, err = w.known(modes, more); err != nil {
		return nil, err
	}
	if modes, err = w.refine(modes); err != nil {
		return nil, err
	}
	matter := mattering(modes)
	at := begins(matter, parts)
	w.kernel.figures["search_modes"] = float64(len(matter))
	w.Target.SetHasty(0)
	if w.RandomStart {
		if err := w.settle(ctx, at[w.place(len(parts))], own, parts); err != nil {
			return nil, err
		}
	}
	if len(matter) < 2 {
		return nil, nil
	}
	return matter, nil
}

// ownModes returns the mode in which the chain has settled, and another mode that can be seen from
// there: a mode of smaller scale within it or, if there is none, mass farther out.
func (w *chain) ownModes(ctx context.Context, start pairs) (own finding, err error) {
	top, inner, err := w.topOf(ctx, start)
	if err != nil {
		return own, err
	}
	if top != nil {
		own.modes, own.start, own.level = append(own.modes, top), true, start.logDensity
	}
	if inner != nil {
		own.modes = append(own.modes, inner)
	}
	if top != nil && inner == nil {
		outer, err := w.around(top)
		if err != nil {
			return own, err
		}
		if outer != nil {
			own.modes = append(own.modes, outer)
		}
	}
	return own, nil
}

// begins returns, for each chain, the mode in which it begins; nil if it stays where it is.
func begins(matter []*mode, parts []any) []*mode {
	at := make([]*mode, len(parts))
	for chain, part := range parts {
		if f, _ := part.(finding); f.start {
			i := slices.IndexFunc(matter, f.modes[0].same)
			// A chain in a mode that does not matter begins in one that matters and that it has
			// found.
			if i < 0 {
				i = slices.IndexFunc(matter, func(m *mode) bool { return slices.Contains(m.found, chain) })
			}
			if i >= 0 {
				at[chain] = matter[i]
			}
		}
	}
	place(matter, at)
	return at
}

// settle moves the chain to mode m, in which it begins, unless it is already there. If m is nil,
// the chain has no such mode; it then restarts if its current mode does not matter. In any case,
// climbTo moves the chain if it is far below the others.
func (w *chain) settle(ctx context.Context, m *mode, own finding, parts []any) error {
	if m != nil {
		if own.start && m.same(own.modes[0]) {
			return nil
		}
		return w.begin(m)
	}
	if own.start {
		if err := w.restart(ctx); err != nil {
			return err
		}
	}
	return w.climbTo(ctx, parts)
}

// around looks along a ray from a mode for mass farther out in which no climb ends, as in a mixture
// of components with the same centre and different scales. The mass of a shell is the density there
// times its volume. Around a single mode, whatever its tails, this mass rises to one maximum and
// then falls.
func (w *chain) around(m *mode) (*mode, error) {
	d := w.Target.Dim()
	rng := infer.Stream(w.Seed, w.ID, "ray", 0)
	u, y, x, g := make([]float64, d), make([]float64, d), make([]float64, d), make([]float64, d)
	for i := range u {
		u[i] = rng.NormFloat64()
	}
	floats.Scale(math.Sqrt(float64(d))/floats.Norm(u, 2), u)
	first, least, at := 0.0, infinity, 0.0
	best, level := -infinity, 0.0
	for k := range shells {
		r := math.Pow(shellGrowth, float64(k))
		floats.ScaleTo(y, r, u)
		m.to.Forward(y, x)
		lp, err := w.Target.LogDensityGrad(x, g)
		if err != nil {
			return nil, err
		}
		if math.IsInf(lp, -1) {
			break
		}
		mass := lp + float64(d)*math.Log(r)
		if k == 0 {
			first = mass
		}
		least = min(least, mass)
		if mass > least+w.at.dip && mass > best {
			best, at, level = mass, r, lp
		}
	}
	if best < first-w.at.margin-w.at.marginPerDim*float64(d) {
		return nil, nil
	}
	wide := m.metric
	wide.Inverse = slices.Clone(wide.Inverse)
	switch wide.Kind {
	case infer.LowRank:
		floats.Scale(at, wide.Inverse[:d])
	default:
		floats.Scale(at*at, wide.Inverse)
	}
	outer := w.at.newMode(wide, level+0.5*float64(d))
	if outer == nil {
		return nil, nil
	}
	outer.outer = true
	if is, err := w.isAround(outer, rng); !is || err != nil {
		return nil, err
	}
	return outer, nil
}

// isAround reports whether there is mass in most directions from a mode. The first ray may have met
// a different mode.
func (w *chain) isAround(outer *mode, rng *rand.Rand) (bool, error) {
	g := make([]float64, w.Target.Dim())
	var lack []float64
	for range directions {
		x := outer.normalDraw(rng)
		lp, err := w.Target.LogDensityGrad(x, g)
		if err != nil {
			return false, err
		}
		lack = append(lack, outer.logDensity-0.5*outer.distance(x)-lp)
	}
	slices.Sort(lack)
	return lack[directions/2] < w.at.margin+w.at.marginPerDim*float64(len(g)), nil
}

// refine computes second derivatives at the modes, if there are several and the dimension was too
// high to do so at the start. The scales that climbs find are too inaccurate for masses. The chains
// divide the modes among themselves.
func (w *chain) refine(modes []*mode) ([]*mode, error) {
	d := w.Target.Dim()
	if d <= maxCurvature || d > maxRefined || len(modes) < 2 {
		return modes, nil
	}
	modes = modes[:min(len(modes), maxModes)]
	mine := map[int]*mode{}
	n, err := w.Exchange(struct{}{}, func(parts []any) any { return len(parts) })
	if err != nil {
		return nil, err
	}
	for i, m := range modes {
		if chains := n.(int); i%chains != w.place(chains) {
			continue
		}
		scale := make([]float64, d)
		for j, v := range variances(m.metric) {
			scale[j] = math.Sqrt(v)
		}
		better, err := w.curved(m.metric.Mean, m.logDensity, scale)
		if err != nil {
			return nil, err
		}
		mine[i] = better
	}
	all, err := w.Exchange(mine, func(parts []any) any {
		better := make([]*mode, len(modes))
		for _, part := range parts {
			of, _ := part.(map[int]*mode)
			for i, m := range of {
				better[i] = m
			}
		}
		return better
	})
	if err != nil {
		return nil, err
	}
	var out []*mode
	for i, m := range all.([]*mode) {
		if m == nil {
			continue
		}
		if same := slices.IndexFunc(out, m.same); same >= 0 {
			c := *out[same]
			for _, chain := range modes[i].found {
				if !slices.Contains(c.found, chain) {
					c.found = append(slices.Clip(c.found), chain)
				}
			}
			out[same] = &c
			continue
		}
		c := *m
		c.found = modes[i].found
		out = append(out, &c)
	}
	return out, nil
}

// mattering returns the modes whose mass may matter, in descending order of mass.
func mattering(modes []*mode) []*mode {
	best, d := -infinity, 0.0
	for _, m := range modes {
		best, d = max(best, m.mass), float64(m.metric.Dim)
	}
	var out []*mode
	for _, m := range modes {
		if m.mass >= best-m.at.margin-m.at.marginPerDim*d {
			out = append(out, m)
		}
	}
	sorting.Stable(out, func(a, b *mode) int { return order(b.mass, a.mass) })
	return out
}

// place decides in which mode each chain begins, given the modes in which the chains are. Each mode
// gets a chain if there are enough chains. A chain moves only if it shares its mode with others or
// has none; chains that found the new mode move first.
func place(modes []*mode, at []*mode) {
	count := func(m *mode) (n int) {
		for _, other := range at {
			if other == m {
				n++
			}
		}
		return n
	}
	for _, m := range modes {
		if count(m) > 0 {
			continue
		}
		best, rank := -1, 0
		for chain, now := range at {
			if now != nil && count(now) < 2 {
				continue
			}
			r := 1 + len(at)
			if now != nil {
				r = 1 + count(now)
			}
			if slices.Contains(m.found, chain) {
				r += 2 * len(at)
			}
			if r > rank {
				best, rank = chain, r
			}
		}
		if best < 0 {
			return
		}
		at[best] = m
	}
}

// climbTo moves a chain that has not settled and is far below those that have. The chain starts
// from other random points. If it settles from none of them, it climbs until its log density
// reaches that of the other chains' starts. From the other chains it learns only this level, not
// their positions.
func (w *chain) climbTo(ctx context.Context, parts []any) error {
	level := -infinity
	for _, part := range parts {
		if f, _ := part.(finding); f.start {
			level = max(level, f.level)
		}
	}
	if !(w.Point.LogDensity < level-w.at.trailing-w.at.trailingPerDim*float64(w.Target.Dim())) {
		return nil
	}
	from := slices.Clone(w.Point.Position)
	for k := range moreTries {
		rng := infer.Stream(w.Seed, w.ID, "again", uint64(k))
		x, _, err := infer.FindStart(infer.Uniform{Radius: restartRadius}, w.Chain, w.Target, rng)
		if none := (*infer.InitError)(nil); errors.As(err, &none) {
			continue
		}
		if err != nil {
			return err
		}
		w.nearMeans(x, rng)
		p, err := w.startFrom(ctx, x, false)
		if err := unlessZero(err); err != nil {
			return err
		}
		if p.settled && w.Point.LogDensity >= level-w.at.trailing {
			return nil
		}
	}
	if err := w.move(from); err != nil {
		return err
	}
	reached := slices.Clone(from)
	best := w.Point.LogDensity
	_, err := optimize.FindTop(ctx, w.Target, w.Point.Position, w.maxEvaluations(), func(x []float64, lp float64) bool {
		if lp > best {
			best = lp
			copy(reached, x)
		}
		return lp >= level
	})
	if err := unlessZero(err); err != nil {
		return err
	}
	return w.move(reached)
}

// begin moves the chain to its own draw from the normal distribution of a mode or, if the density
// there is too low, to the mode itself.
func (w *chain) begin(m *mode) error {
	d := float64(m.metric.Dim)
	rng := infer.Stream(w.Seed, w.ID, "begin", 0)
	for range tries {
		if err := w.move(m.normalDraw(rng)); err != nil {
			return err
		}
		if w.Point.LogDensity >= m.logDensity-0.5*d-farthest*math.Sqrt(0.5*d) && finite(w.Point.Gradient) {
			return nil
		}
	}
	return w.move(m.metric.Mean)
}

// topOf returns the mode in which the chain has settled. If the density rises above the normal
// distribution fitted there, there is another mode of a smaller scale within it, inner.
func (w *chain) topOf(ctx context.Context, start pairs) (top, inner *mode, err error) {
	m := start.normal
	if m.Kind == "" {
		return nil, nil, nil
	}
	d := w.Target.Dim()
	lp, err := w.Target.LogDensityGrad(m.Mean, make([]float64, d))
	if err != nil {
		return nil, nil, err
	}
	if math.Abs(lp-start.peak) < exact+exactShare*float64(d) {
		return w.at.newMode(m, lp), nil, nil
	}
	a, err := optimize.FindTop(ctx, w.Target, m.Mean, w.maxEvaluations(), never)
	if none := (*infer.InitError)(nil); errors.As(err, &none) || err == nil && !a.Climbed {
		return nil, nil, nil
	}
	if err != nil {
		return nil, nil, err
	}
	if a.LogDensity < start.peak+w.at.surprise+w.at.slackShare*float64(d) {
		m.Mean = a.X
		return w.at.newMode(m, a.LogDensity), nil, nil
	}
	top = w.at.newMode(m, start.peak)
	inner, err = w.modeAt(a)
	return top, inner, err
}

func never([]float64, float64) bool { return false }

func (w *chain) maxEvaluations() int { return climbs + int(2*math.Sqrt(float64(w.Target.Dim()))) }

// modeAt returns the mode in which a climb ended. Its scale comes from second derivatives or, in
// many dimensions, from the climb.
func (w *chain) modeAt(a *optimize.Approach) (*mode, error) {
	d := len(a.X)
	if d > maxCurvature {
		if a.Normal.Kind == "" {
			return nil, nil
		}
		m := a.Normal
		m.Mean = a.X
		return w.at.newMode(m, a.LogDensity), nil
	}
	return w.curved(a.X, a.LogDensity, a.Scale)
}

// isTop reports whether the mode is a maximum of the density, as far as second derivatives show.
func (m *mode) isTop() bool { return m.promise < exact+exactShare*float64(m.metric.Dim) }

// summit returns the maximum above the end of a climb; nil if none is found, or if it belongs to a
// known mode. L-BFGS may stop on the slope of a narrow, bent ridge: its last step gained little,
// and by its approximate second derivatives there is little to gain. The true derivatives promise
// more, and Newton's method, which follows the bend, continues to climb.
func (w *chain) summit(ctx context.Context, a *optimize.Approach, known []*mode) (*mode, error) {
	m, err := w.modeAt(a)
	if err != nil || m == nil || m.isTop() {
		return m, err
	}
	r, err := optimize.Maximize(ctx, w.Target, a.X, optimize.Options{Algorithm: optimize.Newton, Iterations: ascentSteps, TolObj: 1e-4})
	if err != nil {
		return nil, err
	}
	room := make([]float64, len(r.X))
	if slices.ContainsFunc(known, func(m *mode) bool { return !m.outer && m.has(r.X, r.LogDensity, room) }) {
		return nil, nil
	}
	scale := make([]float64, len(r.X))
	for i, v := range variances(m.metric) {
		scale[i] = math.Sqrt(v)
	}
	if m, err = w.curved(r.X, r.LogDensity, scale); err != nil || m == nil || !m.isTop() {
		return nil, err
	}
	return m, nil
}

// climbs makes n climbs. Those that approach a known mode end early.
func (w *chain) climbs(ctx context.Context, known []*mode, n int) (finding, error) {
	var out finding
	begun := w.Target.Gradients()
	lost := 0 // number of climbs that ended in no mode
	most := int64(w.at.shareOfSearch * w.plannedGradients())
	for k := range n {
		spent := w.Target.Gradients() - begun
		if k+1 >= firstClimbs && (spent >= most && (worthwhile(slices.Concat(known, out.modes)) < 2 || lost > k/2) || float64(spent) >= w.at.maxSearchGrowth*float64(most)) {
			break
		}
		w.kernel.figures["search_climbs"] = float64(k + 1)
		nowhere, err := w.climbFromRandom(ctx, known, &out, k)
		if err != nil {
			return out, err
		}
		if nowhere {
			lost++
		}
	}
	return out, nil
}

// climbFromRandom makes climb k and adds the mode in which it ends to the findings. It reports
// whether the climb ended in no mode.
func (w *chain) climbFromRandom(ctx context.Context, known []*mode, out *finding, k int) (nowhere bool, err error) {
	rng := infer.Stream(w.Seed, w.ID, "modes", uint64(k))
	x, err := w.mirrored(known, k, rng)
	if x == nil && err == nil {
		if x, _, err = infer.FindStart(infer.Uniform{Radius: radii[k%len(radii)]}, w.Chain, w.Target, rng); err == nil {
			w.nearMeans(x, rng)
		}
	}
	if err != nil {
		return false, unlessZero(err)
	}
	in := -1
	room := make([]float64, len(x))
	ends := func(m *mode, x []float64, lp float64) bool { return !m.outer && m.has(x, lp, room) }
	a, err := optimize.FindTop(ctx, w.Target, x, w.maxEvaluations(), func(x []float64, lp float64) bool {
		in = slices.IndexFunc(known, func(m *mode) bool { return ends(m, x, lp) })
		return in >= 0 || slices.ContainsFunc(out.modes, func(m *mode) bool { return ends(m, x, lp) })
	})
	if err != nil {
		return false, unlessZero(err)
	}
	if in >= 0 {
		out.visited = append(out.visited, in)
	}
	if !a.Climbed || !finite(a.X) {
		return in < 0, nil
	}
	next, err := w.apart(a, slices.Concat(known, out.modes))
	if err != nil || !next {
		return false, err
	}
	m, err := w.summit(ctx, a, slices.Concat(known, out.modes))
	if err != nil {
		return false, err
	}
	if m != nil && len(m.metric.Mean) == w.Target.Dim() {
		out.modes = append(out.modes, m)
	}
	return false, nil
}

// mirrored returns the start of climb k if that is the mirror image of a draw from a known mode:
// each chain's first climb has one, if there are so many modes. Otherwise, or if the density is
// zero there, x is nil. Posteriors often have modes that differ in the signs of coordinates, such
// as those of loadings and factors. In many dimensions, random points are as good as never near
// both: each coordinate has the wrong sign half of the time.
func (w *chain) mirrored(known []*mode, k int, rng *rand.Rand) (x []float64, err error) {
	of := w.Chain
	if k > 0 || of >= len(known) {
		return nil, nil
	}
	x = known[of].normalDraw(rng)
	floats.Scale(-1, x)
	lp, err := w.Target.LogDensityGrad(x, make([]float64, len(x)))
	if err != nil || math.IsInf(lp, -1) || math.IsNaN(lp) {
		return nil, err
	}
	return x, nil
}

// unlessZero returns nil if err only reports that the density is zero at a starting point, and err
// otherwise.
func unlessZero(err error) error {
	if none := (*infer.InitError)(nil); errors.As(err, &none) {
		return nil
	}
	return err
}

// worthwhile returns the number of modes that matter.
func worthwhile(modes []*mode) int { return len(mattering(modes)) }

// apart reports whether a climb ended outside all known modes, with barriers between its end and
// each of them.
func (w *chain) apart(a *optimize.Approach, known []*mode) (bool, error) {
	d := len(a.X)
	x, g := make([]float64, d), make([]float64, d)
	for _, m := range known {
		low := false
		least := min(a.LogDensity, m.logDensity) - w.at.barrier
		for _, t := range []float64{0.5, 0.25, 0.75} {
			for i := range x {
				x[i] = (1-t)*a.X[i] + t*m.metric.Mean[i]
			}
			lp, err := w.Target.LogDensityGrad(x, g)
			if err != nil {
				return false, err
			}
			if low = lp < least; low {
				break
			}
		}
		if !low && a.LogDensity < m.logDensity+w.at.surprise+w.at.slackShare*float64(d) {
			return false, nil
		}
	}
	return true, nil
}

// plannedGradients returns a lower estimate of the number of gradients that the chain will need.
// For a nearly normal target it assumes as many draws as warm-up has transitions, at three
// gradients each.
func (w *chain) plannedGradients() float64 {
	return 3 * float64(w.length)
}
