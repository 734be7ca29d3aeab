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
		v := r.eval(e.X)
		return value{shape: v.shape, reals: v.floats()}
	case *ir.IndexExpr:
		x := r.eval(e.X)
		places, shape := r.places(x.shape, e.Indices)
		return x.at(places, shape)
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
	case *ir.TargetValue:
		return realOf(r.target.Value)
	}
	r.failf("unknown expression %T", e)
	return value{}
}

// int evaluates a scalar int.
func (r *run) int(e ir.Expr) int64 { return r.eval(e).ints[0] }

// literal joins the elements of {…} or […].
func (r *run) literal(t types.Type, elems []ir.Expr) value {
	out := unset(t, nil)
	out.ints, out.reals = out.ints[:0], out.reals[:0]
	var shape []int
	for i, e := range elems {
		v := r.eval(e)
		if i > 0 {
			r.at = e.Span()
			r.fits(shape, v)
		}
		shape = v.shape
		out.ints, out.reals = append(out.ints, v.ints...), append(out.reals, v.reals...)
	}
	if len(elems) == 0 {
		shape = make([]int, t.Rank()-1)
	}
	out.shape = append([]int{len(elems)}, shape...)
	return out
}

// level is the autodiff level of an expression, by declaration: that of its
// operands, whether or not their values are used, but for ints, which have no
// derivatives. Within a function the arguments of the call decide, since a
// function is compiled anew for the levels that it is called with.
func (r *run) level(e ir.Expr) ir.Level {
	if e.Type().Kind == types.Int {
		return ir.Data
	}
	switch e := e.(type) {
	case *ir.VarRef:
		return r.frame.levels[e.Var.ID]
	case *ir.Promote:
		return r.level(e.X)
	case *ir.IndexExpr:
		return r.level(e.X)
	case *ir.Call:
		return r.highest(e.Args)
	case *ir.UserCall:
		return r.highest(e.Args)
	case *ir.Cond:
		return max(r.level(e.Then), r.level(e.Else))
	case *ir.ArrayLit:
		return r.highest(e.Elems)
	case *ir.RowVectorLit:
		return r.highest(e.Elems)
	case *ir.TargetValue:
		return ir.Param
	}
	return ir.Data // literals
}

func (r *run) highest(es []ir.Expr) ir.Level {
	level := ir.Data
	for _, e := range es {
		level = max(level, r.level(e))
	}
	return level
}

// library calls a function of the library: one of ints or of shapes at once,
// any other by building it on a graph of constants and evaluating that.
func (r *run) library(e *ir.Call) value {
	f := e.Overload.(*stdlib.Func)
	var args []value
	known := true
	for _, a := range e.Args {
		v := r.eval(a)
		args = append(args, v)
		known = known && v.isInt()
	}
	r.at = e.At
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
	sargs := make([]stdlib.Arg, len(args))
	for i, a := range args {
		sargs[i] = stdlib.Arg{Type: e.Args[i].Type(), Ref: constant(g, a), Ints: a.ints, Param: r.level(e.Args[i]) == ir.Param}
	}
	b := &stdlib.Builder{G: g, Name: e.Name, Propto: e.Propto && r.propto, Edition: r.opts.Transforms}
	var jacobian []ad.Ref
	if r.opts.Jacobian {
		b.Adjust = func(j ad.Ref) { jacobian = append(jacobian, j) }
	}
	out := r.computed(g, r.build(f, b, sargs))
	for _, j := range jacobian {
		r.add(r.computed(g, j).reals[0])
	}
	if e.Ty.Kind == types.Int {
		out.ints = make([]int64, len(out.reals))
		for i, x := range out.reals {
			out.ints[i] = int64(x)
		}
		out.reals = nil
	}
	return out
}

// build adds the value of a call to the builder's graph.
func (r *run) build(f *stdlib.Func, b *stdlib.Builder, args []stdlib.Arg) ad.Ref {
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
	if f.Terms == nil {
		return f.Build(b, args)
	}
	sum := b.G.Const(0)
	for _, t := range f.Terms(b, args) {
		sum = b.G.Add(sum, t)
	}
	return sum
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
	args, levels := make([]value, len(e.Args)), make([]ir.Level, len(e.Args))
	for i, a := range e.Args {
		args[i], levels[i] = r.eval(a), r.level(a)
	}
	switch e.Func.Intrinsic {
	case ir.Detach:
		return args[0], true
	case ir.Jacobian:
		return r.jacobian(e.Func, args, levels), true
	}
	propto := r.propto
	// A density drops terms if it is called with ~ or as _lupdf; a function that
	// adds to the density itself goes by the statement that calls it.
	if !strings.HasSuffix(e.Func.Name, "_lp") {
		r.propto = propto && e.Propto
	}
	v, ok = r.callWith(e.Func, args, levels)
	r.propto = propto
	return v, ok
}

// callWith runs a function for arguments.
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

// jacobian is the matrix of derivatives of a function by one of its arguments,
// by differences of second order, extrapolated once.
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
