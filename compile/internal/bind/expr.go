package bind

import (
	"math"
	"slices"
	"strings"

	"github.com/ppl-lang/ppl/ad"
	"github.com/ppl-lang/ppl/compile/internal/inspect"
	"github.com/ppl-lang/ppl/compile/internal/lanes"
	"github.com/ppl-lang/ppl/compile/internal/static"
	"github.com/ppl-lang/ppl/compile/ir"
	"github.com/ppl-lang/ppl/lang/diag"
	"github.com/ppl-lang/ppl/lang/source"
	"github.com/ppl-lang/ppl/lang/types"
	"github.com/ppl-lang/ppl/stdlib"
)

var nan = math.NaN()

// eval evaluates an expression.
func (b *binder) eval(e ir.Expr) value {
	b.deeper(e.Span())
	defer b.shallower()
	switch e := e.(type) {
	case *ir.IntLit:
		return intValue(e.Value)
	case *ir.RealLit:
		return value{typ: types.RealType, lvl: b.root, ref: b.root.g.Const(e.Value)}
	case *ir.VarRef:
		c := b.cell(e.Var)
		return b.narrow(b.load(c, lanes.WholeOf(c.shape), c.typ))
	case *ir.Operand:
		return *b.operand
	case *ir.Promote:
		return b.promoted(b.eval(e.X), e.X.Type(), e.Ty)
	case *ir.IndexExpr:
		return b.index(e)
	case *ir.Call:
		return b.call(e)
	case *ir.UserCall:
		v := b.userCallInLanes(e)
		if v == nil && b.mayBeSkipped() && e.Ty.IsScalar() && !e.Ty.Composite() {
			b.rejectMissing(e.Func, intValue(1))
			return b.unset(e.Ty, nil)
		}
		if v == nil {
			b.fail(e.Span(), diag.NoReturn, "`%s` ended without a return statement", e.Func.Name).throw()
		}
		return *v
	case *ir.Cond:
		return b.conditional(e)
	case *ir.And:
		return b.logical(e.X, e.Y, true)
	case *ir.Or:
		return b.logical(e.X, e.Y, false)
	case *ir.ArrayLit:
		return b.literal(e.Type(), e.Elems)
	case *ir.RowVectorLit:
		return b.literal(e.Type(), e.Elems)
	case *ir.Tuple:
		return composed(e.Ty, b.args(e.Elems))
	case *ir.Member:
		from, to := e.X.Type().LeafRange(e.I)
		return composed(e.Ty, b.eval(e.X).leaves[from:to])
	case *ir.TargetValue:
		return b.targetValue(e)
	}
	b.unsupported(e.Span(), "this expression", "")
	return value{}
}

// knownInt evaluates an integer expression that must be known when data are
// bound (it may differ between iterations).
func (b *binder) knownInt(e ir.Expr, what string) value {
	v := b.eval(e)
	if v.ints == nil {
		b.fail(e.Span(), diag.UnknownInt, "%s must be known when data are bound", what).
			detailf("%s", unknownDetail).fix("take the greatest size that may be needed, and use a part of it").throw()
	}
	return v
}

func (b *binder) index(e *ir.IndexExpr) value {
	if ref, ok := e.X.(*ir.VarRef); ok {
		c := b.cell(ref.Var)
		acc, ok := b.accessTo(c, e.Indices, "`"+ref.Var.Name+"`")
		if !ok {
			return b.computedIndex(b.eval(e.X), e.Indices, e.Ty)
		}
		if acc.None {
			return b.unset(e.Ty, acc.Index.Shape())
		}
		return b.narrow(b.load(c, acc, e.Type()))
	}
	leaves := e.Ty.Leaves()
	out := b.eval(e.X).each(func(k int, x value) value {
		acc, ok := b.access(x.shape, e.Indices, "this value")
		if !ok {
			return b.computedIndex(x, e.Indices, leaves[k].Type)
		}
		if acc.None {
			return b.unset(leaves[k].Type, acc.Index.Shape())
		}
		v := b.gather(x, acc, leaves[k].Type)
		v.typ = leaves[k].Type
		return v
	})
	out.typ = e.Ty
	return out
}

// args evaluates expressions: their leaves, one after another.
func (b *binder) args(es []ir.Expr) []value {
	var out []value
	for _, e := range es {
		out = append(out, b.eval(e).parts()...)
	}
	return out
}

