package emit

import (
	"math"
	"slices"

	"github.com/ppl-lang/ppl/ad"
	"github.com/ppl-lang/ppl/compile/internal/inspect"
	"github.com/ppl-lang/ppl/compile/internal/interp"
	"github.com/ppl-lang/ppl/compile/internal/known"
	"github.com/ppl-lang/ppl/compile/internal/lanes"
	"github.com/ppl-lang/ppl/compile/internal/static"
	"github.com/ppl-lang/ppl/compile/ir"
	"github.com/ppl-lang/ppl/lang/diag"
	"github.com/ppl-lang/ppl/lang/types"
)

// expressions evaluates expressions.
type expressions struct {
	floor
	vars  *variables
	lp    *logDensity
	ctl   *control
	idx   *indexer
	lib   *library
	users *userCalls

	operand *value // ir.Operand
}

var nan = math.NaN()

// eval evaluates an expression.
func (ex *expressions) eval(e ir.Expr) value {
	ex.rep.deeper(e.Span())
	defer ex.rep.shallower()
	switch e.(type) {
	case *ir.Cond, *ir.And, *ir.Or:
		if v, ok := ex.decided(e); ok {
			return v
		}
	}
	switch e := e.(type) {
	case *ir.IntLit:
		return intValue(e.Value)
	case *ir.RealLit:
		return value{typ: types.RealType, lvl: ex.b.root, ref: ex.b.root.g.Const(e.Value)}
	case *ir.VarRef:
		c := ex.vars.cell(e.Var)
		return ex.at.narrow(ex.vars.load(c, lanes.WholeOf(c.shape), c.typ))
	case *ir.Operand:
		return *ex.operand
	case *ir.Promote:
		return ex.promoted(ex.eval(e.X), e.X.Type(), e.Ty)
	case *ir.IndexExpr:
		return ex.index(e)
	case *ir.Call:
		return ex.lib.call(e)
	case *ir.UserCall:
		v := ex.users.userCallInLanes(e)
		if v == nil && ex.at.mayBeSkipped() && e.Ty.IsScalar() && !e.Ty.Composite() {
			ex.users.rejectMissing(e.Func, intValue(1))
			return ex.arr.unset(e.Ty, nil)
		}
		if v == nil {
			ex.rep.fail(e.Span(), diag.NoReturn, "`%s` ended without a return statement", e.Func.Name).throw()
		}
		return *v
	case *ir.Cond:
		return ex.conditional(e)
	case *ir.And:
		return ex.logical(e.X, e.Y, true)
	case *ir.Or:
		return ex.logical(e.X, e.Y, false)
	case *ir.ArrayLit:
		return ex.literal(e.Type(), e.Elems)
	case *ir.RowVectorLit:
		return ex.literal(e.Type(), e.Elems)
	case *ir.Tuple:
		return composed(e.Ty, ex.args(e.Elems))
	case *ir.Member:
		from, to := e.X.Type().LeafRange(e.I)
		return composed(e.Ty, ex.eval(e.X).leaves[from:to])
	case *ir.TargetValue:
		return ex.targetValue(e)
	}
	ex.rep.unsupported(e.Span(), "this expression", "")
	return value{}
}

// combine evaluates the new value of a compound assignment, given the old one.
func (ex *expressions) combine(e ir.Expr, old value) value {
	outer := ex.operand
	ex.operand = &old
	v := ex.eval(e)
	ex.operand = outer
	return v
}

// knownInt evaluates an integer expression that must be known when data are bound. It may differ
// between iterations.
func (ex *expressions) knownInt(e ir.Expr, what string) value {
	v := ex.eval(e)
	if v.ints == nil {
		ex.rep.fail(e.Span(), diag.UnknownInt, "%s must be known when data are bound", what).
			detailf("%s", unknownDetail).fix("take the greatest size that may be needed, and use a part of it").throw()
	}
	return v
}

