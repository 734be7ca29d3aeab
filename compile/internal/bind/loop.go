package bind

import (
	"fmt"
	"slices"

	"github.com/ppl-lang/ppl/compile/internal/lanes"
	"github.com/ppl-lang/ppl/compile/internal/plan"
	"github.com/ppl-lang/ppl/compile/internal/static"
	"github.com/ppl-lang/ppl/compile/ir"
	"github.com/ppl-lang/ppl/lang/diag"
)

// A loop is evaluated in the first of these ways that is exact for it:
//
//   - as a nest: statement by statement, each in lanes over the iterations that
//     execute it, as a sum, or as a recurrence (nest.go);
//   - carried: the body once, with whole variables carried (carry.go);
//   - unrolled: iteration by iteration.

func (b *binder) execFor(s *ir.For) signal {
	from, to := b.eval(s.From), b.eval(s.To)
	switch {
	case from.ints == nil || to.ints == nil:
		return b.iterateFor(s, from, to)
	case from.axis == nil && to.axis == nil:
		lo := from.ints[0]
		n := int(max(0, to.ints[0]-lo+1))
		return b.run(n, &loop{body: s.Body, v: s.Var, bind: func(i value) value { return addInt(i, lo-1) }})
	case b.hidden() || b.hiddenAxis(from.axis) || b.hiddenAxis(to.axis) || b.scanning():
		return b.carryRagged(s, from, to, "")
	}
	ax, lp, i := b.ragged(s, from, to)
	if ax.N == 0 {
		return goesOn
	}
	sig := goesOn
	b.with(b.context.in(ax.Parent), func() {
		why := jumps
		if !static.Has(s.Body, static.IsReturn) {
			lp.tracked = b.track(ax, lp, i, nil)
			var n *nest
			if n, _, why = b.planned(ax, lp, i); n != nil {
				b.evaluate(n, lp)
				return
			}
		}
		b.note(lp, why)
		sig = b.carryRagged(s, from, to, why)
	})
	return sig
}

func (b *binder) execForEach(s *ir.ForEach) signal { return b.run(b.overElements(s)) }

// run runs a loop of n iterations, the same number in all lanes.
func (b *binder) run(n int, lp *loop) signal {
	if n == 0 {
		return goesOn
	}
	if n > b.smallest() && b.mayLane() {
		if b.runLaned(n, lp) {
			return goesOn
		}
	}
	if n > b.smallCarry() && !b.opts.Unroll {
		ax, i := b.iterations(n)
		lp.tracked = b.track(ax, lp, i, nil)
		if why := b.notCarried(ax, n, lp); why == "" {
			return b.carry(ax, n, lp, i, nil)
		} else {
			b.note(lp, why)
		}
	}
	b.stats.Unrolled++
	if len(lp.why) > 0 { // rather than because it is short
		b.keepPlan(Plan{Line: lineOf(lp), Way: "unrolled", Iterations: n, Why: lp.why})
	}
	lp.tracked = nil
	return b.loopEnds(b.unroll(0, n, lp))
}

// runLaned evaluates the loop as a nest, if that can be done.
func (b *binder) runLaned(steps int, lp *loop) bool {
	if static.Has(lp.body, static.IsReturn) {
		b.note(lp, jumps)
		return false
	}
	ax, i := b.iterations(steps)
	lp.tracked = b.track(ax, lp, i, nil)
	n, last, why := b.planned(ax, lp, i)
	if last > 0 && last < steps { // data end the loop early: there are only so many iterations
		ax, i = b.iterations(last)
		lp.tracked = b.track(ax, lp, i, nil)
		n, _, why = b.planned(ax, lp, i)
	}
	if n == nil {
		b.note(lp, why)
		return false
	}
	b.evaluate(n, lp)
	return true
}

// planned is the nest of a loop with its plan, nil and the reason if there is none.
func (b *binder) planned(ax *axis, lp *loop, i value) (n *nest, last int, why string) {
	tracked := lp.tracked
	var tried []*inspection
	var levels *lanes.Split
	for _, w := range ways() {
		if slices.ContainsFunc(tried, func(in *inspection) bool { return in.foresees(w, lp) }) {
			continue
		}
		for written := 0; ; written = len(lp.steps) {
			if w.steps && len(lp.steps) == written { // of which there are none, or no more than there were
				break
			}
			lp.groups, lp.tracked = lanes.Groups{}, tracked
			in, last := b.inspect(ax, lp, i, w)
			if last > 0 && last < ax.N {
				return nil, last, in.why
			}
			tried = append(tried, in)
			if why = in.why; why != "" {
				break
			}
			if why = in.n.make(); why == "" {
				b.count(in.n)
				return in.n, 0, ""
			}
			for _, l := range in.n.plan.Across {
				lp.across = append(lp.across, in.n.stmts[l])
			}
			for _, l := range in.n.plan.Steps {
				lp.steps = append(lp.steps, in.n.stmts[l])
			}
			if levels == nil {
				levels = in.n.levels()
			}
			if !w.steps {
				break
			}
		}
	}
	if lp.groups, lp.tracked = (lanes.Groups{}), tracked; levels != nil && lp.groups.Refine(ax, levels) {
		if in, _ := b.inspect(ax, lp, i, ways()[0]); in.why == "" && in.n.make() == "" {
			b.count(in.n)
			return in.n, 0, ""
		}
	}
	return nil, 0, why
}

