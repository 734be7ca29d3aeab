package bind

import (
	"strings"

	"github.com/ppl-lang/ppl/ad"
	"github.com/ppl-lang/ppl/compile/internal/lanes"
	"github.com/ppl-lang/ppl/compile/internal/plan"
	"github.com/ppl-lang/ppl/compile/ir"
	"github.com/ppl-lang/ppl/lang/types"
)

// Conditional expressions.

// conditional is ?: . Its level is that of both sides, whichever is taken.
func (b *binder) conditional(e *ir.Cond) value {
	levels := b.paramLevels(e)
	return b.choice(e).each(func(k int, leaf value) value {
		leaf.param = levels[k]
		return leaf
	})
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
	ax := lanes.Innermost(cond.axis, lanes.Innermost(x.axis, y.axis))
	uc, ux, uy := plan.UpTo(ax, cond.axis), plan.UpTo(ax, x.axis), plan.UpTo(ax, y.axis)
	v = value{typ: types.IntType, axis: ax, ints: make([]int64, ax.N)}
	for l := range v.ints {
		if cond.known().At(uc, l, 0) != 0 {
			v.ints[l] = x.known().At(ux, l, 0)
		} else {
			v.ints[l] = y.known().At(uy, l, 0)
		}
	}
	return v, true
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
	ir.Inspect(e, func(n ir.Node) bool {
		switch n := n.(type) {
		case *ir.VarRef:
			param = param || b.cell(n.Var).param
		case *ir.TargetValue:
			param = true
		}
		return n.(ir.Expr).Type().Kind != types.Int
	})
	return param
}

// logical is && or ||: the right side is evaluated only where the left leaves
// it open.
func (b *binder) logical(x, y ir.Expr, and bool) value {
	l := b.eval(x)
	if i, ok := l.scalarInt(); ok {
		if (i != 0) != and {
			return intValue(lanes.Truth(!and))
		}
		r := b.eval(y)
		return b.notZero(r)
	}
	if l.ints != nil && !b.hiddenAxis(l.axis) && !b.scanning() {
		// Known per iteration: only the iterations that need it look at y.
		ax := lanes.Innermost(b.axis, l.axis)
		mask := l.known().Mask(ax)
		var open []int32
		for i, t := range mask {
			if t == and {
				open = append(open, int32(i))
			}
		}
		out := value{typ: types.IntType, axis: ax, ints: make([]int64, ax.N)}
		for i, t := range mask {
			out.ints[i] = lanes.Truth(t)
		}
		if len(open) == 0 {
			return out
		}
		b.reserveLanes(len(open))
		sub := &axis{N: len(open), Parent: ax, Up: open, Level: levelOf(ax), Subset: true}
		var c *cell
		b.with(b.context.in(ax), func() { c = b.newCell(nil, "condition", types.IntType, nil) })
		c.setWhole(out)
		b.with(b.context.in(sub), func() { b.writeLocal(c, lanes.WholeOf(nil), b.notZero(b.eval(y)), sub) })
		return b.pack(c)
	}
	at := b.context
	if l.ints != nil { // of iterations that are hidden: those that do not need y have no part in it
		at = at.where(l, and)
	}
	plain := false
	b.with(at, func() { plain = b.plain(y) })
	if !plain {
		side := func(needed bool) func() signal {
			return func() signal {
				v := intValue(lanes.Truth(!and))
				if needed {
					v = b.notZero(b.eval(y))
				}
				b.result = &v
				return returns
			}
		}
		old := b.result
		b.choose(l, side(and), side(!and))
		v := *b.result
		b.result = old
		return v
	}
	var r value
	b.with(at, func() { r = b.eval(y) })
	return b.emit(types.IntType, []value{l, r}, func(g *ad.Graph, a []ad.Ref) ad.Ref {
		zero := g.Const(0)
		lx, ly := g.Do(ad.OpNotEqual, nil, a[0], zero), g.Do(ad.OpNotEqual, nil, a[1], zero)
		if and {
			return g.Select(lx, ly, zero)
		}
		return g.Select(lx, g.Const(1), ly)
	})
}

// inside reports whether an index is a number or variable that is known, and within a
// dimension wherever evaluation stands.
func (b *binder) inside(index ir.Expr, size int) bool {
	var at value
	switch e := index.(type) {
	case *ir.IntLit:
		at = intValue(e.Value)
	case *ir.VarRef:
		at = b.eval(e)
	}
	excluded := b.excluded(at.axis)
	for l, i := range at.ints {
		if (i < 1 || i > int64(size)) && (excluded == nil || !excluded[l]) {
			return false
		}
	}
	return at.ints != nil
}

// mayDivideByZero reports whether a call divides ints, by another number than one written
// there.
func mayDivideByZero(e *ir.Call) bool {
	if e.Type().Kind != types.Int || e.Name != "operator/" && e.Name != "operator%" && e.Name != "operator%/%" {
		return false
	}
	by, ok := e.Args[1].(*ir.IntLit)
	return !ok || by.Value == 0
}

// plain reports whether an expression can be evaluated where it is not asked for,
// because nobody would notice: it has no effects and cannot fail.
func (b *binder) plain(e ir.Expr) bool {
	plain := true
	ir.Inspect(e, func(e ir.Node) bool {
		switch e := e.(type) {
		case *ir.UserCall:
			plain = false
		case *ir.Call:
			plain = plain && strings.HasPrefix(e.Name, "operator") && e.Type().IsScalar() && !mayDivideByZero(e)
		case *ir.IndexExpr:
			x, ok := e.X.(*ir.VarRef)
			if !ok {
				plain = false
				break
			}
			shape := b.cell(x.Var).shape
			for k, ix := range e.Indices {
				plain = plain && ix.Kind == ir.IndexSingle && b.inside(ix.A, shape[k])
			}
		}
		return plain
	})
	return plain
}
