package emit

import (
	"slices"

	"github.com/ppl-lang/ppl/compile/internal/inspect"
	"github.com/ppl-lang/ppl/compile/internal/known"
	"github.com/ppl-lang/ppl/compile/internal/lanes"
	"github.com/ppl-lang/ppl/compile/internal/plan"
	"github.com/ppl-lang/ppl/compile/internal/static"
	"github.com/ppl-lang/ppl/compile/ir"
	"github.com/ppl-lang/ppl/lang/diag"
)

// loops evaluates loops, each in the first way that is exact: as a nest, carried, or unrolled.
type loops struct {
	floor
	log   *journal
	ctl   *control
	idx   *indexer
	iter  *iterator
	nests *nests
	carr  *carrier
	ex    evaluator
	stmts runner
}

func (ls *loops) execFor(s *ir.For) signal {
	from, to := ls.ex.eval(s.From), ls.ex.eval(s.To)
	switch {
	case from.ints == nil || to.ints == nil:
		return ls.carr.iterateFor(s, from, to)
	case from.axis == nil && to.axis == nil:
		lo := from.ints[0]
		n := int(max(0, to.ints[0]-lo+1))
		return ls.run(n, counting(s, lo-1))
	case ls.at.hidden() || ls.at.hiddenAxis(from.axis) || ls.at.hiddenAxis(to.axis) || ls.at.scanning():
		return ls.carr.carryRagged(s, from, to, "")
	}
	ax, of := lanes.Ragged(from.known(), to.known(), ls.at.axis, ls.rep.Reserve)
	lp, i := counting(s, 0), ofLanes(of)
	if ax.N == 0 {
		return goesOn
	}
	sig := goesOn
	ls.at.with(ls.at.in(ax.Parent), func() {
		if _, why := ls.runLaned(ax, lp, i); why != "" {
			ls.log.note(lp, why)
			sig = ls.carr.carryRagged(s, from, to, why)
		}
	})
	return sig
}

// run runs a loop of n iterations, the same number in all lanes.
func (ls *loops) run(n int, lp *loop) signal {
	if n == 0 {
		return goesOn
	}
	// The maximum numbers of iterations for unrolling, instead of lanes or a region.
	small, smallCarry := smallTop, inspect.SmallLoop
	if ls.at.axis != nil {
		small = inspect.SmallLoop
	}
	if ls.at.scanning() {
		smallCarry = inspect.MediumLoop // a scan watches its variables: unrolling seldom helps
	}
	apart := ls.opts.Unroll || lp.inOrder
	if n > smallCarry && !lp.inOrder && (!apart || n > firstEnd) && static.Leaves(lp.Body) {
		var early bool
		if n, early = ls.ends(n, lp); early {
			return ls.carr.iterateFor(lp.counts, intValue(lp.Add+1), intValue(lp.Add+int64(n)))
		}
	}
	if n > small && !apart && !ls.at.hidden() && !ls.at.scanning() {
		ax, i := ls.iter.iterations(n)
		lp.unrolls = n <= maxNarrow
		last, why := ls.runLaned(ax, lp, i)
		if last > 0 { // data end the loop early
			ax, i = ls.iter.iterations(last)
			_, why = ls.runLaned(ax, lp, i)
		}
		if why == "" {
			return goesOn
		}
		ls.log.note(lp, why)
	}
	if n > smallCarry && !apart {
		if lo, hi := ls.even(n, lp); hi-lo < n {
			return ls.peeled(n, lo, hi, lp)
		}
		ax, i := ls.iter.iterations(n)
		lp.tracked = ls.iter.track(ax, lp, i.known(), nil)
		if why := ls.carr.notCarried(ax, n, lp); why == "" {
			return ls.carr.carry(ax, n, lp, i, nil)
		} else {
			ls.log.note(lp, why)
		}
	}
	ls.log.stats.Unrolled++
	if len(lp.why) > 0 { // only if it was not unrolled because it is short
		ls.log.keepPlan(lp.Body.Span(), Plan{Way: "unrolled", Iterations: n, Why: lp.why})
	}
	lp.tracked = nil
	return ls.oneByOne(0, n, lp)
}

// oneByOne unrolls the iterations from lo to hi-1.
func (ls *loops) oneByOne(lo, hi int, lp *loop) signal {
	return ls.ctl.loopEnds(ls.carr.unroll(lo, hi, func(k int) signal {
		ls.iter.bindVar(lp, intValue(int64(k+1)))
		return ls.stmts.exec(lp.Body)
	}))
}

