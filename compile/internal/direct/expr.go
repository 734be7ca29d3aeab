package direct

import (
	"math"
	"slices"
	"strings"

	"github.com/ppl-lang/ppl/ad"
	"github.com/ppl-lang/ppl/compile/ir"
	"github.com/ppl-lang/ppl/lang/types"
	"github.com/ppl-lang/ppl/stdlib"
)

// eval evaluates an expression.
func (r *run) eval(e ir.Expr) value {
	r.work++
	switch e := e.(type) {
	case *ir.IntLit:
		return intOf(e.Value)
	case *ir.RealLit:
		return realOf(e.Value)
	case *ir.VarRef:
		return r.frame.vals[e.Var.ID]
	case *ir.Operand:
		return r.operand
	case *ir.Promote:
		return promoted(r.eval(e.X), e.X.Type(), e.Ty)
	case *ir.IndexExpr:
		return r.eval(e.X).each(func(x value) value {
			places, shape := r.places(x.shape, e.Indices)
			r.work += len(places)
			return x.at(places, shape)
		})
	case *ir.Call:
		return r.library(e)
	case *ir.UserCall:
		v, ok := r.call(e)
		if !ok {
			r.at = e.At
			r.failf("%s ended without a return", e.Func.Name)
		}
		return v
	case *ir.Cond:
		if r.eval(e.Cond).isTrue() {
			return r.eval(e.Then)
		}
		return r.eval(e.Else)
	case *ir.And:
		return truth(r.eval(e.X).isTrue() && r.eval(e.Y).isTrue())
	case *ir.Or:
		return truth(r.eval(e.X).isTrue() || r.eval(e.Y).isTrue())
	case *ir.ArrayLit:
		return r.literal(e.Ty, e.Elems)
	case *ir.RowVectorLit:
		return r.literal(e.Ty, e.Elems)
	case *ir.Tuple:
		var out value
		for _, x := range e.Elems {
			out.leaves = append(out.leaves, r.eval(x).parts()...)
		}
		return out
	case *ir.Member:
		from, to := e.X.Type().LeafRange(e.I)
		leaves := r.eval(e.X).leaves[from:to]
		if !e.Ty.Composite() {
			return leaves[0]
		}
		return value{leaves: leaves}
	case *ir.TargetValue:
		return realOf(r.target.Value)
	}
	r.failf("unknown expression %T", e)
	return value{}
}

// int evaluates a scalar int.
func (r *run) int(e ir.Expr) int64 { return r.eval(e).ints[0] }

// promoted converts a value from one type to another.
func promoted(v value, from, to types.Type) value {
	if from.Kind == types.Tuple {
		var out value
		for i, m := range from.Members {
			lo, hi := from.LeafRange(i)
			member := v.leaves[lo]
			if m.Composite() {
				member = value{leaves: v.leaves[lo:hi]}
			}
			out.leaves = append(out.leaves, promoted(member, m, to.Members[i]).parts()...)
		}
		return out
	}
	if from.Composite() || from.Equal(to) {
		return v
	}
	v = value{shape: v.shape, reals: v.floats()}
	if to.Composite() { // the conversion makes a complex number
		return value{leaves: []value{v, {shape: v.shape, reals: make([]float64, len(v.reals))}}}
	}
	return v
}

// literal joins the elements of {…} or […] into one value, leaf by leaf.
func (r *run) literal(t types.Type, elems []ir.Expr) value {
	vals := make([]value, len(elems))
	for i, e := range elems {
		vals[i] = r.eval(e)
	}
	var leaves []value
	for k, leaf := range t.Leaves() {
		out := unset(leaf.Type, nil)
		out.ints, out.reals = out.ints[:0], out.reals[:0]
		var shape []int
		for i, e := range elems {
			v := vals[i].parts()[k]
			if i > 0 {
				r.at = e.Span()
				r.fits(shape, v)
			}
			shape = v.shape
			out.ints, out.reals = append(out.ints, v.ints...), append(out.reals, v.reals...)
		}
		if len(elems) == 0 {
			shape = make([]int, leaf.Type.Rank()-1)
		}
		out.shape = append([]int{len(elems)}, shape...)
		leaves = append(leaves, out)
	}
	if !t.Composite() {
		return leaves[0]
	}
	return value{leaves: leaves}
}

// level returns the autodiff level of an expression of a simple type.
func (r *run) level(e ir.Expr) ir.Level { return r.levels(e)[0] }

