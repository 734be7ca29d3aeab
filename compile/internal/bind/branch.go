package bind

import (
	"slices"

	"github.com/ppl-lang/ppl/ad"
	"github.com/ppl-lang/ppl/compile/ir"
	"github.com/ppl-lang/ppl/lang/types"
)

// branch is one side of a conditional that parameters decide, while it is being
// evaluated into a graph of its own.
type branch struct {
	lvl    *level
	saved  map[*cell]state // content before the branch of the cells that it changed
	order  []*cell
	writes []pending // to cells that a loop around watches
	adds   []pending
	target []ad.Ref
	result *value // returned
	sig    signal
}

// pending is a write in a branch to elements of a cell that the log of a loop
// around watches: it is made after the conditional, with the value that the
// branch taken gives.
type pending struct {
	c      *cell
	v      *ir.Var
	acc    access
	val    value
	negate bool // of an addition
}

func (a access) equal(b access) bool {
	return a.axis == b.axis && slices.Equal(a.base, b.base) && slices.Equal(a.offsets(), b.offsets())
}

// pendingValue looks for what the branches under way wrote to elements of c.
func (b *binder) pendingValue(c *cell, acc access, typ types.Type) (value, bool) {
	for i := len(b.branches) - 1; i >= 0; i-- {
		br := b.branches[i]
		if br.lvl.depth > b.lvl.depth {
			continue
		}
		for k := len(br.writes) - 1; k >= 0; k-- {
			w := br.writes[k]
			if w.c != c {
				continue
			}
			if w.acc.equal(acc) {
				return b.shaped(w.val, acc.ix.Shape(), typ), true
			}
			panic(&abort{reason: "different elements of one variable in a branch that parameters decide"})
		}
	}
	return value{}, false
}

func (b *binder) writePending(c *cell, v *ir.Var, acc access, val value) {
	br := b.branches[len(b.branches)-1]
	for k, w := range br.writes {
		if w.c != c {
			continue
		}
		if !w.acc.equal(acc) {
			panic(&abort{reason: "different elements of one variable in a branch that parameters decide"})
		}
		br.writes[k].val = val
		return
	}
	br.writes = append(br.writes, pending{c: c, v: v, acc: acc, val: val})
}

// saveForBranch keeps a cell's content before a branch writes to it.
func (b *binder) saveForBranch(c *cell) {
	for i := len(b.branches) - 1; i >= 0; i-- {
		br := b.branches[i]
		if c.depth >= br.lvl.depth {
			return // declared inside
		}
		if _, ok := br.saved[c]; ok {
			continue
		}
		s := c.state
		s.owned = false
		c.owned = false
		br.saved[c] = s
		br.order = append(br.order, c)
	}
}

// regionLevel is the level around a region that begins here.
func (b *binder) regionLevel() *level {
	if f := b.frame; f != nil && f.scan != nil && b.lvl == f.ax.lvl {
		return f.scan.lvl
	}
	return b.lvl
}

// execIf runs a conditional. rest are the statements after it, which belong
// into the branches if one of them may return.
func (b *binder) execIf(s *ir.If, rest []ir.Stmt) signal {
	cond := b.eval(s.Cond)
	if i, ok := cond.scalarInt(); ok {
		if i != 0 {
			return b.exec(s.Then)
		}
		return b.exec(s.Else)
	}
	if cond.ints != nil && !b.hiddenAxis(cond.axis) && !b.hidden() {
		return b.partition(s, cond)
	}
	then, els := []ir.Stmt{s.Then}, []ir.Stmt{}
	if s.Else != nil {
		els = append(els, s.Else)
	}
	if rest != nil {
		then, els = append(then, rest...), append(els, rest...)
		b.stats.Ifs++
		b.tookRest = false
		sig := b.region(cond, func() signal { return b.execAll(then) }, func() signal { return b.execAll(els) })
		b.tookRest = true
		return sig
	}
	b.stats.Ifs++
	return b.region(cond, func() signal { return b.execAll(then) }, func() signal { return b.execAll(els) })
}

// partition runs the sides of a conditional that data decide differently in
// different iterations, each in its own lanes.
func (b *binder) partition(s *ir.If, cond value) signal {
	ax := innermost(b.axis, cond.axis)
	mask := b.maskOf(cond, ax)
	var lanes [2][]int32
	for l, t := range mask {
		k := 1
		if t {
			k = 0
		}
		lanes[k] = append(lanes[k], int32(l))
	}
	old := b.axis
	defer func() { b.axis = old }()
	for k, side := range []ir.Stmt{s.Then, s.Else} {
		if side == nil || len(lanes[k]) == 0 {
			continue
		}
		b.axis = ax
		if len(lanes[k]) < ax.n {
			b.axis = &axis{n: len(lanes[k]), parent: ax, up: lanes[k], lvl: ax.lvl, subset: true}
		}
		if sig := b.exec(side); sig != goesOn {
			if len(lanes[k]) == ax.n {
				return sig
			}
			panic(&abort{reason: "break, continue or return in some iterations"})
		}
	}
	return goesOn
}