// even returns the iterations, from lo to hi-1, in which conditions that only differ in the first
// or last iterations are the same, if they decide whether a carried array is assigned. In a scan,
// such a condition makes a copy of the array in each step: a Kalman filter of 400 times whose
// covariances are assigned if (t < N) takes 264 µs for a gradient, and 15 if its last iteration is
// peeled.
func (ls *loops) even(n int, lp *loop) (lo, hi int) {
	lo, hi = 0, n
	if lp.counts == nil || static.MayJump(lp.Body) || n <= 4*maxPeeled || ls.at.hidden() || ls.at.scanning() {
		return lo, hi
	}
	ev := ls.iter.users.evaluator()
	ax, i := ls.iter.iterations(n)
	cells := ls.iter.vars.cells
	ls.iter.vars.cells = slices.Clone(cells)
	ls.at.with(ls.at.in(ax), func() {
		ls.iter.bindVar(lp, i)
		for s := range ir.Stmts(lp.Body) {
			s, ok := s.(*ir.If)
			if !ok || !ls.assignsArray(s) {
				continue
			}
			if !ev.Knows(s.Cond, ls.iter.vars) {
				continue
			}
			c, err := ev.Eval(s.Cond, &known.Context{Scope: ls.iter.vars, Binding: ls.rep, Axis: ax})
			if err != nil || c.Axis != ax || len(c.Ints) != n { // a mistake is reported by the general evaluation
				continue
			}
			middle, first, last := c.Ints[n/2], 0, n
			for k, x := range c.Ints {
				switch {
				case x == middle:
				case k < n/2:
					first = k + 1
				default:
					last = min(last, k)
				}
			}
			if first <= maxPeeled && n-last <= maxPeeled {
				lo, hi = max(lo, first), min(hi, last)
			}
		}
	})
	ls.iter.vars.cells = cells
	return lo, hi
}

// assignsArray reports whether a statement assigns an array of more than smallCarried elements that
// is declared outside.
func (ls *loops) assignsArray(s ir.Stmt) bool {
	return slices.ContainsFunc(static.CarriedVars(s), func(v *ir.Var) bool {
		c := ls.iter.vars.cell(v)
		return c != nil && c.size > smallCarried
	})
}

// peeled evaluates a loop with its iterations before lo and from hi on unrolled.
func (ls *loops) peeled(n, lo, hi int, lp *loop) signal {
	ls.oneByOne(0, lo, lp)
	ls.run(hi-lo, counting(lp.counts, lp.Add+int64(lo)))
	return ls.oneByOne(hi, n, lp)
}

// ends returns how many of n iterations a loop with a jump runs, if data decide that. early means
// that parameters may end it long before: it repeats a calculation until a condition holds. A loop
// whose variable is an index goes through data instead, and probably runs to the end, unless there
// are very many iterations.
func (ls *loops) ends(n int, lp *loop) (runs int, early bool) {
	many := n > maxMasked/max(1, plan.Lanes(ls.at.axis))
	repeats := lp.counts != nil && (many || static.Ends(lp.Body) && !static.Indexes(lp.Body, lp.Var))
	if ls.at.hidden() || ls.at.scanning() || static.Has(lp.Body, static.IsReturn) {
		return n, repeats
	}
	for first := min(n, firstEnd); first <= maxMasked; first = min(n, nextEnd*first) {
		ax, i := ls.iter.iterations(first)
		f := inspect.Inspect(ls.iter.users.evaluator(), ls.iter.outside(), inspect.Request{
			Loop: &lp.Loop, Axis: ax, Number: i.known(), Tracked: ls.iter.track(ax, lp, i.known(), nil), Way: inspect.Ways()[0],
			Skipped: ls.at.mayBeSkipped(),
		})
		switch {
		case f.Last > 0:
			return f.Last, false
		case f.Why == inspect.Jumps:
			return n, repeats
		case f.Why != "" || first == n:
			return n, many && repeats
		}
	}
	return n, repeats
}

// runLaned evaluates a loop as a nest. why is the reason if that is not possible. If last is not 0,
// data end the loop after that many iterations, and nothing has been evaluated.
func (ls *loops) runLaned(ax *axis, lp *loop, i value) (last int, why string) {
	if static.Has(lp.Body, static.IsReturn) {
		return 0, inspect.Jumps
	}
	lp.tracked = ls.iter.track(ax, lp, i.known(), nil)
	n, last, why := ls.planned(ax, lp, i)
	if n != nil {
		ls.nests.evaluate(n, lp)
	}
	return last, why
}

