package emit

import (
	"slices"

	"github.com/ppl-lang/ppl/ad"
	"github.com/ppl-lang/ppl/compile/internal/inspect"
	"github.com/ppl-lang/ppl/compile/internal/known"
	"github.com/ppl-lang/ppl/compile/internal/lanes"
	"github.com/ppl-lang/ppl/compile/internal/plan"
	"github.com/ppl-lang/ppl/compile/internal/static"
	"github.com/ppl-lang/ppl/compile/ir"
	"github.com/ppl-lang/ppl/lang/diag"
	"github.com/ppl-lang/ppl/lang/types"
)

// carrier evaluates loops as regions.
type carrier struct {
	floor
	functions *static.Functions
	vars      *variables
	lp        *logDensity
	log       *journal
	ctl       *control
	iter      *iterator
	ex        evaluator
	stmts     runner
}

// A loop that is neither in lanes nor a regular recurrence becomes a region. It carries, as a
// whole, every outside variable that its body assigns. It is an OpScan if the number of iterations
// is known, otherwise an OpWhile. This supports any control flow: jumps that parameters decide,
// elements at any distance, computed bounds and conditions. In lanes, each lane runs its own
// region. If the number of iterations differs between lanes, it is padded, and a condition excludes
// the extra iterations.
//
// A carried array is one block of memory whose elements iterations read and replace; the derivative
// keeps the elements read. An array that iterations read or compute as a whole is copied in each
// iteration.

// regionBody is a loop's body or condition during its evaluation into a separate graph. Its first
// inputs are the carried variables.
type regionBody struct {
	lvl  *level
	br   *branch
	vars []*ir.Var
	regs []ad.Ref

	cells []*cell // proxies of the carried variables
	count *value  // number of iterations so far, if it is computed
	state *value  // how the loop ended, if it may end early
	jumps signal  // the ways in which it may end
	ret   *value  // value that it then returns
}

// initial returns the values of the carried variables before the loop.
func (cr *carrier) initial(vars []*ir.Var) []value {
	var out []value
	for _, v := range vars {
		c := cr.vars.storage(v)
		x := cr.b.numeric(cr.vars.load(c, lanes.WholeOf(c.shape), c.typ))
		x.param = c.param
		out = append(out, x)
	}
	return out
}

// enterBody begins the evaluation of a region's graph.
func (cr *carrier) enterBody(vars []*ir.Var, lvl *level) *regionBody {
	r := &regionBody{lvl: lvl, vars: vars, br: &branch{lvl: lvl, saved: map[*cell]state{}, trips: true}}
	lvl.branch = true
	for _, v := range vars {
		c := cr.vars.storage(v)
		reg := r.register(c.typ, c.shape)
		reg.param = c.param
		p := cr.mem.newCell(nil, c.name, c.typ, c.shape)
		p.param, p.depth = c.param, lvl.depth
		p.setWhole(reg)
		r.cells = append(r.cells, p)
	}
	return r
}

// register adds a carried value.
func (r *regionBody) register(typ types.Type, shape []int) value {
	in := r.lvl.g.Input(ad.Type{Shape: shape})
	r.regs = append(r.regs, in)
	return value{typ: typ, shape: shape, lvl: r.lvl, ref: in}
}

// within runs fn with the proxies in place and side effects directed to the region.
func (cr *carrier) within(r *regionBody, fn func()) {
	cells, at := cr.vars.cells, cr.at.into(r.br)
	cr.vars.cells = slices.Clone(cr.vars.cells)
	for i, v := range r.vars {
		if o := cr.vars.overlayOf(cr.vars.cell(v)); o != nil { // overlays are replaced
			temp := o.temp
			o.temp = r.cells[i]
			defer func() { o.temp = temp }()
		} else {
			cr.vars.cells[v.ID] = r.cells[i]
		}
	}
	if r.lvl.loop != nil {
		at = at.in(r.lvl.loop)
	}
	cr.at.with(at, fn)
	cr.vars.cells = cells
}