// way is a way to make a loop with those in it a nest: which inner loops become
// statements one after another, and what else is one unit.
type way struct {
	unroll int  // inner loops of no more iterations
	joined bool // conditionals on data that assign variables of the nest are units
	steps  bool // and inner loops of which former plans found that their steps depend on one another
}

// ways are those that are looked at, in their order. A loop over days within one over
// countries, in which a day depends on sums over earlier ones, is one of steps: its days are
// written out, while countries and the sums stay lanes.
func ways() []way {
	return []way{{unroll: smallLoop}, {unroll: mediumLoop}, {unroll: mediumLoop, joined: true}, {unroll: smallLoop, steps: true}, {unroll: maxUnits}}
}

// count counts the loops of a nest.
func (b *binder) count(n *nest) {
	if b.inspecting {
		return
	}
	scans := map[*plan.Loop]bool{}
	for _, g := range n.plan.Groups {
		if g.Kind == plan.Recurrence {
			scans[g.Units[0].Loop] = true
		}
	}
	var visit func(l *plan.Loop)
	visit = func(l *plan.Loop) {
		if scans[l] {
			b.stats.Scanned++
		} else {
			b.stats.Laned++
		}
		for _, x := range l.Body {
			if in, ok := x.(*plan.Loop); ok {
				visit(in)
			}
		}
	}
	visit(n.Root)
}

// unroll runs iterations one after another, from number i on.
func (b *binder) unroll(i, n int, lp *loop) signal {
	for ; i < n; i++ {
		b.bindVar(lp, intValue(int64(i+1)))
		sig := b.exec(lp.body)
		if sig == breaks || sig == returns {
			return sig
		}
		if !sig.certain() {
			return b.onlyIf(sig, goesOn|continues, func() signal { return b.unroll(i+1, n, lp) })
		}
		if len(b.lvl.g.Nodes) > maxNodes {
			b.fail(b.span, diag.TooLarge, "this loop must be unrolled to more than %d operations", maxNodes).throw()
		}
	}
	return goesOn
}

// smallCarry is the greatest number of iterations of a loop that is unrolled
// rather than made a region that carries variables.
func (b *binder) smallCarry() int {
	if b.scanning() {
		return mediumLoop // the variables of a scan are watched, so it would seldom do
	}
	return smallLoop
}

func (b *binder) smallest() int {
	if b.axis != nil {
		return smallLoop
	}
	return smallTop
}

// mayLane reports whether a loop that begins here may be tried in lanes.
func (b *binder) mayLane() bool {
	if b.opts.Unroll || b.hidden() {
		return false
	}
	return !b.scanning()
}

// jumps is the reason of a loop that may end early.
const jumps = "break or return in the loop"

// execWhile runs a while loop.
func (b *binder) execWhile(s *ir.While) signal { return b.loopEnds(b.whileFrom(s, 0)) }

// whileFrom runs the trips of a while loop from one on.
func (b *binder) whileFrom(s *ir.While, trip int) signal {
	for ; trip < maxTrips; trip++ {
		instead := b.instead // of what the condition reads; what iterations do not reach is no matter
		cond := b.eval(s.Cond)
		if b.instead != instead { // it would go on with another element, perhaps for ever
			b.fail(s.Cond.Span(), diag.IndexRange, "a while loop uses an index that is out of range").throw()
		}
		i, ok := cond.scalarInt()
		if !ok {
			if cond.ints == nil || b.hidden() || b.hiddenAxis(cond.axis) {
				return b.iterateWhile(s)
			}
			if trip > maxLaneTrips {
				panic(&fault{Reason: "a while loop of many trips, which differ between iterations"})
			}
			return b.choose(cond, func() signal {
				return b.onlyIf(b.exec(s.Body), goesOn|continues, func() signal { return b.whileFrom(s, trip+1) })
			}, func() signal { return goesOn })
		}
		if i == 0 {
			return goesOn
		}
		sig := b.exec(s.Body)
		if sig == breaks || sig == returns {
			return sig
		}
		if !sig.certain() {
			return b.onlyIf(sig, goesOn|continues, func() signal {
				if trip >= smallLoop { // it may be a jump alone that ends it: while (1) { … break; }
					return b.iterateWhile(s)
				}
				return b.whileFrom(s, trip+1)
			})
		}
	}
	b.fail(s.Cond.Span(), diag.EndlessLoop, "this while loop does not end").throw()
	return goesOn
}

// note records why a loop is not evaluated in a way that would be faster.
func (b *binder) note(lp *loop, why string) {
	if !slices.Contains(lp.why, why) {
		lp.why = append(lp.why, why)
	}
	if len(b.stats.Notes) < 50 {
		b.stats.Notes = append(b.stats.Notes, fmt.Sprintf("line %d: %s", lineOf(lp), why))
	}
}
