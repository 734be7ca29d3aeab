package bind

import (
	"slices"

	"github.com/ppl-lang/ppl/ad"
	"github.com/ppl-lang/ppl/compile/internal/inspect"
	"github.com/ppl-lang/ppl/compile/internal/lanes"
	"github.com/ppl-lang/ppl/compile/internal/plan"
	"github.com/ppl-lang/ppl/compile/internal/static"
	"github.com/ppl-lang/ppl/compile/ir"
	"github.com/ppl-lang/ppl/lang/diag"
	"github.com/ppl-lang/ppl/lang/types"
)

// A loop that is neither lanes nor a regular recurrence becomes a region that
// carries every variable of outside that its body assigns, as a whole: an OpScan
// if the number of iterations is known, otherwise an OpWhile. That takes any
// control flow: jumps that parameters decide, elements at any distance, bounds
// and conditions that are computed. Where the region stands in lanes, each lane
// runs its own; iterations whose number differs between lanes are padded and
// left out by a condition.
//
// It is the last resort before unrolling, because an array is carried whole: the
// derivative keeps a copy for each iteration.

// regionBody is a loop's body, or a condition, that is being evaluated into a
// separate graph, with the carried variables as its first inputs.
type regionBody struct {
	lvl  *level
	br   *branch
	vars []*ir.Var
	regs []ad.Ref

	cells []*cell // proxies of the carried variables
	count *value  // iterations so far, of a loop whose number is computed
	state *value  // how the loop has ended so far, if it may end early
	jumps signal  // in which ways it may
	ret   *value  // what it returns then
}

// initial are the values of the carried variables before the loop.
func (b *binder) initial(vars []*ir.Var) []value {
	var out []value
	for _, v := range vars {
		c := b.storage(v)
		x := b.numeric(b.load(c, lanes.WholeOf(c.shape), c.typ))
		x.param = c.param
		out = append(out, x)
	}
	return out
}