func (ex *expressions) index(e *ir.IndexExpr) value {
	if ref, ok := e.X.(*ir.VarRef); ok {
		c := ex.vars.cell(ref.Var)
		acc, ok := ex.idx.accessTo(c, e.Indices, "`"+ref.Name()+"`")
		if !ok {
			return ex.idx.computedIndex(ex.eval(e.X), e.Indices, e.Ty)
		}
		if acc.None {
			return ex.arr.unset(e.Ty, acc.Index.Shape())
		}
		return ex.at.narrow(ex.vars.load(c, acc, e.Type()))
	}
	leaves := e.Ty.Leaves()
	out := ex.eval(e.X).each(func(k int, x value) value {
		acc, ok := lanes.Select(ex.idx, x.shape, e.Indices, "this value")
		if !ok {
			return ex.idx.computedIndex(x, e.Indices, leaves[k].Type)
		}
		if acc.None {
			return ex.arr.unset(leaves[k].Type, acc.Index.Shape())
		}
		v := ex.arr.gather(x, acc, leaves[k].Type)
		v.typ = leaves[k].Type
		return v
	})
	out.typ = e.Ty
	return out
}

// args evaluates expressions and returns their leaves, one after another.
func (ex *expressions) args(es []ir.Expr) []value {
	out := make([]value, 0, len(es))
	for _, e := range es {
		if v := ex.eval(e); v.leaves != nil {
			out = append(out, v.leaves...)
		} else {
			out = append(out, v)
		}
	}
	return out
}

// promoted converts a value from one type to another.
func (ex *expressions) promoted(v value, from, to types.Type) value {
	if from.Kind == types.Tuple {
		var leaves []value
		for i, m := range from.Members {
			lo, hi := from.LeafRange(i)
			leaves = append(leaves, ex.promoted(composed(m, v.leaves[lo:hi]), m, to.Members[i]).parts()...)
		}
		return composed(to, leaves)
	}
	if from.Composite() || from.Equal(to) {
		return v
	}
	v = ex.b.numeric(v)
	v.typ = to.Leaves()[0].Type
	if !to.Composite() {
		return v
	}
	return composed(to, []value{v, ex.b.filled(0, v.typ, v.shape)})
}

// literal stacks the elements of {…} or […].
func (ex *expressions) literal(typ types.Type, elems []ir.Expr) value {
	vals := make([]value, len(elems))
	for i, e := range elems {
		vals[i] = ex.eval(e)
	}
	var leaves []value
	for k, leaf := range typ.Leaves() {
		parts := make([]value, len(vals))
		for i, v := range vals {
			parts[i] = v.parts()[k]
		}
		leaves = append(leaves, ex.stack(leaf.Type, elems, parts))
	}
	return composed(typ, leaves)
}

// stack returns the container of the values of expressions.
func (ex *expressions) stack(typ types.Type, elems []ir.Expr, vals []value) value {
	for i, e := range elems {
		if i > 0 {
			ex.mem.checkShape(e.Span(), "the literal", vals[0].shape, vals[i].shape)
		}
	}
	shape := []int{len(vals)}
	if len(vals) > 0 {
		shape = append(shape, vals[0].shape...)
	} else if typ.Rank() > 1 {
		shape = append(shape, make([]int, typ.Rank()-1)...)
	}
	if len(vals) == 0 {
		return ex.arr.unset(typ, shape)
	}
	return ex.b.emitMove(typ, vals, func(g *ad.Graph, a []ad.Ref) ad.Ref { return g.Stack(a...) })
}

// targetValue evaluates target(): the log density accumulated so far, including the current
// branches.
func (ex *expressions) targetValue(e *ir.TargetValue) value {
	if ex.at.axis != nil || slices.ContainsFunc(ex.at.branches, func(br *branch) bool { return br.trips }) {
		ex.rep.unsupported(e.At, inspect.TargetRead, "")
	}
	so := slices.Clone(ex.lp.targets)
	for _, br := range ex.at.branches {
		for _, r := range br.target {
			so = append(so, value{typ: types.RealType, lvl: br.lvl, ref: r, param: true})
		}
	}
	if len(so) == 0 {
		return value{typ: types.RealType, lvl: ex.b.root, ref: ex.b.root.g.Const(0), param: true}
	}
	sum := ex.b.emit(types.RealType, so, sumOf)
	sum.param = true
	if ex.at.lvl == ex.b.root {
		ex.lp.targets = []value{sum}
	}
	return sum
}