// region evaluates both sides of a conditional that parameters decide, each
// into a graph of its own, and adds the OpIf. What the sides assign, add to the
// log density and return become its results.
func (b *binder) region(cond value, then, els func() signal) signal {
	parent := b.regionLevel()
	if b.axis != nil && !b.inModel && !b.hidden() && parent == b.axis.lvl {
		// One decision per iteration even where the condition is the same in all,
		// because a side may draw random numbers.
		g := parent.g
		r := g.Spread(b.use(cond, parent, b.axis), b.axis.n)
		cond = b.wrap(r, parent, b.axis, types.IntType, cond.param)
		cond.ints = nil
	}
	sides := [2]*branch{}
	for k, run := range []func() signal{then, els} {
		outer := (*axis)(nil)
		if parent == b.lvl && !b.hidden() {
			outer = b.axis
		}
		lvl := newLevel(parent, outer)
		lvl.branch = true
		br := &branch{lvl: lvl, saved: map[*cell]state{}}
		sides[k] = br
		oldLvl, result := b.lvl, b.result
		b.lvl = lvl
		b.branches = append(b.branches, br)
		br.sig = run()
		br.result, b.result = b.result, result
		b.branches = b.branches[:len(b.branches)-1]
		b.lvl = oldLvl
		// Take the changed contents out of the cells and put the old ones back.
		for _, c := range br.order {
			changed := c.state
			c.state = br.saved[c]
			br.saved[c] = changed
		}
	}
	t, e := sides[0], sides[1]
	if t.sig != e.sig || t.sig == breaks || t.sig == continues {
		if t.sig == returns || e.sig == returns {
			b.unsupported(b.span, "a return in only one side of a condition that depends on parameters, within a loop or nested block,")
		}
		b.unsupported(b.span, "break or continue under a condition that depends on parameters")
	}
	// Outputs, the same list on both sides.
	var cells []*cell
	for _, br := range sides {
		for _, c := range br.order {
			if !slices.Contains(cells, c) {
				cells = append(cells, c)
			}
		}
	}
	outputs := func(br *branch) []value {
		lvl := b.lvl
		b.lvl = br.lvl
		b.branches = append(b.branches, br)
		var out []value
		for _, c := range cells {
			before := c.state
			if s, ok := br.saved[c]; ok {
				c.state = s
			}
			v := b.numeric(b.pack(c))
			c.state = before
			out = append(out, v)
		}
		b.branches = b.branches[:len(b.branches)-1]
		b.lvl = lvl
		return out
	}
	outs := [2][]value{outputs(t), outputs(e)}
	// Watched elements that one side or both wrote; a side that did not gives
	// what they held.
	var writes []pending
	for _, br := range sides {
		for _, w := range br.writes {
			if !slices.ContainsFunc(writes, func(x pending) bool { return x.c == w.c && x.acc.equal(w.acc) }) {
				writes = append(writes, w)
			}
		}
	}
	for _, w := range writes {
		var old *value
		for k, br := range sides {
			i := slices.IndexFunc(br.writes, func(x pending) bool { return x.c == w.c && x.acc.equal(w.acc) })
			if i >= 0 {
				outs[k] = append(outs[k], b.shaped(b.numeric(br.writes[i].val), w.acc.ix.Shape(), w.val.typ))
				continue
			}
			if old == nil {
				v := b.numeric(b.load(w.c, w.v, w.acc, w.val.typ))
				old = &v
			}
			outs[k] = append(outs[k], *old)
		}
	}
	for k := range sides {
		for j, br := range sides {
			for _, a := range br.adds {
				v := a.val
				if j != k {
					v = value{typ: v.typ, shape: v.shape, lvl: b.root, ref: b.root.g.Const(0)}
				}
				outs[k] = append(outs[k], b.numeric(v))
			}
		}
	}
	hasTarget := len(t.target)+len(e.target) > 0
	if t.sig == returns && t.result != nil {
		for k, br := range sides {
			outs[k] = append(outs[k], b.numeric(*br.result))
		}
		if !slices.Equal(t.result.shape, e.result.shape) {
			b.unsupported(b.span, "a function whose result has different sizes depending on parameters")
		}
	}
	for k, br := range sides {
		g := br.lvl.g
		for _, v := range outs[k] {
			g.Output(g.Broadcast(b.use(v, br.lvl, nil), v.shape))
		}
		if hasTarget {
			sum := g.Const(0)
			for _, r := range br.target {
				sum = g.Add(sum, r)
			}
			g.Output(sum)
		}
	}
	if len(t.lvl.g.Outputs) == 0 && len(t.lvl.g.Effects)+len(e.lvl.g.Effects) == 0 {
		return t.sig
	}
	args := unifyInputs(t.lvl, e.lvl)
	g := parent.g
	ax := b.axis
	if parent != b.lvl || b.hidden() {
		ax = nil
	}
	c := b.use(cond, parent, ax)
	g.SetSite(b.site())
	r := g.Do(ad.OpIf, &ad.If{Then: t.lvl.g, Else: e.lvl.g}, append([]ad.Ref{c}, args...)...)
	if len(t.lvl.g.Effects)+len(e.lvl.g.Effects) > 0 {
		g.Effects = append(g.Effects, r)
	}
	k := 0
	next := func(typ types.Type, param bool) value {
		v := b.wrap(g.Result(r, k), parent, ax, typ, param)
		k++
		return v
	}
	for _, c := range cells {
		v := next(c.typ, c.param)
		v.ints = nil
		b.saveForBranch(c)
		b.journal.note(c)
		b.writeLocal(c, wholeOf(c.shape), v, b.axis)
	}
	for _, w := range writes {
		b.store(w.c, w.v, w.acc, next(w.val.typ, w.c.param))
	}
	for _, br := range sides {
		for _, a := range br.adds {
			b.accumulate(a.c, a.v, a.acc, next(a.val.typ, a.c.param), a.negate)
		}
	}
	if t.sig == returns && t.result != nil {
		v := next(t.result.typ, t.result.param || e.result.param)
		b.result = &v
	}
	if hasTarget {
		b.addTarget(next(types.RealType, true))
	}
	return t.sig
}

