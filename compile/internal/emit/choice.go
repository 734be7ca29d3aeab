package emit

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
func (ex *expressions) conditional(e *ir.Cond) value {
	levels := ex.paramLevels(e)
	return ex.choice(e).each(func(k int, leaf value) value {
		leaf.param = levels[k]
		return leaf
	})
}

func (ex *expressions) choice(e *ir.Cond) value {
	cond := ex.eval(e.Cond)
	if i, ok := cond.scalarInt(); ok {
		if i != 0 {
			return ex.eval(e.Then)
		}
		return ex.eval(e.Else)
	}
	if v, ok := ex.knownChoice(e, cond); ok {
		return v
	}
	side := func(x ir.Expr) func() signal {
		return func() signal {
			types := e.Type().Leaves()
			v := ex.eval(x).each(func(k int, leaf value) value { return ex.arr.convert(leaf, types[k].Type) })
			ex.ctl.result = &v
			return returns
		}
	}
	old := ex.ctl.result
	if cond.ints != nil && ex.at.scanning() && !ex.at.hiddenAxis(cond.axis) && ex.vars.outOfScan(e.Then) && ex.vars.outOfScan(e.Else) {
		ex.at.with(ex.at.outside(), func() { ex.ctl.partition(cond, side(e.Then), side(e.Else)) })
	} else {
		ex.ctl.choose(cond, side(e.Then), side(e.Else))
	}
	v := *ex.ctl.result
	ex.ctl.result = old
	v.typ = e.Type()
	return v
}

// knownChoice chooses between integers that are known, by a condition that is known
// per iteration, where a region would hide that they are.
func (ex *expressions) knownChoice(e *ir.Cond, cond value) (v value, ok bool) {
	if cond.ints == nil || e.Ty.Kind != types.Int || e.Ty.Dims > 0 || !ex.at.hiddenAxis(cond.axis) && !ex.at.hidden() && !ex.at.scanning() {
		return v, false
	}
	if !ex.plain(e.Then) || !ex.plain(e.Else) {
		return v, false
	}
	x, y := ex.eval(e.Then), ex.eval(e.Else)
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
func (ex *expressions) paramLevels(e ir.Expr) []bool {
	leaves := e.Type().Leaves()
	out := make([]bool, len(leaves))
	highest := func(es ...ir.Expr) {
		for _, x := range es {
			for k, p := range ex.paramLevels(x) {
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
			out = append(out, ex.paramLevels(x)...)
		}
	case *ir.Member:
		from, to := e.X.Type().LeafRange(e.I)
		out = ex.paramLevels(e.X)[from:to]
	case *ir.Promote:
		out = promotedLevels(ex.paramLevels(e.X), e.X.Type(), e.Ty)
	default:
		p := ex.paramLevel(e)
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
func (ex *expressions) paramLevel(e ir.Expr) bool {
	param := false
	ir.Inspect(e, func(n ir.Node) bool {
		switch n := n.(type) {
		case *ir.VarRef:
			param = param || ex.vars.cell(n.Var).param
		case *ir.TargetValue:
			param = true
		}
		return n.(ir.Expr).Type().Kind != types.Int
	})
	return param
}

// logical is && or ||: the right side is evaluated only where the left leaves
// it open.
func (ex *expressions) logical(x, y ir.Expr, and bool) value {
	l := ex.eval(x)
	if i, ok := l.scalarInt(); ok {
		if (i != 0) != and {
			return intValue(lanes.Truth(!and))
		}
		r := ex.eval(y)
		return ex.b.notZero(r)
	}
	if l.ints != nil && !ex.at.hiddenAxis(l.axis) && !ex.at.scanning() {
		// Known per iteration: only the iterations that need it look at y.
		ax := lanes.Innermost(ex.at.axis, l.axis)
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
		ex.rep.reserveLanes(len(open))
		sub := &axis{N: len(open), Parent: ax, Up: open, Level: levelOf(ax), Subset: true}
		var c *cell
		ex.at.with(ex.at.in(ax), func() { c = ex.mem.newCell(nil, "condition", types.IntType, nil) })
		c.setWhole(out)
		ex.at.with(ex.at.in(sub), func() { ex.mem.writeLocal(c, lanes.WholeOf(nil), ex.b.notZero(ex.eval(y)), sub) })
		return ex.mem.pack(c)
	}
	at := *ex.at
	if l.ints != nil { // of iterations that are hidden: those that do not need y have no part in it
		at = at.where(l, and)
	}
	plain := false
	ex.at.with(at, func() { plain = ex.plain(y) })
	if !plain {
		side := func(needed bool) func() signal {
			return func() signal {
				v := intValue(lanes.Truth(!and))
				if needed {
					v = ex.b.notZero(ex.eval(y))
				}
				ex.ctl.result = &v
				return returns
			}
		}
		old := ex.ctl.result
		ex.ctl.choose(l, side(and), side(!and))
		v := *ex.ctl.result
		ex.ctl.result = old
		return v
	}
	var r value
	ex.at.with(at, func() { r = ex.eval(y) })
	return ex.b.emit(types.IntType, []value{l, r}, func(g *ad.Graph, a []ad.Ref) ad.Ref {
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
func (ex *expressions) inside(index ir.Expr, size int) bool {
	var at value
	switch e := index.(type) {
	case *ir.IntLit:
		at = intValue(e.Value)
	case *ir.VarRef:
		at = ex.eval(e)
	}
	excluded := ex.at.excluded(at.axis)
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
func (ex *expressions) plain(e ir.Expr) bool {
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
			shape := ex.vars.cell(x.Var).shape
			for k, ix := range e.Indices {
				plain = plain && ix.Kind == ir.IndexSingle && ex.inside(ix.A, shape[k])
			}
		}
		return plain
	})
	return plain
}