// promoted is a value of one type as a value of another.
func (b *binder) promoted(v value, from, to types.Type) value {
	if from.Kind == types.Tuple {
		var leaves []value
		for i, m := range from.Members {
			lo, hi := from.LeafRange(i)
			leaves = append(leaves, b.promoted(composed(m, v.leaves[lo:hi]), m, to.Members[i]).parts()...)
		}
		return composed(to, leaves)
	}
	if from.Composite() || from.Equal(to) {
		return v
	}
	v = b.numeric(v)
	v.typ = to.Leaves()[0].Type
	if !to.Composite() {
		return v
	}
	zero := value{typ: v.typ, shape: v.shape, lvl: b.root, ref: b.root.g.Broadcast(b.root.g.Const(0), v.shape)}
	return composed(to, []value{v, zero})
}

// literal stacks the elements of {…} or […].
func (b *binder) literal(typ types.Type, elems []ir.Expr) value {
	vals := make([]value, len(elems))
	for i, e := range elems {
		vals[i] = b.eval(e)
	}
	var leaves []value
	for k, leaf := range typ.Leaves() {
		parts := make([]value, len(vals))
		for i, v := range vals {
			parts[i] = v.parts()[k]
		}
		leaves = append(leaves, b.stack(leaf.Type, elems, parts))
	}
	return composed(typ, leaves)
}

// stack makes a container of the values of expressions.
func (b *binder) stack(typ types.Type, elems []ir.Expr, vals []value) value {
	known, ax := true, (*axis)(nil)
	for i, e := range elems {
		if i > 0 {
			b.checkShape(e.Span(), "the literal", vals[0].shape, vals[i].shape)
		}
		known = known && vals[i].ints != nil
		ax = lanes.Innermost(ax, vals[i].axis)
	}
	shape := []int{len(vals)}
	if len(vals) > 0 {
		shape = append(shape, vals[0].shape...)
	} else if typ.Rank() > 1 {
		shape = append(shape, make([]int, typ.Rank()-1)...)
	}
	if known && typ.Kind == types.Int && ax == nil {
		out := value{typ: typ, shape: shape, ints: []int64{}}
		for _, v := range vals {
			out.ints = append(out.ints, v.ints...)
		}
		return out
	}
	if len(vals) == 0 {
		return b.unset(typ, shape)
	}
	return b.emitMove(typ, vals, func(g *ad.Graph, a []ad.Ref) ad.Ref { return g.Stack(a...) })
}

// ---- calls ----

// call calls a library function.
func (b *binder) call(e *ir.Call) value {
	f := static.FuncOf(e)
	if f.Terms != nil {
		terms := b.terms(e, f, e.Propto && b.propto)
		if len(terms) == 0 {
			return value{typ: types.RealType, lvl: b.root, ref: b.root.g.Const(0)}
		}
		return b.emit(types.RealType, terms, func(g *ad.Graph, a []ad.Ref) ad.Ref {
			sum := a[0]
			for _, t := range a[1:] {
				sum = g.Add(sum, t)
			}
			return sum
		})
	}
	if v, ok := b.reduceSlice(e, f); ok {
		return v
	}
	if v := static.Measured(e); v != nil && b.cell(v) != nil { // its elements need not be put together
		return b.apply(f, e.Name, []value{{typ: v.Type, shape: b.cell(v).shape}}, e.Type())
	}
	args := b.args(e.Args)
	old := b.at(e.Span())
	defer b.setSpan(old)
	if e.Ty.Composite() {
		return b.applyLeaves(f, e, args)
	}
	return b.apply(f, e.Name, args, e.Type())
}

// apply evaluates a function that is not a density.
func (b *binder) apply(f *stdlib.Func, name string, args []value, typ types.Type) value {
	known := true
	for _, a := range args {
		known = known && a.ints != nil
	}
	switch {
	case f.OfShape != nil:
		shapes := make([][]int, len(args))
		for i, a := range args {
			shapes[i] = a.shape
		}
		ints := f.OfShape(shapes)
		v := value{typ: typ, ints: ints}
		if typ.Dims > 0 {
			v.shape = []int{len(ints)}
		}
		return v
	case f.Int != nil && known:
		return b.applyInt(f, name, args, typ)
	}
	if v, ok := b.unchecked(f, name, args, typ); ok {
		return v
	}
	lvl, ax := b.placeChecked(args)
	if f.Random {
		lvl, ax = deeper(lvl, b.lvl), b.axis
		if ax != nil && levelOf(ax) != lvl { // hidden by a region, or the step of a scan
			ax = nil
		}
	}
	v := b.build(lvl, ax, f, name, args, typ)
	if f.Random && ax != nil && v.axis == nil {
		panic(&fault{Reason: "random draws without lanes"})
	}
	return v
}

