package bind

import (
	"fmt"
	"slices"

	"github.com/ppl-lang/ppl/compile/internal/inspect"
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
		return b.run(n, counting(s, lo-1))
	case b.hidden() || b.hiddenAxis(from.axis) || b.hiddenAxis(to.axis) || b.scanning():
		return b.carryRagged(s, from, to, "")
	}
	ax, lp, i := b.ragged(s, from, to)
	if ax.N == 0 {
		return goesOn
	}
	sig := goesOn
	b.with(b.context.in(ax.Parent), func() {
		why := inspect.Jumps
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
	if static.Has(lp.Body, static.IsReturn) {
		b.note(lp, inspect.Jumps)
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
	ev, out := b.evaluator(), b.outside()
	if lp.Over != nil {
		out.over[lp.Over] = lp.over
	}
	find := func(w inspect.Way, g lanes.Groups) *inspect.Found {
		f := inspect.Inspect(ev, out, inspect.Request{
			Loop: &lp.Loop, Axis: ax, Number: i.known(), Tracked: lp.tracked, Groups: g, Way: w, Across: lp.across, Steps: lp.steps,
		})
		if m := f.Mistake; m != nil && m.Code != diag.Rejected && !unknown(diag.List{*m}) && !static.Leaves(lp.Body) && !b.mayBeSkipped() {
			b.complain(*m).throw() // of a loop that may end, the iteration that is to blame will tell
		}
		return f
	}
	found := func(x *inspect.Nest, p *plan.Plan) *nest {
		lp.tracked = x.Tracked
		b.count(x, p)
		return b.newNest(x, p, out)
	}
	var tried []*inspect.Found
	var levels *lanes.Split
	for _, w := range inspect.Ways() {
		if slices.ContainsFunc(tried, func(f *inspect.Found) bool { return f.Foresees(w, len(lp.across) > 0) }) {
			continue
		}
		for written := 0; ; written = len(lp.steps) {
			if w.Steps && len(lp.steps) == written { // of which there are none, or no more than there were
				break
			}
			f := find(w, lanes.Groups{})
			if f.Last > 0 && f.Last < ax.N {
				return nil, f.Last, f.Why
			}
			tried = append(tried, f)
			if why = f.Why; why != "" {
				break
			}
			x, p := f.Nest, b.plan(f.Nest)
			if why = p.Why; why == "" {
				return found(x, p), 0, ""
			}
			for _, l := range p.Across {
				lp.across = append(lp.across, x.Loops[l])
			}
			for _, l := range p.Steps {
				lp.steps = append(lp.steps, x.Loops[l])
			}
			if sizes := plan.Levels(&x.Plan, p); levels == nil && sizes != nil {
				levels = &lanes.Split{Axis: ax, Sizes: sizes}
			}
			if !w.Steps {
				break
			}
		}
	}
	if g := (lanes.Groups{}); levels != nil && g.Refine(ax, levels) {
		if f := find(inspect.Ways()[0], g); f.Why == "" {
			if p := b.plan(f.Nest); p.Why == "" {
				return found(f.Nest, p), 0, ""
			}
		}
	}
	return nil, 0, why
}

// plan plans a nest.
func (b *binder) plan(x *inspect.Nest) *plan.Plan {
	x.Plan.Memory = memory{b}
	return plan.Make(&x.Plan)
}

// count counts the loops of a nest.
func (b *binder) count(x *inspect.Nest, p *plan.Plan) {
	scans := map[*plan.Loop]bool{}
	for _, g := range p.Groups {
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
		for _, y := range l.Body {
			if in, ok := y.(*plan.Loop); ok {
				visit(in)
			}
		}
	}
	visit(x.Plan.Root)
}

// unroll runs iterations one after another, from number i on.
func (b *binder) unroll(i, n int, lp *loop) signal {
	for ; i < n; i++ {
		b.bindVar(lp, intValue(int64(i+1)))
		sig := b.exec(lp.Body)
		if sig == breaks || sig == returns {
			return sig
		}
		if !sig.Certain() {
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
		return inspect.MediumLoop // the variables of a scan are watched, so it would seldom do
	}
	return inspect.SmallLoop
}

func (b *binder) smallest() int {
	if b.axis != nil {
		return inspect.SmallLoop
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
			if trip > inspect.MaxLaneTrips {
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
		if !sig.Certain() {
			return b.onlyIf(sig, goesOn|continues, func() signal {
				if trip >= inspect.SmallLoop { // it may be a jump alone that ends it: while (1) { … break; }
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