// output makes v the next result of the region's graph.
func (cr *carrier) output(r *regionBody, v value, shape []int) {
	g := r.lvl.g
	g.Output(g.Broadcast(cr.b.use(cr.b.numeric(v), r.lvl, nil), shape))
}

// outputCarried outputs the next values of the carried variables.
func (cr *carrier) outputCarried(r *regionBody) {
	for _, c := range r.cells {
		cr.output(r, cr.mem.pack(c), c.shape)
	}
}

// guard runs a body that may jump, unless the loop has already ended.
func (cr *carrier) guard(r *regionBody, body func() signal) signal {
	r.addState()
	return cr.ctl.choose(cr.ctl.isOneOf(*r.state, goesOn), func() signal {
		sig := body()
		r.addEnding(sig, cr.ctl.result)
		return sig
	}, func() signal {
		cr.ctl.code, cr.ctl.result = *r.state, r.ret
		return max(r.jumps, goesOn)
	})
}

// addState adds the register that records how a loop ended.
func (r *regionBody) addState() {
	s := r.register(types.IntType, nil)
	r.state = &s
}

// addEnding records how a body may end, and adds registers for the returned value.
func (r *regionBody) addEnding(sig signal, result *value) {
	r.jumps = sig & (breaks | returns)
	if sig&returns != 0 && result != nil {
		v := result.each(func(_ int, leaf value) value {
			reg := r.register(leaf.typ, leaf.shape)
			reg.param = leaf.param
			return reg
		})
		r.ret = &v
	}
}

// outputEnding outputs the next values of the registers of addState and addEnding.
func (cr *carrier) outputEnding(r *regionBody, sig signal) {
	if r.state == nil {
		return
	}
	code := cr.ctl.code
	if sig.Certain() {
		code = intValue(int64(sig))
	}
	cr.output(r, cr.ctl.recode(code, continues, goesOn), nil)
	if r.ret != nil {
		v := *r.ret
		if cr.ctl.result != nil {
			v = *cr.ctl.result
		}
		for k, leaf := range r.ret.parts() {
			cr.output(r, v.parts()[k], leaf.shape)
		}
	}
}

// startEnding returns the values of these registers before the loop.
func (cr *carrier) startEnding(r *regionBody) (out []value) {
	if r.state != nil {
		out = append(out, cr.b.numeric(intValue(int64(goesOn))))
	}
	if r.ret != nil {
		for _, leaf := range r.ret.parts() {
			out = append(out, cr.b.filled(0, leaf.typ, leaf.shape))
		}
	}
	return out
}

// finishRegion stores the results of a region, a node of parent that runs in the lanes of ax. These
// are the final contents of its registers, and the sums that the body added to the log density.
func (cr *carrier) finishRegion(r *regionBody, parent *level, ax *axis, node ad.Ref, sums int, effects bool) signal {
	g, sum, k := parent.g, ad.None, 0
	if effects {
		g.SideEffects = append(g.SideEffects, node)
	}
	if sums > 0 {
		sum = g.SumOf(node, 0)
	}
	next := func(typ types.Type, param bool) value {
		v := cr.b.wrap(g.Final(node, k), parent, ax, typ, param)
		v.ints = nil
		k++
		return v
	}
	for i, v := range r.vars {
		c := cr.vars.storage(v)
		cr.vars.store(c, lanes.WholeOf(c.shape), next(c.typ, r.cells[i].param))
	}
	if r.count != nil {
		k++
	}
	if r.state != nil {
		cr.ctl.code = next(types.IntType, false)
	}
	if cr.ctl.result = nil; r.ret != nil {
		v := r.ret.each(func(_ int, leaf value) value { return next(leaf.typ, leaf.param) })
		cr.ctl.result = &v
	}
	if sum != ad.None {
		cr.lp.addTarget(cr.b.wrap(sum, parent, ax, types.RealType, true))
	}
	return cr.ctl.loopEnds(goesOn | r.jumps)
}

// carriedBy returns the variables that a loop carries as a whole.
func (cr *carrier) carriedBy(lp *loop) []*ir.Var {
	return slices.DeleteFunc(static.CarriedVars(lp.Body), func(v *ir.Var) bool { return known.Tracks(lp.tracked, v) })
}