// unchecked evaluates a function of known numbers out of the branch in which it stands, so
// that what it is stays known, such as a place that follows from it; ok is false if it has
// checks, which belong to the branch, or fails.
func (b *binder) unchecked(f *stdlib.Func, name string, args []value, typ types.Type) (v value, ok bool) {
	lvl, ax := b.place(args, false)
	if within, _ := b.placeChecked(args); lvl == within || f.Random || strings.HasSuffix(name, "_jacobian") {
		return v, false
	}
	checks := len(lvl.g.Effects)
	v = b.build(lvl, ax, f, name, args, typ)
	known := v.ints != nil
	if !known {
		_, known = lvl.g.Value(v.ref)
	}
	if len(lvl.g.Effects) > checks {
		lvl.g.Effects, known = lvl.g.Effects[:checks], false
	}
	return v, known
}

// applyLeaves evaluates a function whose value has leaves.
func (b *binder) applyLeaves(f *stdlib.Func, e *ir.Call, args []value) value {
	lvl, ax := b.placeChecked(args)
	sargs, param := b.stdArgs(lvl, ax, args, false)
	lvl.g.SetSite(b.site())
	var params []types.Type
	for _, a := range e.Args {
		params = append(params, a.Type())
	}
	var refs []ad.Ref
	b.catch(func() { refs = f.OfLeaves(&stdlib.Builder{G: lvl.g, Name: e.Name}, sargs, params, e.Ty) })
	var leaves []value
	for k, leaf := range e.Ty.Leaves() {
		leaves = append(leaves, b.wrap(refs[k], lvl, ax, leaf.Type, param))
	}
	return composed(e.Ty, leaves)
}

// build runs a declaration's Build.
func (b *binder) build(lvl *level, ax *axis, f *stdlib.Func, name string, args []value, typ types.Type) value {
	sargs, param := b.stdArgs(lvl, ax, args, f.Random && ax != nil)
	lvl.g.SetSite(b.site())
	var r ad.Ref
	sb := &stdlib.Builder{G: lvl.g, Name: name, Lanes: drawLanes(f, ax), Edition: b.opts.Transforms}
	if b.opts.Jacobian {
		sb.Adjust = func(j ad.Ref) { b.addTarget(b.wrap(j, lvl, ax, types.RealType, param)) }
	}
	b.catch(func() { r = f.Build(sb, sargs) })
	return b.exact(b.wrap(r, lvl, ax, typ, param))
}

// drawLanes is the number of lanes in which a generator draws, 0 for none: also
// the numbers that do not depend on its arguments differ between them.
func drawLanes(f *stdlib.Func, ax *axis) int {
	if f.Random && ax != nil {
		return ax.N
	}
	return 0
}

func (b *binder) stdArgs(lvl *level, ax *axis, args []value, spread bool) ([]stdlib.Arg, bool) {
	out := make([]stdlib.Arg, len(args))
	param := false
	for i, a := range args {
		out[i] = stdlib.Arg{Type: a.typ, Param: a.param, Ref: b.use(a, lvl, ax)}
		if spread {
			out[i].Ref = lvl.g.Spread(out[i].Ref, ax.N)
		}
		if out[i].Ints = a.ints; a.axis != nil {
			out[i].Ints = sameInAll(a)
		}
		param = param || a.param
	}
	return out, param
}

// sameInAll are known integers that are the same in all lanes; nil if they are
// not.
func sameInAll(v value) []int64 {
	n := v.size()
	for k := n; k < len(v.ints); k++ {
		if v.ints[k] != v.ints[k-n] {
			return nil
		}
	}
	return v.ints[:min(n, len(v.ints))]
}