// unifyInputs gives the two graphs of a conditional the same inputs in the same
// order, and returns the captured values of the level around.
func unifyInputs(a, b *level) []ad.Ref {
	args := slices.Clone(a.args)
	for _, r := range b.args {
		if !slices.Contains(args, r) {
			args = append(args, r)
		}
	}
	for _, l := range []*level{a, b} {
		inputs := make([]ad.Ref, len(args))
		for i, r := range args {
			in, ok := l.captured[capture{ref: r}]
			if !ok {
				in = l.g.Input(ad.Type{Shape: l.parent.g.Type(r).Shape})
			}
			inputs[i] = in
		}
		for i, in := range inputs {
			l.g.Nodes[in].Attr = i
		}
		l.g.Inputs = inputs
	}
	return args
}

// conditional is ?: . Its level is that of both sides, whichever is taken.
func (b *binder) conditional(e *ir.Cond) value {
	v := b.choice(e)
	v.param = e.Type().Kind != types.Int && (b.paramLevel(e.Then) || b.paramLevel(e.Else))
	return v
}

// paramLevel reports whether an expression has the autodiff level of parameters,
// by what it is made from. Integers have none.
func (b *binder) paramLevel(e ir.Expr) bool {
	param := false
	walkExpr(e, func(e ir.Expr) bool {
		if v, ok := e.(*ir.VarRef); ok && b.cell(v.Var).param {
			param = true
		}
		return e.Type().Kind != types.Int
	})
	return param
}

func (b *binder) choice(e *ir.Cond) value {
	cond := b.eval(e.Cond)
	if i, ok := cond.scalarInt(); ok {
		if i != 0 {
			return b.eval(e.Then)
		}
		return b.eval(e.Else)
	}
	// As a conditional statement that assigns to a variable of its own.
	sides := [2]ir.Expr{e.Then, e.Else}
	if cond.ints != nil && !b.hiddenAxis(cond.axis) && !b.hidden() {
		return b.partitionExpr(cond, sides, e.Type())
	}
	b.stats.Ifs++
	side := func(k int) func() signal {
		return func() signal {
			v := b.eval(sides[k])
			b.result = &v
			return returns
		}
	}
	old := b.result
	b.region(cond, side(0), side(1))
	v := *b.result
	b.result = old
	v.typ = e.Type()
	return v
}

// partitionExpr is ?: where data decide per iteration.
func (b *binder) partitionExpr(cond value, sides [2]ir.Expr, typ types.Type) value {
	ax := innermost(b.axis, cond.axis)
	mask := b.maskOf(cond, ax)
	var lanes [2][]int32
	for l, t := range mask {
		k := 1
		if t {
			k = 0
		}
		lanes[k] = append(lanes[k], int32(l))
	}
	old := b.axis
	defer func() { b.axis = old }()
	var c *cell
	for k := range sides {
		if len(lanes[k]) == 0 {
			continue
		}
		b.axis = ax
		if len(lanes[k]) < ax.n {
			b.axis = &axis{n: len(lanes[k]), parent: ax, up: lanes[k], lvl: ax.lvl, subset: true}
		}
		v := b.eval(sides[k])
		if b.axis == ax {
			return v
		}
		if c == nil {
			sub := b.axis
			b.axis = ax
			c = b.newCell(nil, "?:", typ, v.shape)
			c.setWhole(b.unset(typ, v.shape))
			b.axis = sub
		}
		c.param = c.param || v.param
		b.checkShape(sides[k].Span(), "the conditional expression", c.shape, v.shape)
		b.writeLocal(c, wholeOf(c.shape), b.convert(v, typ), b.axis)
	}
	b.axis = ax
	return b.pack(c)
}