// sizes returns the number of elements that a loop carries, and of those arrays among them that its
// body uses as a whole.
func (cr *carrier) sizes(lp *loop) (total, copied int) {
	for _, v := range cr.carriedBy(lp) {
		size := cr.vars.cell(v).size
		if total += size; static.UsesWhole(lp.Body, v) {
			copied += size
		}
	}
	return total, copied
}

// unrollsArrays reports whether a loop that would carry arrays has few enough iterations to be
// unrolled instead. It is not unrolled if conditions on parameters decide which elements change: a
// scan changes them in place, but each unrolled conditional returns a copy of the array. Conditions
// in inner loops do not count, since these loops may be lanes.
func (cr *carrier) unrollsArrays(steps int, lp *loop) bool {
	total, copied := cr.sizes(lp)
	short := steps <= inspect.SmallUnrolled || lp.width >= minWidth && steps <= maxRows
	return total > smallCarried && short && copied*steps <= maxCopied && !lp.jumps && !lp.whiles &&
		!slices.ContainsFunc(cr.carriedBy(lp), func(v *ir.Var) bool {
			return cr.vars.cell(v).size > smallCarried && static.ChoosesElements(lp.Body, v)
		})
}

// notCarried returns the reason why a loop cannot become one scan, or "". The loop has steps
// iterations in each lane of ax.
func (cr *carrier) notCarried(ax *axis, steps int, lp *loop) (why string) {
	_, copied := cr.sizes(lp)
	vary := map[*ir.Var]bool{lp.Var: true}
	for _, v := range static.CarriedVars(lp.Body) {
		vary[v] = true
	}
	switch {
	case copied*ax.N > plan.MaxHistory:
		return "too much to carry"
	case cr.unrollsArrays(steps, lp):
		return "few enough iterations to unroll instead of carrying arrays"
	case cr.functions.SideEffectsIn(lp.Body)&static.Looks != 0:
		return inspect.TargetRead
	case cr.functions.SizesVary(lp.Body, vary):
		return lanes.Differ
	}
	return ""
}

// carry evaluates a loop as one scan. The number of steps per lane of the axis in force is known.
// If not nil, active is 1 in the iterations that run.
func (cr *carrier) carry(ax *axis, steps int, lp *loop, i value, active *lanes.Value) signal {
	parent, outer := cr.at.surroundings()
	vars := cr.carriedBy(lp)
	inits := cr.initial(vars)
	step := func() signal {
		run := func() signal {
			cells := cr.vars.cells
			cr.vars.cells = slices.Clone(cells)
			cr.iter.privatise(lp)
			cr.iter.bindVar(lp, i)
			sig := cr.stmts.exec(lp.Body)
			cr.vars.cells = cells
			return sig
		}
		if active != nil {
			return cr.ctl.choose(ofLanes(*active), run, goOn)
		}
		return run()
	}
	lvl := newLevel(parent, outer)
	lvl.loop, lvl.steps = ax, steps
	var r *regionBody
	cr.at.with(cr.at.in(ax), func() { r = cr.enterBody(vars, lvl) })
	cr.within(r, func() {
		cr.ctl.result = nil
		sig := goesOn
		if static.Leaves(lp.Body) {
			sig = cr.guard(r, step)
		} else {
			step()
		}
		cr.outputCarried(r)
		cr.outputEnding(r, sig)
	})
	inits = append(inits, cr.startEnding(r)...)
	g, body := parent.g, r.lvl.g
	args, inputs := cr.arguments(r, inits, parent, outer), slices.Clone(r.regs)
	for _, l := range slices.Concat(r.lvl.streams, r.lvl.captures) {
		args, inputs = append(args, l.Outer), append(inputs, l.In)
	}
	body.SetInputs(inputs)
	sums := cr.outputTarget(r)
	if len(body.Outputs) == 0 && len(body.SideEffects) == 0 {
		cr.iter.settle(lp)
		return goesOn
	}
	g.SetSite(cr.b.site())
	sc := g.DoScan(&ad.Scan{Body: body, Carries: len(r.regs), Streams: len(r.lvl.streams), Sums: sums, Steps: steps}, args)
	sig := cr.finishRegion(r, parent, outer, sc, sums, len(body.SideEffects) > 0)
	cr.iter.settle(lp)
	cr.log.stats.Carried++
	if parent == cr.b.root {
		cr.log.slow(lp, r.cells, ax.N)
	}
	cr.log.keepPlan(lp.Body.Span(), Plan{Way: "carried", Iterations: ax.N, Why: lp.why})
	return sig
}

