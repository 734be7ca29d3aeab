package bind

import (
	"slices"

	"github.com/ppl-lang/ppl/ad"
	"github.com/ppl-lang/ppl/compile/ir"
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
// graph of its own, with the carried variables as its first inputs.
type regionBody struct {
	lvl  *level
	br   *branch
	vars []*ir.Var
	regs []ad.Ref

	cells []*cell // proxies of the carried variables
	state *value  // how the loop has ended so far, if it may end early
	ret   *value  // what it returns then
	count *value  // iterations so far, of a loop whose number is computed
}

// carriedVars are the variables of outside that a statement assigns, in order.
func (b *binder) carriedVars(body ir.Stmt) []*ir.Var {
	inside, seen := map[*ir.Var]bool{}, map[*ir.Var]bool{}
	var list []*ir.Var
	walkStmts(body, func(s ir.Stmt) {
		switch s := s.(type) {
		case *ir.Declare:
			inside[s.Var] = true
		case *ir.Unpack:
			for _, v := range s.Vars {
				inside[v] = true
			}
		case *ir.Assign:
			if !seen[s.Var] {
				seen[s.Var] = true
				list = append(list, s.Var)
			}
		}
	})
	return slices.DeleteFunc(list, func(v *ir.Var) bool { return inside[v] })
}

// initial are the values of the carried variables before the loop.
func (b *binder) initial(vars []*ir.Var) []value {
	var out []value
	for _, v := range vars {
		c := b.storage(v)
		x := b.numeric(b.load(c, wholeOf(c.shape), c.typ))
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
	oldCells, oldLvl, oldAxis := b.cells, b.lvl, b.axis
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
	b.lvl = r.lvl
	if r.lvl.loop != nil {
		b.axis = r.lvl.loop
	}
	b.branches = append(b.branches, r.br)
	fn()
	b.branches = b.branches[:len(b.branches)-1]
	b.cells, b.lvl, b.axis = oldCells, oldLvl, oldAxis
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

// ending says how a loop may end early: by which jumps, and the value that it
// then returns.
type ending struct {
	jumps  signal
	result *value // its type, shape and level; nil if nothing is returned
}

// findEnding evaluates a body once to see how it may end.
func (b *binder) findEnding(evaluate func() signal) (e ending, why string) {
	found := false
	why, _ = b.attempt(func() {
		sig := evaluate()
		e = ending{jumps: sig & (breaks | returns), result: b.result}
		if sig&returns == 0 {
			e.result = nil
		}
		found = true
		panic(&abort{reason: carried}) // it only looks
	})
	if found {
		return e, ""
	}
	return e, why
}

// guard runs body unless the loop has ended, and gives the state after it.
func (b *binder) guard(r *regionBody, body func() signal) signal {
	if r.state == nil {
		return body()
	}
	return b.choose(b.isOneOf(*r.state, goesOn), body, func() signal {
		b.code, b.result = *r.state, r.ret
		return breaks | returns
	})
}

// addEnding adds the registers of a loop that may end early.
func (r *regionBody) addEnding(e ending) {
	if e.jumps == 0 {
		return
	}
	s := r.register(types.IntType, nil)
	r.state = &s
	if e.result != nil {
		v := e.result.each(func(_ int, leaf value) value {
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
	if sig.certain() {
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
func (b *binder) startEnding(e ending) []value {
	if e.jumps == 0 {
		return nil
	}
	out := []value{b.numeric(intValue(int64(goesOn)))}
	if e.result != nil {
		for _, leaf := range e.result.parts() {
			out = append(out, value{typ: leaf.typ, shape: leaf.shape, lvl: b.root, ref: b.root.g.Broadcast(b.root.g.Const(0), leaf.shape)})
		}
	}
	return out
}

// finishRegion stores the results of a region: next gives them one after another.
func (b *binder) finishRegion(r *regionBody, e ending, hasTarget bool, next func(typ types.Type, param bool) value) signal {
	for i, v := range r.vars {
		c := b.storage(v)
		b.store(c, wholeOf(c.shape), next(c.typ, r.cells[i].param))
	}
	sig := goesOn
	if e.jumps != 0 {
		b.code = next(types.IntType, false)
		b.code.ints = nil
		sig = goesOn | e.jumps
		if e.result != nil {
			v := e.result.each(func(_ int, leaf value) value { return next(leaf.typ, leaf.param) })
			b.result = &v
		}
	}
	if hasTarget {
		b.addTarget(next(types.RealType, true))
	}
	return b.loopEnds(sig)
}

// surroundings are the level and the axis in force where a region is to stand.
func (b *binder) surroundings() (*level, *axis) {
	parent := b.regionLevel()
	if parent == b.lvl && !b.hidden() {
		return parent, b.axis
	}
	return parent, nil
}

// mostUnrolled is the number of iterations up to which a loop is unrolled rather than
// made to carry so many numbers.
func mostUnrolled(total int) int {
	if total > largeCarried {
		return largeUnrolled
	}
	return smallUnrolled
}

// carry evaluates a loop of known iterations, so many steps per lane of the axis
// in force, as one scan. active tells, if not nil, the iterations that there are.
func (b *binder) carry(ax *axis, steps int, lp *loop, i value, active *value) signal {
	parent, outer := b.surroundings()
	vars := slices.DeleteFunc(b.carriedVars(lp.body), func(v *ir.Var) bool {
		return slices.ContainsFunc(lp.tracked, func(t tracked) bool { return t.v == v })
	})
	inits := b.initial(vars)
	total := 0
	for _, v := range inits {
		total += v.size()
	}
	switch {
	case total*ax.n > maxHistory:
		panic(&abort{reason: "too much to carry"})
	case total > smallCarried && steps <= mostUnrolled(total) && active == nil && !mayJump(lp.body) && !hasWhile(lp.body):
		panic(&abort{reason: "few enough iterations to unroll instead of carrying arrays"})
	}
	step := func() signal {
		run := func() signal {
			defer b.private(lp)()
			b.bindVar(lp, i)
			return b.exec(lp.body)
		}
		if active != nil {
			return b.choose(*active, run, func() signal { return goesOn })
		}
		return run()
	}
	region := func(e ending) (r *regionBody, sig signal) {
		lvl := newLevel(parent, outer)
		lvl.loop, lvl.steps = ax, steps
		old := b.axis
		b.axis = ax
		r = b.enterBody(vars, lvl)
		b.axis = old
		r.addEnding(e)
		b.within(r, func() {
			b.result = nil
			sig = b.guard(r, step)
			b.outputCarried(r)
			b.outputEnding(r, sig)
		})
		return r, sig
	}
	e := ending{}
	if mayJump(lp.body) {
		var why string
		e, why = b.findEnding(func() signal {
			_, sig := region(ending{})
			return sig
		})
		if why != "" {
			panic(&abort{reason: why})
		}
	}
	r, _ := region(e)
	inits = append(inits, b.startEnding(e)...)
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
	sums := 0
	if len(r.br.target) > 0 {
		sums = 1
		body.Output(sumOf(body, r.br.target))
	}
	if len(body.Outputs) == 0 && len(body.Effects) == 0 {
		b.settle(lp)
		return goesOn
	}
	g.SetSite(b.site())
	sc := g.DoScan(&ad.Scan{Body: body, Carries: len(r.regs), Streams: len(r.lvl.streams), Sums: sums, Steps: steps}, args)
	if len(body.Effects) > 0 {
		g.Effects = append(g.Effects, sc)
	}
	k := 0
	sig := b.finishRegion(r, e, sums > 0, func(typ types.Type, param bool) value {
		ref := ad.None
		if k < len(r.regs) {
			ref = g.Final(sc, k)
		} else {
			ref = g.SumOf(sc, 0)
		}
		k++
		v := b.wrap(ref, parent, outer, typ, param)
		v.ints = nil
		return v
	})
	b.settle(lp)
	b.stats.Carried++
	b.keepPlan(Plan{Line: lineOf(lp), Way: "carried", Iterations: ax.n, Why: lp.why})
	return sig
}

// spreadFirst makes sure that a region outside the log density runs once per
// lane, though nothing that enters it may differ: it may draw random numbers.
func (b *binder) spreadFirst(g *ad.Graph, args []ad.Ref, outer *axis) {
	if outer != nil && !b.inModel && len(args) > 0 {
		args[0] = g.Spread(args[0], outer.n)
	}
}

// setInputs puts the inputs of a graph into that order.
func setInputs(g *ad.Graph, inputs []ad.Ref) {
	for k, in := range inputs {
		g.Nodes[in].Attr = k
	}
	g.Inputs = inputs
}

func sumOf(g *ad.Graph, list []ad.Ref) ad.Ref {
	sum := list[0]
	for _, r := range list[1:] {
		sum = g.Add(sum, r)
	}
	return sum
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
	vars := b.carriedVars(lp.body)
	inits := b.initial(vars)
	side := func(e ending, fn func(r *regionBody)) *regionBody {
		r := b.enterBody(vars, newLevel(parent, outer))
		if lp.counted {
			c := r.register(types.IntType, nil)
			r.count = &c
		}
		r.addEnding(e)
		b.within(r, func() { fn(r) })
		return r
	}
	body := func(e ending) (r *regionBody, sig signal) {
		r = side(e, func(r *regionBody) {
			b.result = nil
			sig = lp.run(r.count) // the condition makes sure that the loop has not ended
			b.outputCarried(r)
			if lp.counted {
				next := b.emit(types.RealType, []value{*r.count}, func(g *ad.Graph, a []ad.Ref) ad.Ref { return g.Add(a[0], g.Const(1)) })
				b.output(r, next, nil)
			}
			b.outputEnding(r, sig)
		})
		return r, sig
	}
	e := ending{}
	if mayJump(lp.body) {
		var why string
		e, why = b.findEnding(func() signal {
			_, sig := body(ending{})
			return sig
		})
		if why != "" {
			panic(&abort{reason: why})
		}
	}
	cond := side(e, func(r *regionBody) {
		r.lvl.branch = false // nothing may be added to the log density
		more := func() signal {
			v := b.notZero(lp.cond(r.count))
			b.result = &v
			return returns
		}
		b.result = nil
		if r.state != nil {
			b.choose(b.isOneOf(*r.state, goesOn), more, func() signal {
				v := intValue(0)
				b.result = &v
				return returns
			})
		} else {
			more()
		}
		b.output(r, *b.result, nil)
	})
	r, _ := body(e)
	if lp.counted {
		inits = append(inits, b.numeric(intValue(0)))
	}
	inits = append(inits, b.startEnding(e)...)
	g := parent.g
	var args []ad.Ref
	for k, v := range inits {
		args = append(args, g.Broadcast(b.use(v, parent, outer), r.lvl.g.Type(r.regs[k]).Shape))
	}
	b.spreadFirst(g, args, outer)
	sums := 0
	if len(r.br.target) > 0 {
		sums = 1
		r.lvl.g.Output(sumOf(r.lvl.g, r.br.target))
	}
	captured := unifyInputs(cond.lvl, r.lvl)
	for _, x := range []*regionBody{cond, r} {
		setInputs(x.lvl.g, append(slices.Clone(x.regs), x.lvl.g.Inputs...))
	}
	g.SetSite(b.site())
	w := g.DoWhile(&ad.While{Cond: cond.lvl.g, Body: r.lvl.g, Carries: len(r.regs), Sums: sums, Snapshots: ad.DefaultSnapshots}, append(args, captured...))
	if len(cond.lvl.g.Effects)+len(r.lvl.g.Effects) > 0 {
		g.Effects = append(g.Effects, w)
	}
	k := 0
	sig := b.finishRegion(r, e, sums > 0, func(typ types.Type, param bool) value {
		if lp.counted && k == len(vars) {
			k++
		}
		ref := ad.None
		if k < len(r.regs) {
			ref = g.Final(w, k)
		} else {
			ref = g.SumOf(w, 0)
		}
		k++
		v := b.wrap(ref, parent, outer, typ, param)
		v.ints = nil
		return v
	})
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
			b.bindVar(&loop{body: s.Body, v: s.Var, bind: func(i value) value { return i }}, at(count))
			return b.exec(s.Body)
		},
		counted: true,
	})
}

// carryRagged is carry for bounds that differ between lanes.
func (b *binder) carryRagged(s *ir.For, from, to value) signal {
	ax := innermost(b.axis, innermost(from.axis, to.axis))
	if b.axis != ax {
		panic(&abort{reason: "loop bounds that differ between iterations"})
	}
	upFrom, upTo := upTo(ax, from.axis), upTo(ax, to.axis)
	steps := int64(0)
	for l := range ax.n {
		steps = max(steps, intAt(to, ax, upTo, l, 0)-intAt(from, ax, upFrom, l, 0)+1)
	}
	if steps <= 0 {
		return goesOn
	}
	b.reserveLanes(ax.n, int(steps))
	inner := &axis{n: ax.n * int(steps), parent: ax, lvl: ax.lvl, up: make([]int32, 0, ax.n*int(steps))}
	i := value{typ: types.IntType, axis: inner}
	active := value{typ: types.IntType, axis: inner}
	for l := range ax.n {
		lo, hi := intAt(from, ax, upFrom, l, 0), intAt(to, ax, upTo, l, 0)
		for k := range steps {
			inner.up = append(inner.up, int32(l))
			i.ints = append(i.ints, max(lo, min(lo+k, hi)))
			active.ints = append(active.ints, truth(lo+k <= hi))
		}
	}
	lp := &loop{body: s.Body, v: s.Var, bind: func(i value) value { return i }}
	lp.tracked = b.track(inner, lp, i, &active)
	return b.carry(inner, int(steps), lp, i, &active)
}

// hasWhile reports whether a body contains a while loop, beside whose trips the
// copies of what is carried cost little.
func hasWhile(body ir.Stmt) bool {
	found := false
	walkStmts(body, func(s ir.Stmt) {
		if _, ok := s.(*ir.While); ok {
			found = true
		}
	})
	return found
}
