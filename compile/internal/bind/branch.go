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
	target []ad.Ref
	trips  bool // not a branch but the body of a loop that is a region
	outcome
}

func (a access) equal(b access) bool {
	return a.axis == b.axis && slices.Equal(a.base, b.base) && slices.Equal(a.offsets(), b.offsets())
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
		at := b.context.into(br)
		if cond.ints != nil {
			at = at.where(cond, k == 0)
		}
		b.result = nil
		b.with(at, func() { br.sig = run() })
		br.code, br.result = b.code, b.result
		// Take the changed contents out of the cells and put the old ones back.
		for _, c := range br.order {
			changed := c.state
			c.state = br.saved[c]
			br.saved[c] = changed
		}
	}
	t, e := sides[0], sides[1]
	union := t.sig | e.sig
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
		var out []value
		for _, c := range cells {
			before := c.state
			if s, ok := br.saved[c]; ok {
				c.state = s
			}
			b.with(b.context.into(br), func() { out = append(out, b.numeric(b.pack(c))) })
			c.state = before
		}
		return out
	}
	outs := [2][]value{outputs(t), outputs(e)}
	hasTarget := len(t.target)+len(e.target) > 0
	if !union.certain() {
		for k, br := range sides {
			outs[k] = append(outs[k], b.numeric(br.codeOf()))
		}
	}
	result := b.sidesResult(sides)
	if result != nil {
		for k, br := range sides {
			for i, v := range result.parts() {
				// Any number will do where nothing is returned.
				v.lvl, v.axis, v.ints = b.root, nil, nil
				v.ref = b.root.g.Broadcast(b.root.g.Const(0), v.shape)
				if br.sig&returns != 0 && br.result != nil {
					v = br.result.parts()[i]
				}
				outs[k] = append(outs[k], b.numeric(v))
			}
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
		b.result = nil
		return union
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
		b.writeLocal(c, wholeOf(c.shape), v, b.axis)
	}
	if !union.certain() {
		b.code = next(types.IntType, false)
		b.code.ints = nil
	}
	b.result = nil
	if result != nil {
		v := result.each(func(_ int, leaf value) value { return next(leaf.typ, leaf.param) })
		b.result = &v
	}
	if hasTarget {
		b.addTarget(next(types.RealType, true))
	}
	return union
}

// sidesResult is the type, shape and level of what the sides return; nil if that
// is no value.
func (b *binder) sidesResult(sides [2]*branch) *value {
	var r *value
	for _, br := range sides {
		if br.sig&returns == 0 || br.result == nil {
			continue
		}
		if r == nil {
			v := *br.result
			r = &v
			continue
		}
		v := r.each(func(k int, leaf value) value {
			other := br.result.parts()[k]
			if !slices.Equal(leaf.shape, other.shape) {
				b.unsupported(b.span, "a function whose result has one size or another", "")
			}
			leaf.param = leaf.param || other.param
			return leaf
		})
		r = &v
	}
	return r
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
	levels := b.paramLevels(e)
	return b.choice(e).each(func(k int, leaf value) value {
		leaf.param = levels[k]
		return leaf
	})
}

// paramLevels are the autodiff levels of the leaves of an expression.
func (b *binder) paramLevels(e ir.Expr) []bool {
	leaves := e.Type().Leaves()
	out := make([]bool, len(leaves))
	highest := func(es ...ir.Expr) {
		for _, x := range es {
			for k, p := range b.paramLevels(x) {
				out[k] = out[k] || p
			}
		}
	}
	switch e := e.(type) {
	case *ir.Cond:
		highest(e.Then, e.Else)
	case *ir.ArrayLit:
		highest(e.Elems...)
	case *ir.RowVectorLit:
		highest(e.Elems...)
	case *ir.IndexExpr:
		highest(e.X)
	case *ir.Tuple:
		out = out[:0]
		for _, x := range e.Elems {
			out = append(out, b.paramLevels(x)...)
		}
	case *ir.Member:
		from, to := e.X.Type().LeafRange(e.I)
		out = b.paramLevels(e.X)[from:to]
	case *ir.Promote:
		out = promotedLevels(b.paramLevels(e.X), e.X.Type(), e.Ty)
	default:
		p := b.paramLevel(e)
		for k := range out {
			out[k] = p
		}
	}
	for k, leaf := range leaves {
		switch {
		case leaf.Type.Kind == types.Int:
			out[k] = false
		case leaf.Part == types.ImagPart:
			out[k-1] = out[k-1] || out[k]
			out[k] = out[k-1]
		}
	}
	return out
}

// promotedLevels are the levels of a promoted value.
func promotedLevels(levels []bool, from, to types.Type) []bool {
	switch {
	case from.Kind == types.Tuple:
		var out []bool
		for i, m := range from.Members {
			lo, hi := from.LeafRange(i)
			out = append(out, promotedLevels(levels[lo:hi], m, to.Members[i])...)
		}
		return out
	case to.Composite() && !from.Composite():
		return []bool{levels[0], levels[0]}
	}
	return levels
}

// paramLevel reports whether an expression has the autodiff level of parameters,
// by what it is made from. Integers have none.
func (b *binder) paramLevel(e ir.Expr) bool {
	param := false
	ir.Walk(e, func(e ir.Expr) bool {
		switch e := e.(type) {
		case *ir.VarRef:
			param = param || b.cell(e.Var).param
		case *ir.TargetValue:
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
	if v, ok := b.knownChoice(e, cond); ok {
		return v
	}
	side := func(x ir.Expr) func() signal {
		return func() signal {
			types := e.Type().Leaves()
			v := b.eval(x).each(func(k int, leaf value) value { return b.convert(leaf, types[k].Type) })
			b.result = &v
			return returns
		}
	}
	old := b.result
	if cond.ints != nil && b.scanning() && !b.hiddenAxis(cond.axis) && b.outOfScan(e.Then) && b.outOfScan(e.Else) {
		b.with(b.context.outside(), func() { b.partition(cond, side(e.Then), side(e.Else)) })
	} else {
		b.choose(cond, side(e.Then), side(e.Else))
	}
	v := *b.result
	b.result = old
	v.typ = e.Type()
	return v
}

// knownChoice chooses between integers that are known, by a condition that is known
// per iteration, where a region would hide that they are.
func (b *binder) knownChoice(e *ir.Cond, cond value) (v value, ok bool) {
	if cond.ints == nil || e.Ty.Kind != types.Int || e.Ty.Dims > 0 || !b.hiddenAxis(cond.axis) && !b.hidden() && !b.scanning() {
		return v, false
	}
	if !b.plain(e.Then) || !b.plain(e.Else) {
		return v, false
	}
	x, y := b.eval(e.Then), b.eval(e.Else)
	if x.ints == nil || y.ints == nil {
		return v, false
	}
	ax := innermost(cond.axis, innermost(x.axis, y.axis))
	uc, ux, uy := upTo(ax, cond.axis), upTo(ax, x.axis), upTo(ax, y.axis)
	v = value{typ: types.IntType, axis: ax, ints: make([]int64, ax.n)}
	for l := range v.ints {
		if intAt(cond, ax, uc, l, 0) != 0 {
			v.ints[l] = intAt(x, ax, ux, l, 0)
		} else {
			v.ints[l] = intAt(y, ax, uy, l, 0)
		}
	}
	return v, true
}