// sizes evaluates the sizes of a declared variable.
func (ex *expressions) sizes(v *ir.Var) []int {
	shape, wrong := interp.Shape(v, func(k int) int64 {
		n := ex.knownInt(v.Sizes[k], "a size")
		if n.axis == nil {
			return n.ints[0]
		}
		n = ex.at.narrow(n)
		return n.known().MustAgree(ex.at.excluded(n.axis))
	})
	if wrong != nil && wrong.Code == diag.TooLarge {
		ex.rep.complain(*wrong).halt()
	}
	if wrong != nil {
		ex.rep.complain(*wrong).throw()
	}
	return shape
}

// rows evaluates the sizes of the rows of a ragged variable, or the places of the values of a
// sparse matrix; nil for other variables.
func (ex *expressions) rows(v *ir.Var) *ir.Rows {
	if s := v.Sparse; s != nil && s.Pattern != nil {
		p := ex.knownInt(&ir.VarRef{Typed: ir.Typed{At: v.Span, Ty: s.Pattern.Type}, Var: s.Pattern}, "a pattern").ints
		rows, m := &ir.Rows{Sparse: [][2]int{}}, int(p[0])
		for i := range m {
			for k := p[i+2]; k < p[i+3]; k++ {
				rows.Sparse = append(rows.Sparse, [2]int{i, int(p[m+2+int(k)]) - 1})
			}
		}
		return rows
	}
	if v.Ragged == nil {
		return nil
	}
	rows, wrong := interp.Rows(v, func(k int) ([]int64, []int) {
		n := ex.knownInt(v.Ragged.Sizes[k], "a size")
		return n.ints, n.shape
	})
	if wrong != nil {
		ex.rep.complain(*wrong).throw()
	}
	return rows
}

// conditional evaluates ?: . Its autodiff level is the higher one of both sides, whichever is
// taken.
func (ex *expressions) conditional(e *ir.Cond) value {
	levels := static.Levels(e, func(v *ir.Var) bool { return ex.vars.cell(v).param })
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
	apart := ex.at.scanning() && !ex.at.hiddenAxis(cond.axis) && ex.vars.outOfScan(e.Then) && ex.vars.outOfScan(e.Else)
	return ex.either(cond, e.Ty, apart, func() value { return ex.eval(e.Then) }, func() value { return ex.eval(e.Else) })
}

// either evaluates then where cond is not 0, and els elsewhere. apart says that neither side
// depends on the current recurrence.
func (ex *expressions) either(cond value, t types.Type, apart bool, then, els func() value) value {
	leaves := t.Leaves()
	side := func(eval func() value) func() signal {
		return func() signal {
			v := eval().each(func(k int, leaf value) value { return ex.arr.convert(leaf, leaves[k].Type) })
			ex.ctl.result = &v
			return returns
		}
	}
	old := ex.ctl.result
	// Values of an unused side may not exist yet.
	some, all := ex.ctl.taken(cond)
	if some && !all && cond.ints != nil && apart {
		ex.at.with(ex.at.outside(), func() { ex.ctl.partition(cond, side(then), side(els)) })
	} else {
		ex.ctl.choose(cond, side(then), side(els))
	}
	v := *ex.ctl.result
	ex.ctl.result = old
	v.typ = t
	return v
}

// decided evaluates a choice between integers if data decide it. A region, or the steps of a scan,
// would hide that the result is known.
func (ex *expressions) decided(e ir.Expr) (v value, ok bool) {
	if ev := ex.users.evaluator(); e.Type().Equal(types.IntType) && ev.Knows(e, ex.vars) {
		at := &known.Context{Scope: ex.vars, Binding: ex.rep}
		if !ex.at.hidden() {
			at.Axis = ex.at.axis
		}
		x, err := ev.Eval(e, at)
		return ofLanes(x), err == nil // a mistake is reported by the general evaluation
	}
	return v, false
}

// logical evaluates && or ||. It evaluates the right side only where the left side leaves the
// result open.
func (ex *expressions) logical(x, y ir.Expr, and bool) value {
	right, settled := func() value { return ex.b.notZero(ex.eval(y)) }, func() value { return intValue(lanes.Truth(!and)) }
	if and {
		return ex.either(ex.eval(x), types.IntType, false, right, settled)
	}
	return ex.either(ex.eval(x), types.IntType, false, settled, right)
}