// outputTarget makes the terms that a region adds to the log density its last result, if there are
// any. sums is the number of results added.
func (cr *carrier) outputTarget(r *regionBody) (sums int) {
	if len(r.br.target) == 0 {
		return 0
	}
	r.lvl.g.Output(sumOf(r.lvl.g, r.br.target))
	return 1
}

// arguments returns the initial contents of a region's registers. Outside the log density the
// region runs once per lane even if all its inputs are equal, because it may draw random numbers.
func (cr *carrier) arguments(r *regionBody, inits []value, parent *level, outer *axis) (args []ad.Ref) {
	g := parent.g
	for k, v := range inits {
		args = append(args, g.Broadcast(cr.b.use(v, parent, outer), r.lvl.g.Type(r.regs[k]).Shape))
	}
	if outer != nil && !cr.lp.inModel && len(args) > 0 {
		args[0] = g.Spread(args[0], outer.N)
	}
	return args
}

// iterated is a loop whose number of iterations is known only when the program runs.
type iterated struct {
	body ir.Stmt
	cond func(count *value) value // whether another iteration runs
	run  func(count *value) signal
	// counted means that the loop has a counter, which is passed to cond and run.
	counted bool
}

// iterate evaluates a loop with a computed end as one OpWhile.
func (cr *carrier) iterate(lp iterated) signal {
	parent, outer := cr.at.surroundings()
	vars := static.CarriedVars(lp.body)
	inits := cr.initial(vars)
	enter := func() *regionBody {
		r := cr.enterBody(vars, newLevel(parent, outer))
		if lp.counted {
			c := r.register(types.IntType, nil)
			r.count = &c
		}
		if static.Leaves(lp.body) {
			r.addState()
		}
		return r
	}
	body := enter()
	cr.within(body, func() {
		cr.ctl.result = nil
		sig := lp.run(body.count) // no iteration runs after the loop has ended
		body.addEnding(sig, cr.ctl.result)
		cr.outputCarried(body)
		if lp.counted {
			next := cr.b.emit(types.RealType, []value{*body.count}, func(g *ad.Graph, a []ad.Ref) ad.Ref { return g.Add(a[0], g.Const(1)) })
			cr.output(body, next, nil)
		}
		cr.outputEnding(body, sig)
	})
	cond := enter()
	cond.addEnding(body.jumps, body.ret)
	cr.within(cond, func() {
		cond.lvl.branch = false // a condition cannot add to the log density
		answer := func(v value) signal {
			cr.ctl.result = &v
			return returns
		}
		more := func() signal { return answer(cr.b.notZero(lp.cond(cond.count))) }
		if cond.state != nil {
			cr.ctl.choose(cr.ctl.isOneOf(*cond.state, goesOn), more, func() signal { return answer(intValue(0)) })
		} else {
			more()
		}
		cr.output(cond, *cr.ctl.result, nil)
	})
	if lp.counted {
		inits = append(inits, cr.b.numeric(intValue(0)))
	}
	inits = append(inits, cr.startEnding(body)...)
	g := parent.g
	args := cr.arguments(body, inits, parent, outer)
	sums := cr.outputTarget(body)
	captured := unifyInputs(cond.lvl, body.lvl)
	for _, x := range []*regionBody{cond, body} {
		x.lvl.g.SetInputs(append(slices.Clone(x.regs), x.lvl.g.Inputs...))
	}
	g.SetSite(cr.b.site())
	w := g.DoWhile(&ad.While{Cond: cond.lvl.g, Body: body.lvl.g, Carries: len(body.regs), Sums: sums, Snapshots: ad.DefaultSnapshots}, append(args, captured...))
	sig := cr.finishRegion(body, parent, outer, w, sums, len(cond.lvl.g.SideEffects)+len(body.lvl.g.SideEffects) > 0)
	cr.log.stats.Iterated++
	cr.log.keepPlan(lp.body.Span(), Plan{Way: "iterated"})
	return sig
}