// levels returns the autodiff levels of the leaves of an expression, as the language declares them.
// The level is the highest one of the operands, whether or not their values are used. Ints have
// level Data, since they have no derivatives. In a function it depends on the arguments of the
// call: Stan compiles a function separately for each combination of levels.
func (r *run) levels(e ir.Expr) []ir.Level {
	t := e.Type()
	n := t.NumLeaves()
	all := func(l ir.Level) []ir.Level { return slices.Repeat([]ir.Level{l}, n) }
	highest := func(es ...ir.Expr) []ir.Level {
		out := all(ir.Data)
		for _, x := range es {
			for k, l := range r.levels(x) {
				out[k] = max(out[k], l)
			}
		}
		return out
	}
	out := all(ir.Data) // the level of literals
	switch e := e.(type) {
	case *ir.VarRef:
		out[0] = r.frame.levels[e.Var.ID]
	case *ir.Promote:
		out = promotedLevels(r.levels(e.X), e.X.Type(), e.Ty)
	case *ir.IndexExpr:
		out = r.levels(e.X)
	case *ir.Call:
		out = all(r.highest(e.Args))
	case *ir.UserCall:
		out = all(r.highest(e.Args))
	case *ir.Cond:
		out = highest(e.Then, e.Else)
	case *ir.ArrayLit:
		out = highest(e.Elems...)
	case *ir.RowVectorLit:
		out = highest(e.Elems...)
	case *ir.Tuple:
		out = nil
		for _, x := range e.Elems {
			out = append(out, r.levels(x)...)
		}
	case *ir.Member:
		from, to := e.X.Type().LeafRange(e.I)
		out = r.levels(e.X)[from:to]
	case *ir.TargetValue:
		out[0] = ir.Param
	}
	out = slices.Clone(out)
	if !t.Composite() {
		if t.Kind == types.Int {
			out[0] = ir.Data
		}
		return out
	}
	for k, leaf := range t.Leaves() {
		switch {
		case leaf.Type.Kind == types.Int:
			out[k] = ir.Data
		case leaf.Part == types.ImagPart: // both parts of a complex number have the same level
			out[k-1] = max(out[k-1], out[k])
			out[k] = out[k-1]
		}
	}
	return out
}

// promotedLevels returns the levels of a promoted value.
func promotedLevels(levels []ir.Level, from, to types.Type) []ir.Level {
	switch {
	case from.Kind == types.Tuple:
		var out []ir.Level
		for i, m := range from.Members {
			lo, hi := from.LeafRange(i)
			out = append(out, promotedLevels(levels[lo:hi], m, to.Members[i])...)
		}
		return out
	case to.Composite() && !from.Composite():
		return []ir.Level{levels[0], levels[0]}
	}
	return levels
}

func (r *run) highest(es []ir.Expr) ir.Level {
	level := ir.Data
	for _, e := range es {
		level = max(level, slices.Max(r.levels(e)))
	}
	return level
}

// library calls a library function. It computes functions of ints or shapes directly. It builds any
// other function on a graph of constants and evaluates the graph.
func (r *run) library(e *ir.Call) value {
	f := e.Overload.(*stdlib.Func)
	var args []value
	for _, a := range e.Args {
		args = append(args, r.eval(a).parts()...)
	}
	known := !slices.ContainsFunc(args, func(v value) bool { return !v.isInt() })
	r.at = e.At
	if f.OfShape == nil {
		for _, v := range args {
			r.work += count(v.shape)
		}
	}
	switch {
	case f.OfShape != nil:
		shapes := make([][]int, len(args))
		for i, a := range args {
			shapes[i] = a.shape
		}
		out := value{ints: f.OfShape(shapes)}
		if e.Ty.Dims > 0 {
			out.shape = []int{len(out.ints)}
		}
		return out
	case f.Int != nil && known:
		return r.ofInts(f, args)
	}
	g := ad.NewGraph()
	var sargs []stdlib.Arg
	for _, a := range e.Args {
		levels := r.levels(a)
		for k, leaf := range a.Type().Leaves() {
			v := args[len(sargs)]
			sargs = append(sargs, stdlib.Arg{Type: leaf.Type, Ref: constant(g, v), Ints: v.ints, Param: levels[k] == ir.Param})
		}
	}
	b := &stdlib.Builder{G: g, Name: e.Name, Propto: e.Propto && r.propto, Edition: r.opts.Transforms}
	var jacobian []ad.Ref
	if r.opts.Jacobian {
		b.Adjust = func(j ad.Ref) { jacobian = append(jacobian, j) }
	}
	if e.Ty.Composite() {
		var params []types.Type
		for _, a := range e.Args {
			params = append(params, a.Type())
		}
		var out value
		for k, leaf := range r.catch(func() []ad.Ref { return f.OfLeaves(b, sargs, params, e.Ty) }) {
			v := r.computed(g, leaf)
			if e.Ty.Leaves()[k].Type.Kind == types.Int {
				v = r.wholes(v)
			}
			out.leaves = append(out.leaves, v)
		}
		return out
	}
	out := r.computed(g, r.build(f, b, sargs))
	for _, j := range jacobian {
		r.add(r.computed(g, j).reals[0])
	}
	if e.Ty.Kind == types.Int {
		return r.wholes(out)
	}
	return out
}