// planned returns the nest of a loop with its plan, or nil and the reason.
func (ls *loops) planned(ax *axis, lp *loop, i value) (n *nest, last int, why string) {
	ev, out := ls.iter.users.evaluator(), ls.iter.outside()
	if lp.Over != nil {
		out.over[lp.Over] = lp.over
	}
	find := func(w inspect.Way, g lanes.Groups) *inspect.Found {
		f := inspect.Inspect(ev, out, inspect.Request{
			Loop: &lp.Loop, Axis: ax, Number: i.known(), Tracked: lp.tracked, Groups: g, Way: w, Across: lp.across, Steps: lp.steps,
			Skipped: ls.at.mayBeSkipped(),
		})
		if m := f.Mistake; m != nil && m.Code != diag.Rejected && !Unknown(diag.List{*m}) && !static.Leaves(lp.Body) && !ls.at.mayBeSkipped() {
			ls.rep.complain(*m).throw() // else the iteration with the mistake reports it
		}
		return f
	}
	found := func(x *inspect.Nest, p *plan.Plan) *nest {
		lp.tracked = x.Tracked
		ls.count(x, p)
		return ls.nests.newNest(x, p, out)
	}
	var tried []*inspect.Found
	var levels *lanes.Split
	byLevels := func() *nest {
		if g := (lanes.Groups{}); levels != nil && g.Refine(ax, levels) {
			if f := find(inspect.Ways()[0], g); f.Why == "" {
				if p := plan.Make(&f.Nest.Plan, ls.rep); p.Why == "" {
					return found(f.Nest, p)
				}
			}
		}
		return nil
	}
	for _, w := range inspect.Ways() {
		if slices.ContainsFunc(tried, func(f *inspect.Found) bool { return f.Foresees(w, len(lp.across) > 0) }) {
			continue
		}
		for written := 0; ; written = len(lp.steps) {
			if w.Steps && len(lp.steps) == written { // no such loops, or no new ones
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
			x, p := f.Nest, plan.Make(&f.Nest.Plan, ls.rep)
			if why = p.Why; why == "" && levels != nil && p.Carried() > maxStepped {
				if n := byLevels(); n != nil {
					return n, 0, ""
				}
			}
			if why == "" {
				return found(x, p), 0, ""
			}
			if lp.unplanned(x, p); lp.unrolls && lp.narrow && lp.width >= minWidth && len(p.Steps) == 0 && ls.carr.unrollsArrays(ax.N, lp) {
				return nil, 0, why
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
	if n := byLevels(); n != nil {
		return n, 0, ""
	}
	if lp.second != nil { // kept for loops that are carried or unrolled
		lp.Body, lp.second, lp.across, lp.steps = lp.second, nil, nil, nil
		return ls.planned(ax, lp, i)
	}
	return nil, 0, why
}

// unplanned records what a nest without a plan shows about unrolling the loop.
func (lp *loop) unplanned(x *inspect.Nest, p *plan.Plan) {
	lp.narrow = true
	for _, u := range p.Tangled {
		lp.width = max(lp.width, u.Domain.N/max(1, x.Plan.Root.Axis.N))
		wide := func(t plan.Touch) bool { return t.Some || t.How == plan.Reads && len(t.Access.Offsets) > maxNeighbours }
		if u.Loop != x.Plan.Root && slices.ContainsFunc(u.Touches, wide) {
			lp.narrow = false
		}
	}
	lp.jumps = slices.ContainsFunc(x.Statements, func(s *inspect.Statement) bool {
		return s.Compound && slices.ContainsFunc(s.Stmts, static.MayJump)
	})
	lp.whiles = slices.ContainsFunc(x.Statements, func(s *inspect.Statement) bool {
		return s.Compound && slices.ContainsFunc(s.Stmts, func(s ir.Stmt) bool { return static.Has(s, static.IsWhile) || static.Has(s, static.Leaves) })
	})
}

// count counts the loops of a nest.
func (ls *loops) count(x *inspect.Nest, p *plan.Plan) {
	scans := map[*plan.Loop]bool{}
	for _, g := range p.Groups {
		if g.Kind == plan.Recurrence {
			scans[g.Units[0].Loop] = true
		}
	}
	for l := range x.Loops {
		if scans[l] {
			ls.log.stats.Scanned++
		} else {
			ls.log.stats.Laned++
		}
	}
}

// whileFrom runs the iterations of a while loop, starting with number trip.
func (ls *loops) whileFrom(s *ir.While, trip int) signal {
	for ; trip < maxTrips; trip++ {
		instead := ls.idx.instead // in the condition; iterations that are not reached do not matter
		cond := ls.ex.eval(s.Cond)
		if ls.idx.instead != instead { // with a placeholder element the loop might never end
			ls.rep.fail(s.Cond.Span(), diag.IndexRange, "a while loop uses an index that is out of range").throw()
		}
		i, ok := cond.scalarInt()
		if !ok {
			if cond.ints == nil || ls.at.hidden() || ls.at.hiddenAxis(cond.axis) {
				return ls.carr.iterateWhile(s)
			}
			if trip > inspect.MaxLaneTrips {
				panic(&fault{Reason: "a while loop of many trips, which differ between iterations"})
			}
			return ls.ctl.choose(cond, func() signal {
				return ls.ctl.onlyIf(ls.stmts.exec(s.Body), goesOn|continues, func() signal { return ls.whileFrom(s, trip+1) })
			}, goOn)
		}
		if i == 0 {
			return goesOn
		}
		if trip >= maxSkippedTrips && ls.at.mayBeSkipped() {
			return ls.carr.iterateWhile(s)
		}
		sig := ls.stmts.exec(s.Body)
		if sig == breaks || sig == returns {
			return sig
		}
		if !sig.Certain() {
			return ls.ctl.onlyIf(sig, goesOn|continues, func() signal {
				if trip >= inspect.SmallLoop { // only a jump can end it: while (1) { … break; }
					return ls.carr.iterateWhile(s)
				}
				return ls.whileFrom(s, trip+1)
			})
		}
	}
	ls.rep.fail(s.Cond.Span(), diag.EndlessLoop, "this while loop does not end").throw()
	return goesOn
}