// enterBody begins the evaluation of a region's graph.
func (b *binder) enterBody(vars []*ir.Var, lvl *level) *regionBody {
	r := &regionBody{lvl: lvl, vars: vars, br: &branch{lvl: lvl, saved: map[*cell]state{}, trips: true}}
	lvl.branch = true
	for _, v := range vars {
		c := b.storage(v)
		reg := r.register(c.typ, c.shape)
		reg.param = c.param
		p := b.newCell(nil, c.name, c.typ, c.shape)
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

// within runs fn with the proxies in place and effects going to the region.
func (b *binder) within(r *regionBody, fn func()) {
	cells, at := b.cells, b.context.into(r.br)
	b.cells = slices.Clone(b.cells)
	for i, v := range r.vars {
		if o := b.overlayOf(b.cell(v)); o != nil { // the carried values take the place of the copy
			temp := o.temp
			o.temp = r.cells[i]
			defer func() { o.temp = temp }()
		} else {
			b.cells[v.ID] = r.cells[i]
		}
	}
	if r.lvl.loop != nil {
		at = at.in(r.lvl.loop)
	}
	b.with(at, fn)
	b.cells = cells
}

// output makes v the next result of the region's graph.
func (b *binder) output(r *regionBody, v value, shape []int) {
	g := r.lvl.g
	g.Output(g.Broadcast(b.use(b.numeric(v), r.lvl, nil), shape))
}

// outputCarried gives the next values of the carried variables.
func (b *binder) outputCarried(r *regionBody) {
	for _, c := range r.cells {
		b.output(r, b.pack(c), c.shape)
	}
}

// guard runs a body that may jump, unless the loop has ended.
func (b *binder) guard(r *regionBody, body func() signal) signal {
	r.addState()
	return b.choose(b.isOneOf(*r.state, goesOn), func() signal {
		sig := body()
		r.addEnding(sig, b.result)
		return sig
	}, func() signal {
		b.code, b.result = *r.state, r.ret
		return max(r.jumps, goesOn)
	})
}

// addState adds the register that tells how a loop has ended.
func (r *regionBody) addState() {
	s := r.register(types.IntType, nil)
	r.state = &s
}

// addEnding notes how a body may end, and adds registers for what it then returns.
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

// outputEnding are the next values of these registers.
func (b *binder) outputEnding(r *regionBody, sig signal) {
	if r.state == nil {
		return
	}
	code := b.code
	if sig.Certain() {
		code = intValue(int64(sig))
	}
	b.output(r, b.recode(code, continues, goesOn), nil)
	if r.ret != nil {
		v := *r.ret
		if b.result != nil {
			v = *b.result
		}
		for k, leaf := range r.ret.parts() {
			b.output(r, v.parts()[k], leaf.shape)
		}
	}
}

// startEnding are their values before the loop.
func (b *binder) startEnding(r *regionBody) (out []value) {
	if r.state != nil {
		out = append(out, b.numeric(intValue(int64(goesOn))))
	}
	if r.ret != nil {
		for _, leaf := range r.ret.parts() {
			out = append(out, value{typ: leaf.typ, shape: leaf.shape, lvl: b.root, ref: b.root.g.Broadcast(b.root.g.Const(0), leaf.shape)})
		}
	}
	return out
}

// finishRegion stores the results of a region that runs in the lanes of ax in parent:
// final gives what a register holds in the end, and sum what the body added to the log
// density, None if that is nothing.
func (b *binder) finishRegion(r *regionBody, parent *level, ax *axis, final func(k int) ad.Ref, sum ad.Ref) signal {
	k := 0
	next := func(typ types.Type, param bool) value {
		v := b.wrap(final(k), parent, ax, typ, param)
		v.ints = nil
		k++
		return v
	}
	for i, v := range r.vars {
		c := b.storage(v)
		b.store(c, lanes.WholeOf(c.shape), next(c.typ, r.cells[i].param))
	}
	if r.count != nil {
		k++
	}
	if r.state != nil {
		b.code = next(types.IntType, false)
	}
	if b.result = nil; r.ret != nil {
		v := r.ret.each(func(_ int, leaf value) value { return next(leaf.typ, leaf.param) })
		b.result = &v
	}
	if sum != ad.None {
		b.addTarget(b.wrap(sum, parent, ax, types.RealType, true))
	}
	return b.loopEnds(goesOn | r.jumps)
}

// mostUnrolled is the number of iterations up to which a loop is unrolled rather than
// made to carry so many numbers.
func mostUnrolled(total int) int {
	if total > largeCarried {
		return largeUnrolled
	}
	return inspect.SmallUnrolled
}

// carriedBy are the variables that a loop carries as a whole.
func (b *binder) carriedBy(lp *loop) []*ir.Var {
	return slices.DeleteFunc(static.CarriedVars(lp.Body), lp.tracks)
}

// notCarried is why a loop of so many iterations, in all lanes of ax, is not evaluated
// as one scan; "" if it can be.
func (b *binder) notCarried(ax *axis, steps int, lp *loop) (why string) {
	total := 0
	for _, v := range b.carriedBy(lp) {
		total += b.cell(v).size
	}
	vary := map[*ir.Var]bool{lp.Var: true}
	for _, v := range static.CarriedVars(lp.Body) {
		vary[v] = true
	}
	switch {
	case total*ax.N > plan.MaxHistory:
		return "too much to carry"
	case total > smallCarried && steps <= mostUnrolled(total) && !static.MayJump(lp.Body) && !static.Has(lp.Body, static.IsWhile):
		return "few enough iterations to unroll instead of carrying arrays"
	case b.functions.EffectsIn(lp.Body)&static.Looks != 0:
		return inspect.TargetRead
	case b.functions.SizesVary(lp.Body, vary):
		return lanes.Differ
	}
	return ""
}

// carry evaluates a loop of known iterations, so many steps per lane of the axis
// in force, as one scan. active tells, if not nil, the iterations that there are.
func (b *binder) carry(ax *axis, steps int, lp *loop, i value, active *value) signal {
	parent, outer := b.surroundings()
	vars := b.carriedBy(lp)
	inits := b.initial(vars)
	step := func() signal {
		run := func() signal {
			cells := b.cells
			b.cells = slices.Clone(cells)
			b.privatise(lp)
			b.bindVar(lp, i)
			sig := b.exec(lp.Body)
			b.cells = cells
			return sig
		}
		if active != nil {
			return b.choose(*active, run, func() signal { return goesOn })
		}
		return run()
	}
	lvl := newLevel(parent, outer)
	lvl.loop, lvl.steps = ax, steps
	var r *regionBody
	b.with(b.context.in(ax), func() { r = b.enterBody(vars, lvl) })
	b.within(r, func() {
		b.result = nil
		sig := goesOn
		if static.Leaves(lp.Body) {
			sig = b.guard(r, step)
		} else {
			step()
		}
		b.outputCarried(r)
		b.outputEnding(r, sig)
	})
	inits = append(inits, b.startEnding(r)...)
	g, body := parent.g, r.lvl.g
	var args, inputs []ad.Ref
	for k, v := range inits {
		args, inputs = append(args, g.Broadcast(b.use(v, parent, outer), body.Type(r.regs[k]).Shape)), append(inputs, r.regs[k])
	}
	b.spreadFirst(g, args, outer)
	for _, l := range slices.Concat(r.lvl.streams, r.lvl.captures) {
		args, inputs = append(args, l.outer), append(inputs, l.in)
	}
	setInputs(body, inputs)
	sums := b.outputTarget(r)
	if len(body.Outputs) == 0 && len(body.Effects) == 0 {
		b.settle(lp)
		return goesOn
	}
	g.SetSite(b.site())
	sc := g.DoScan(&ad.Scan{Body: body, Carries: len(r.regs), Streams: len(r.lvl.streams), Sums: sums, Steps: steps}, args)
	if len(body.Effects) > 0 {
		g.Effects = append(g.Effects, sc)
	}
	sum := ad.None
	if sums > 0 {
		sum = g.SumOf(sc, 0)
	}
	sig := b.finishRegion(r, parent, outer, func(k int) ad.Ref { return g.Final(sc, k) }, sum)
	b.settle(lp)
	b.stats.Carried++
	b.keepPlan(Plan{Line: lineOf(lp), Way: "carried", Iterations: ax.N, Why: lp.why})
	return sig
}

// outputTarget makes what a region adds to the log density its last result, if it adds
// anything; sums tells how many results that are.
func (b *binder) outputTarget(r *regionBody) (sums int) {
	if len(r.br.target) == 0 {
		return 0
	}
	r.lvl.g.Output(sumOf(r.lvl.g, r.br.target))
	return 1
}

// spreadFirst makes sure that a region outside the log density runs once per
// lane, though nothing that enters it may differ: it may draw random numbers.
func (b *binder) spreadFirst(g *ad.Graph, args []ad.Ref, outer *axis) {
	if outer != nil && !b.inModel && len(args) > 0 {
		args[0] = g.Spread(args[0], outer.N)
	}
}

// setInputs puts the inputs of a graph into that order.
func setInputs(g *ad.Graph, inputs []ad.Ref) {
	for k, in := range inputs {
		g.Nodes[in].Attr = k
	}
	g.Inputs = inputs
}

// iterated is a loop whose trips are counted only when the program runs.
type iterated struct {
	body ir.Stmt
	cond func(count *value) value // of another trip
	run  func(count *value) signal
	// counted reports that it has a counter, which cond and run see.
	counted bool
}

// iterate evaluates a loop whose end is computed as one OpWhile.
func (b *binder) iterate(lp iterated) signal {
	parent, outer := b.surroundings()
	vars := static.CarriedVars(lp.body)
	inits := b.initial(vars)
	enter := func() *regionBody {
		r := b.enterBody(vars, newLevel(parent, outer))
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
	b.within(body, func() {
		b.result = nil
		sig := lp.run(body.count) // the condition makes sure that the loop has not ended
		body.addEnding(sig, b.result)
		b.outputCarried(body)
		if lp.counted {
			next := b.emit(types.RealType, []value{*body.count}, func(g *ad.Graph, a []ad.Ref) ad.Ref { return g.Add(a[0], g.Const(1)) })
			b.output(body, next, nil)
		}
		b.outputEnding(body, sig)
	})
	cond := enter()
	cond.addEnding(body.jumps, body.ret)
	b.within(cond, func() {
		cond.lvl.branch = false // nothing may be added to the log density
		answer := func(v value) signal {
			b.result = &v
			return returns
		}
		more := func() signal { return answer(b.notZero(lp.cond(cond.count))) }
		if cond.state != nil {
			b.choose(b.isOneOf(*cond.state, goesOn), more, func() signal { return answer(intValue(0)) })
		} else {
			more()
		}
		b.output(cond, *b.result, nil)
	})
	if lp.counted {
		inits = append(inits, b.numeric(intValue(0)))
	}
	inits = append(inits, b.startEnding(body)...)
	g := parent.g
	var args []ad.Ref
	for k, v := range inits {
		args = append(args, g.Broadcast(b.use(v, parent, outer), body.lvl.g.Type(body.regs[k]).Shape))
	}
	b.spreadFirst(g, args, outer)
	sums := b.outputTarget(body)
	captured := unifyInputs(cond.lvl, body.lvl)
	for _, x := range []*regionBody{cond, body} {
		setInputs(x.lvl.g, append(slices.Clone(x.regs), x.lvl.g.Inputs...))
	}
	g.SetSite(b.site())
	w := g.DoWhile(&ad.While{Cond: cond.lvl.g, Body: body.lvl.g, Carries: len(body.regs), Sums: sums, Snapshots: ad.DefaultSnapshots}, append(args, captured...))
	if len(cond.lvl.g.Effects)+len(body.lvl.g.Effects) > 0 {
		g.Effects = append(g.Effects, w)
	}
	sum := ad.None
	if sums > 0 {
		sum = g.SumOf(w, 0)
	}
	sig := b.finishRegion(body, parent, outer, func(k int) ad.Ref { return g.Final(w, k) }, sum)
	b.stats.Iterated++
	b.keepPlan(Plan{Line: lp.body.Span().Begin().Line, Way: "iterated"})
	return sig
}

// iterateWhile evaluates a while loop as one region.
func (b *binder) iterateWhile(s *ir.While) signal {
	return b.iterate(iterated{
		body: s.Body,
		cond: func(*value) value { return b.eval(s.Cond) },
		run:  func(*value) signal { return b.exec(s.Body) },
	})
}

// iterateFor evaluates a for loop whose bounds are computed as one region.
func (b *binder) iterateFor(s *ir.For, from, to value) signal {
	at := func(count *value) value {
		i := b.emit(types.IntType, []value{from, *count}, func(g *ad.Graph, a []ad.Ref) ad.Ref { return g.Add(a[0], a[1]) })
		i.ints = nil
		return i
	}
	return b.iterate(iterated{
		body: s.Body,
		cond: func(count *value) value {
			return b.emit(types.IntType, []value{at(count), to}, func(g *ad.Graph, a []ad.Ref) ad.Ref {
				return g.Do(ad.OpLessEqual, nil, a[0], a[1])
			})
		},
		run: func(count *value) signal {
			b.bindVar(counting(s, 0), at(count))
			return b.exec(s.Body)
		},
		counted: true,
	})
}

// carryRagged is carry for bounds that lanes.Differ between lanes; sooner is why the loop is no
// nest, if that was looked at. Where sizes were found to lanes.Differ it is unrolled, as a scan has
// one size too.
func (b *binder) carryRagged(s *ir.For, from, to value, sooner string) signal {
	ax := lanes.Innermost(b.axis, lanes.Innermost(from.axis, to.axis))
	if b.axis != ax {
		panic(&fault{Reason: "loop bounds that lanes.Differ between iterations"})
	}
	upFrom, upTo := plan.UpTo(ax, from.axis), plan.UpTo(ax, to.axis)
	steps := int64(0)
	for l := range ax.N {
		steps = max(steps, to.known().At(upTo, l, 0)-from.known().At(upFrom, l, 0)+1)
	}
	if steps <= 0 {
		return goesOn
	}
	b.reserveLanes(ax.N, int(steps))
	inner := &axis{N: ax.N * int(steps), Parent: ax, Level: levelOf(ax), Up: make([]int32, 0, ax.N*int(steps))}
	i := value{typ: types.IntType, axis: inner}
	active := value{typ: types.IntType, axis: inner}
	for l := range ax.N {
		lo, hi := from.known().At(upFrom, l, 0), to.known().At(upTo, l, 0)
		for k := range steps {
			inner.Up = append(inner.Up, int32(l))
			i.ints = append(i.ints, max(lo, min(lo+k, hi)))
			active.ints = append(active.ints, lanes.Truth(lo+k <= hi))
		}
	}
	lp := counting(s, 0)
	if sooner == lanes.Differ && steps <= mostRagged {
		b.stats.Unrolled++
		b.keepPlan(Plan{Line: lineOf(lp), Way: "unrolled", Iterations: int(steps), Why: []string{lanes.Differ}})
		return b.loopEnds(b.unrollRagged(0, int(steps), ax, i.ints, active.ints, lp))
	}
	lp.tracked = b.track(inner, lp, i, &active)
	return b.carry(inner, int(steps), lp, i, &active)
}

// unrollRagged runs the iterations of carryRagged one after another, from number k of n on, each in
// those lanes that have so many. What sizes are at one iteration may be the same in all of these.
func (b *binder) unrollRagged(k, n int, ax *axis, i, active []int64, lp *loop) signal {
	nth := func(of []int64) value {
		v := value{typ: types.IntType, axis: ax, ints: make([]int64, ax.N)}
		for l := range v.ints {
			v.ints[l] = of[l*n+k]
		}
		return v
	}
	for ; k < n; k++ {
		sig := b.choose(nth(active), func() signal {
			b.bindVar(lp, nth(i))
			return b.exec(lp.Body)
		}, func() signal { return goesOn })
		if sig == breaks || sig == returns {
			return sig
		}
		if !sig.Certain() {
			return b.onlyIf(sig, goesOn|continues, func() signal { return b.unrollRagged(k+1, n, ax, i, active, lp) })
		}
		if len(b.lvl.g.Nodes) > maxNodes {
			b.fail(b.span, diag.TooLarge, "this loop must be unrolled to more than %d operations", maxNodes).throw()
		}
	}
	return goesOn
}