// wholes converts an int value that was computed as reals to ints.
func (r *run) wholes(v value) value {
	v.ints = make([]int64, len(v.reals))
	for i, x := range v.reals {
		n, err := types.WholeInt(x)
		if err != nil {
			r.fail(err)
		}
		v.ints[i] = n
	}
	v.reals = nil
	return v
}

// build adds the value of a call to the builder's graph.
func (r *run) build(f *stdlib.Func, b *stdlib.Builder, args []stdlib.Arg) ad.Ref {
	return r.catch(func() []ad.Ref {
		if f.Terms == nil {
			return []ad.Ref{f.Build(b, args)}
		}
		sum := b.G.Const(0)
		for _, t := range f.Terms(b, args) {
			sum = b.G.Add(sum, t)
		}
		return []ad.Ref{sum}
	})[0]
}

// catch turns an error of a library declaration into an error at the call.
func (r *run) catch(f func() []ad.Ref) []ad.Ref {
	defer func() {
		switch p := recover().(type) {
		case nil:
		case *stdlib.Error:
			r.fail(p)
		case *ad.BuildError:
			r.fail(p)
		default:
			panic(p)
		}
	}()
	return f()
}

// ofInts applies a function of int scalars, element by element.
func (r *run) ofInts(f *stdlib.Func, args []value) value {
	var shape []int
	for _, a := range args {
		if len(a.shape) > 0 {
			shape = a.shape
		}
	}
	out := value{shape: shape, ints: make([]int64, count(shape))}
	x := make([]int64, len(args))
	for k := range out.ints {
		for i, a := range args {
			switch {
			case len(a.shape) == 0:
				x[i] = a.ints[0]
			case !slices.Equal(a.shape, shape):
				r.failf("arguments of shapes %v and %v", a.shape, shape)
			default:
				x[i] = a.ints[k]
			}
		}
		n, err := f.Int(x)
		if err != nil {
			r.fail(err)
		}
		out.ints[k] = n
	}
	return out
}

// maxCalls bounds the depth of recursion.
const maxCalls = 10_000

// call calls a user function; ok is false if it ended without a return.
func (r *run) call(e *ir.UserCall) (v value, ok bool) {
	var args []value
	var levels []ir.Level
	for _, a := range e.Args {
		args, levels = append(args, r.eval(a).parts()...), append(levels, r.levels(a)...)
	}
	switch e.Func.Intrinsic {
	case ir.Detach:
		return args[0], true
	case ir.Jacobian:
		return r.jacobian(e.Func, args, levels), true
	}
	propto := r.propto
	// A density drops terms if it is called with ~ or as _lupdf. For a function that adds to the
	// target itself (_lp), the calling statement decides.
	if !strings.HasSuffix(e.Func.Name, "_lp") {
		r.propto = propto && e.Propto
	}
	v, ok = r.callWith(e.Func, args, levels)
	r.propto = propto
	return v, ok
}

// callWith runs a function with arguments.
func (r *run) callWith(fn *ir.Function, args []value, levels []ir.Level) (v value, ok bool) {
	if r.calls++; r.calls > maxCalls {
		r.failf("%s calls itself without end", fn.Name)
	}
	inner := frame{vals: make([]value, fn.NumVars), levels: make([]ir.Level, fn.NumVars), inCall: true, local: ir.Data}
	for i, p := range fn.Params {
		inner.vals[p.ID], inner.levels[p.ID] = args[i], levels[i]
		inner.local = max(inner.local, levels[i])
	}
	outer := r.frame
	r.frame = inner
	sig := r.exec(fn.Body)
	r.frame = outer
	r.calls--
	return r.result, sig == returns
}

// jacobian returns the matrix of derivatives of a function with respect to one of its arguments. It
// uses central differences, extrapolated once.
func (r *run) jacobian(fn *ir.Function, args []value, levels []ir.Level) value {
	at := args[fn.Arg].floats()
	n := len(at)
	var out value
	for k := range n {
		difference := func(h float64) []float64 {
			var side [2][]float64
			for s, d := range []float64{h, -h} {
				x := slices.Clone(at)
				x[k] += d
				moved := slices.Clone(args)
				moved[fn.Arg] = value{shape: []int{n}, reals: x}
				v, ok := r.callWith(fn.Of, moved, levels)
				if !ok {
					r.failf("%s ended without a return", fn.Of.Name)
				}
				side[s] = v.floats()
			}
			d := make([]float64, len(side[0]))
			for i := range d {
				d[i] = (side[0][i] - side[1][i]) / (2 * h)
			}
			return d
		}
		h := 1e-3 * max(1, math.Abs(at[k]))
		wide, narrow := difference(h), difference(h/2)
		if out.reals == nil {
			out = value{shape: []int{len(wide), n}, reals: make([]float64, len(wide)*n)}
		}
		for i := range wide {
			out.reals[i*n+k] = (4*narrow[i] - wide[i]) / 3
		}
	}
	if out.reals == nil {
		out = value{shape: []int{0, 0}, reals: []float64{}}
	}
	return out
}