// catch turns a declaration's complaint into a diagnostic at the call.
func (b *binder) catch(f func()) {
	defer func() {
		switch r := recover().(type) {
		case nil:
		case *stdlib.Error:
			if r.Unknown {
				b.fail(b.span, diag.UnknownInt, "%s", r.Msg).detailf("%s", unknownDetail).throw()
			}
			b.fail(b.span, diag.BadCall, "%s", r.Msg).throw()
		case *ad.BuildError:
			if r.Err != nil {
				panic(&halt{b.limited(r.Err, b.span)})
			}
			b.fail(b.span, diag.BadCall, "sizes do not match").detailf("%v", r).throw()
		default:
			panic(r)
		}
	}()
	f()
}

// applyInt evaluates a function of known integers, per lane.
func (b *binder) applyInt(f *stdlib.Func, name string, args []value, typ types.Type) value {
	var ax *axis
	var shape []int
	for _, a := range args {
		ax = lanes.Innermost(ax, a.axis)
		if len(a.shape) > 0 {
			shape = a.shape
		}
	}
	n, size := 1, sizeOf(shape)
	if ax != nil {
		n = ax.N
	}
	b.reserve(8, n, size)
	out := value{typ: typ, shape: shape, axis: ax, ints: make([]int64, n*size)}
	ups := make([][]int32, len(args))
	for i, a := range args {
		if a.axis != nil && a.axis != ax {
			ups[i] = ax.LanesOf(a.axis)
		}
	}
	x := make([]int64, len(args))
	faults := b.intFaults(ax)
	for l := range n {
		for p := range size {
			for i, a := range args {
				k := 0
				if a.axis != nil {
					k = l
					if ups[i] != nil {
						k = int(ups[i][l])
					}
				}
				if len(a.shape) > 0 {
					k = k*size + p
				}
				x[i] = a.ints[k]
			}
			r, err := f.Int(x)
			if err != nil {
				faults.add(l, err)
				continue
			}
			out.ints[l*size+p] = r
		}
	}
	faults.emit()
	return out
}

// intFaults are lanes of an axis in which the arithmetic of known integers failed.
type intFaults struct {
	b        *binder
	bad      value // 1 in these
	why      string
	excluded []bool
}

func (b *binder) intFaults(ax *axis) *intFaults {
	n := 1
	if ax != nil {
		n = ax.N
	}
	return &intFaults{b: b, bad: value{typ: types.IntType, axis: ax, ints: make([]int64, n)}, excluded: b.excluded(ax)}
}

// add ends binding, unless no iteration that gets here has that lane, or this place may
// never be reached.
func (f *intFaults) add(lane int, err error) {
	switch {
	case f.excluded != nil && f.excluded[lane]:
	case !f.b.mayBeSkipped():
		f.b.fail(f.b.span, diag.IntArithmetic, "%v", err).throw()
	default:
		f.bad.ints[lane], f.why = 1, err.Error()
	}
}

// emit has the evaluation rejected where faults were added.
func (f *intFaults) emit() {
	if f.why != "" {
		f.b.emitEffect([]value{f.b.numeric(f.bad)}, func(g *ad.Graph, a []ad.Ref) {
			g.RejectIf(a[0], &ad.Message{Parts: []ad.MessagePart{{Text: f.why, Arg: -1}}})
		})
	}
}

// exact refuses known integers of a call that were too large for a graph to hold.
func (b *binder) exact(v value) value {
	if v.ints == nil {
		return v
	}
	faults := b.intFaults(v.axis)
	data, _ := v.lvl.g.Value(v.ref)
	for i, x := range data {
		if _, err := stdlib.Whole(x); err != nil {
			faults.add(i/max(v.size(), 1), err)
		}
	}
	faults.emit()
	return v
}

// terms evaluates a density: its addends, each one number per lane.
func (b *binder) terms(e *ir.Call, f *stdlib.Func, propto bool) []value {
	args := b.args(e.Args)
	old := b.at(e.Span())
	defer b.setSpan(old)
	lvl, ax := b.placeChecked(args)
	sargs, param := b.stdArgs(lvl, ax, args, false)
	lvl.g.SetSite(b.site())
	var refs []ad.Ref
	b.catch(func() {
		refs = f.Terms(&stdlib.Builder{G: lvl.g, Name: e.Name, Propto: propto}, sargs)
	})
	if b.marking && param {
		if v, ok := b.mark(e, f, lvl, ax, sargs); ok {
			return []value{v}
		}
	}
	out := make([]value, len(refs))
	for i, r := range refs {
		out[i] = b.wrap(r, lvl, ax, types.RealType, param)
	}
	return out
}