// iterateWhile evaluates a while loop as one region.
func (cr *carrier) iterateWhile(s *ir.While) signal {
	return cr.iterate(iterated{
		body: s.Body,
		cond: func(*value) value { return cr.ex.eval(s.Cond) },
		run:  func(*value) signal { return cr.stmts.exec(s.Body) },
	})
}

// iterateFor evaluates a for loop whose bounds are computed as one region.
func (cr *carrier) iterateFor(s *ir.For, from, to value) signal {
	at := func(count *value) value {
		i := cr.b.emit(types.IntType, []value{from, *count}, func(g *ad.Graph, a []ad.Ref) ad.Ref { return g.Add(a[0], a[1]) })
		i.ints = nil
		return i
	}
	return cr.iterate(iterated{
		body: s.Body,
		cond: func(count *value) value {
			return cr.b.emit(types.IntType, []value{at(count), to}, func(g *ad.Graph, a []ad.Ref) ad.Ref {
				return g.Do(ad.OpLessEqual, nil, a[0], a[1])
			})
		},
		run: func(count *value) signal {
			cr.iter.bindVar(counting(s, 0), at(count))
			return cr.stmts.exec(s.Body)
		},
		counted: true,
	})
}

// carryRagged is carry for bounds that differ between lanes. sooner is the reason why the loop is
// not a nest, if that was tried. If sizes differ between iterations (lanes.Differ), the loop is
// unrolled, since a scan needs fixed sizes.
func (cr *carrier) carryRagged(s *ir.For, from, to value, sooner string) signal {
	ax := lanes.Innermost(cr.at.axis, lanes.Innermost(from.axis, to.axis))
	if cr.at.axis != ax {
		panic(&fault{Reason: "loop bounds that lanes.Differ between iterations"})
	}
	steps := lanes.MaxTrips(from.known(), to.known(), ax)
	if steps == 0 {
		return goesOn
	}
	inner, i, active := lanes.Padded(from.known(), to.known(), ax, steps, cr.rep.Reserve)
	lp := counting(s, 0)
	if sooner == lanes.Differ && steps <= mostRagged {
		cr.log.stats.Unrolled++
		cr.log.keepPlan(lp.Body.Span(), Plan{Way: "unrolled", Iterations: int(steps), Why: []string{lanes.Differ}})
		nth := func(of []int64, k int) value {
			v := value{typ: types.IntType, axis: ax, ints: make([]int64, ax.N)}
			for l := range v.ints {
				v.ints[l] = of[l*int(steps)+k]
			}
			return v
		}
		// Run each iteration only in the lanes that have it; there, sizes may be equal.
		return cr.ctl.loopEnds(cr.unroll(0, int(steps), func(k int) signal {
			return cr.ctl.choose(nth(active.Ints, k), func() signal {
				cr.iter.bindVar(lp, nth(i.Ints, k))
				return cr.stmts.exec(lp.Body)
			}, goOn)
		}))
	}
	lp.tracked = cr.iter.track(inner, lp, i, &active)
	return cr.carry(inner, int(steps), lp, ofLanes(i), &active)
}

// unroll runs the iterations from k to n-1 one after another.
func (cr *carrier) unroll(k, n int, run func(k int) signal) signal {
	for ; k < n; k++ {
		sig := run(k)
		if sig == breaks || sig == returns {
			return sig
		}
		if !sig.Certain() {
			return cr.ctl.onlyIf(sig, goesOn|continues, func() signal { return cr.unroll(k+1, n, run) })
		}
		if len(cr.at.lvl.g.Nodes) > maxNodes {
			cr.rep.fail(cr.rep.span, diag.TooLarge, "this loop must be unrolled to more than %d operations", maxNodes).throw()
		}
	}
	return goesOn
}

func goOn() signal { return goesOn }