// userCallInLanes is userCall; what has nothing to do with the recurrence under way is
// evaluated in lanes.
func (b *binder) userCallInLanes(e *ir.UserCall) *value {
	if !b.scanning() || !b.outOfScan(e) {
		return b.userCall(e)
	}
	var v *value
	b.with(b.context.outside(), func() { v = b.userCall(e) })
	return v
}

// userCall evaluates a user's function in place; nil for a void function.
func (b *binder) userCall(e *ir.UserCall) *value {
	if len(b.calls) > 10_000 || len(b.calls) > maxNested && b.lvl.depth > maxNested {
		what, detail := "calls itself without end", "; in a graph, a recursion must be ended by data"
		if !slices.ContainsFunc(b.calls, func(c callSite) bool { return c.name == e.Func.Name }) {
			what, detail = "is called by too many functions that call one another", ", which is the limit"
		}
		b.fail(e.Span(), diag.EndlessRecursion, "`%s` %s", e.Func.Name, what).
			detailf("%d calls are under way%s.", len(b.calls), detail).throw()
	}
	if e.Func.Intrinsic != ir.NoIntrinsic {
		return b.intrinsic(e)
	}
	args := b.args(e.Args)
	outer := b.propto
	b.propto = e.Propto && outer
	if strings.HasSuffix(e.Func.Name, "_lp") {
		b.propto = outer
	}
	v := b.callWith(e.Func, e.Span(), args)
	b.propto = outer
	return v
}

// callWith evaluates a function for arguments.
func (b *binder) callWith(fn *ir.Function, at source.Span, args []value) *value {
	site := callSite{name: fn.Name, at: at}
	cells := make([]*cell, fn.NumVars)
	for i, v := range args {
		p := fn.Params[i]
		c := b.newCell(nil, p.Name, p.Type, v.shape)
		c.param = v.param
		c.typ = p.Type
		v = b.convert(v, p.Type)
		v.typ = p.Type
		c.state = state{whole: &v}
		cells[p.ID] = c
		site.param = site.param || v.param
	}
	outerCells, outerTarget, outerFrame := b.cells, b.inModel, b.frame
	b.cells, b.calls, b.frame = cells, append(b.calls, site), fn
	b.result = nil
	sig := b.exec(fn.Body)
	b.cells, b.calls = outerCells, b.calls[:len(b.calls)-1]
	b.inModel, b.frame = outerTarget, outerFrame
	out := b.result
	b.result = nil
	if sig&returns == 0 {
		return nil
	}
	if sig != returns && out != nil {
		b.mustReturn(fn, sig)
	}
	if out != nil {
		v := out.each(func(_ int, leaf value) value {
			leaf.param = leaf.param || site.param
			return leaf
		})
		return &v
	}
	return nil
}

// mustReturn rejects the evaluation where a function ends without a return.
func (b *binder) mustReturn(fn *ir.Function, sig signal) {
	b.rejectMissing(fn, b.isOneOf(b.code, sig&^returns))
}

// rejectMissing rejects the evaluation where missing is not 0.
func (b *binder) rejectMissing(fn *ir.Function, missing value) {
	b.emitEffect([]value{b.numeric(missing)}, func(g *ad.Graph, a []ad.Ref) {
		g.RejectIf(a[0], &ad.Message{Parts: []ad.MessagePart{{Text: fn.Name + " ended without a return statement", Arg: -1}}})
	})
}

func (b *binder) inFunction() bool { return len(b.calls) > 0 }

// targetValue is target(): the log density accumulated so far, also by the
// branches under way.
func (b *binder) targetValue(e *ir.TargetValue) value {
	if b.axis != nil || slices.ContainsFunc(b.branches, func(br *branch) bool { return br.trips }) {
		b.unsupported(e.At, inspect.TargetRead, "")
	}
	so := slices.Clone(b.targets)
	for _, br := range b.branches {
		for _, r := range br.target {
			so = append(so, value{typ: types.RealType, lvl: br.lvl, ref: r, param: true})
		}
	}
	if len(so) == 0 {
		return value{typ: types.RealType, lvl: b.root, ref: b.root.g.Const(0), param: true}
	}
	sum := b.emit(types.RealType, so, func(g *ad.Graph, a []ad.Ref) ad.Ref { return sumOf(g, a) })
	sum.param = true
	if b.lvl == b.root {
		b.targets = []value{sum}
	}
	return sum
}
