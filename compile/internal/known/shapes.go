package known

import (
	"slices"

	"github.com/ppl-lang/ppl/ad"
	"github.com/ppl-lang/ppl/compile/internal/interp"
	"github.com/ppl-lang/ppl/compile/internal/lanes"
	"github.com/ppl-lang/ppl/compile/internal/plan"
	"github.com/ppl-lang/ppl/compile/internal/static"
	"github.com/ppl-lang/ppl/compile/ir"
	"github.com/ppl-lang/ppl/lang/types"
	"github.com/ppl-lang/ppl/stdlib"
)

// maxCalls bounds the depth of calls while sizes are computed, because parameters may end a
// recursion.
const maxCalls = 100

// sizer finds the sizes of values, in a context or in a followed function.
type sizer struct {
	ev *Evaluator
	Binding
	at    *Context  // nil: in a function
	in    *follower // the function
	calls int       // depth of calls
}

// Shapes returns the shapes of the leaves of an expression; ok is false if data do not decide them.
func (v *Evaluator) Shapes(e ir.Expr, at *Context) (shapes [][]int, ok bool) {
	return (&sizer{ev: v, Binding: at.Binding, at: at}).of(e)
}

// shape returns the shape of a variable.
func (z *sizer) shape(v *ir.Var) (shape []int, ok bool) {
	if z.at != nil {
		return z.at.Shape(v)
	}
	return z.in.shape(v)
}

// Ints evaluates a known int expression; ok is false if it is not known.
func (z *sizer) Ints(e ir.Expr) (x lanes.Value, ok bool) {
	if e.Type().Kind != types.Int {
		return x, false
	}
	if z.at == nil {
		return z.in.ints(e)
	}
	if !z.ev.Knows(e, z.at) {
		return x, false
	}
	x, err := z.ev.Eval(e, z.at)
	return x, err == nil && x.Ints != nil
}

// ints evaluates a known int expression, a scalar or an array.
func (f *follower) ints(e ir.Expr) (x lanes.Value, ok bool) {
	if e.Type().Equal(types.IntType) {
		i, ok := f.number(e)
		return lanes.Int(i), ok
	}
	p := f.ev.prepare(e)
	if !p.pure || p.long || !f.ready(p) {
		return x, false
	}
	n, err := f.ev.numbers.Value(p.Expression)
	if err != nil && !p.lasts(err) {
		mistake(f, err)
	}
	return lanes.Value{Shape: slices.Clone(n.Shape), Ints: slices.Clone(n.Ints)}, err == nil && n.Ints != nil
}

// of returns the shapes of the leaves of an expression.
func (z *sizer) of(e ir.Expr) (shapes [][]int, ok bool) {
	if e.Type().IsScalar() && !e.Type().Composite() {
		return [][]int{nil}, true
	}
	switch e := e.(type) {
	case *ir.VarRef:
		shape, ok := z.shape(e.Var)
		return [][]int{shape}, ok
	case *ir.Operand:
		if z.at == nil || z.at.Operand == nil {
			return nil, false
		}
		return [][]int{z.at.Operand.Shape}, true
	case *ir.Promote:
		shapes, ok := z.of(e.X)
		if !ok {
			return nil, false
		}
		return types.PromotedLeaves(shapes, e.X.Type(), e.Ty), true
	case *ir.IndexExpr:
		return z.index(e)
	case *ir.Call:
		return z.library(e)
	case *ir.UserCall:
		return z.function(e)
	case *ir.Cond:
		if c, ok := z.Ints(e.Cond); ok {
			if i, ok := c.Scalar(); ok && i == 0 {
				return z.of(e.Else)
			}
		}
		return z.of(e.Then)
	case *ir.ArrayLit:
		return z.literal(e.Type(), e.Elems)
	case *ir.RowVectorLit:
		return z.literal(e.Type(), e.Elems)
	case *ir.Tuple:
		return z.list(e.Elems)
	case *ir.Member:
		from, to := e.X.Type().LeafRange(e.I)
		shapes, ok := z.of(e.X)
		if !ok {
			return nil, false
		}
		return shapes[from:to], true
	}
	return nil, false
}

// list returns the shapes of the leaves of expressions.
func (z *sizer) list(es []ir.Expr) (shapes [][]int, ok bool) {
	for _, e := range es {
		leaves, ok := z.of(e)
		if !ok {
			return nil, false
		}
		shapes = append(shapes, leaves...)
	}
	return shapes, true
}

func (z *sizer) literal(t types.Type, elems []ir.Expr) (shapes [][]int, ok bool) {
	leaves := t.Leaves()
	shapes = make([][]int, len(leaves))
	for k, leaf := range leaves {
		shapes[k] = make([]int, leaf.Type.Rank())
	}
	if len(elems) == 0 {
		return shapes, true
	}
	each, ok := z.of(elems[0])
	if !ok {
		return nil, false
	}
	for k := range shapes {
		shapes[k] = append([]int{len(elems)}, each[k]...)
	}
	return shapes, true
}

// index returns the shapes of the elements that indices select.
func (z *sizer) index(e *ir.IndexExpr) (shapes [][]int, ok bool) {
	whole, ok := z.of(e.X)
	if !ok {
		return nil, false
	}
	for _, shape := range whole {
		var out []int
		for k, size := range shape {
			n := size
			if k < len(e.Indices) {
				ix := e.Indices[k]
				switch ix.Kind {
				case ir.IndexSingle:
					continue
				case ir.IndexMulti:
					list, ok := z.of(ix.A)
					if !ok {
						return nil, false
					}
					n = list[0][0]
				case ir.IndexRange:
					from, to, ok := lanes.Bounds(z, ix, size)
					if !ok {
						return nil, false
					}
					n, _ = lanes.SliceAgreed(z, from, to, lanes.Innermost(from.Axis, to.Axis))
				}
			}
			out = append(out, n)
		}
		shapes = append(shapes, out)
	}
	return shapes, true
}

// Elements, Excluded and OutOfRange implement [lanes.Evaluator], to evaluate slices.

// Elements returns the number of elements of a value, or 0 if data do not decide it.
func (z *sizer) Elements(e ir.Expr) (n int) {
	if shapes, ok := z.of(e); ok {
		n = ad.SizeOf(shapes[0])
	}
	return n
}

// Excluded returns the excluded lanes of an axis.
func (z *sizer) Excluded(ax *plan.Axis) []bool {
	if z.at == nil {
		return nil
	}
	return z.at.Excluded(ax)
}

// OutOfRange does nothing: the error is reported when the elements are evaluated.
func (z *sizer) OutOfRange(_, _ lanes.Value, _ int64, _, _ int, _ ir.Index, _ string) {}

// library returns the shapes of a library call. It builds the declaration's graph for unknown
// arguments, reads the shapes, and discards the graph.
func (z *sizer) library(e *ir.Call) (shapes [][]int, ok bool) {
	f := static.FuncOf(e)
	args, ok := z.list(e.Args)
	if !ok {
		return nil, false
	}
	if f.OfShape != nil {
		return [][]int{{len(f.OfShape(args))}}, true
	}
	g := ad.NewGraph()
	if budget := z.ev.all.budget; budget != nil {
		g.Use(budget)
		defer budget.Back(budget.Used())
	}
	var leaves []stdlib.Arg
	var params []types.Type
	for _, a := range e.Args {
		params = append(params, a.Type())
		known, isKnown := z.Ints(a)
		for _, leaf := range a.Type().Leaves() {
			arg := stdlib.Arg{Type: leaf.Type}
			shape := args[len(leaves)]
			if isKnown && known.Axis == nil {
				arg.Ints = known.Ints
				reals := make([]float64, len(known.Ints))
				for i, x := range known.Ints {
					reals[i] = float64(x)
				}
				arg.Ref = g.ConstArray(ad.Type{Shape: shape}, reals)
			} else {
				arg.Ref = g.Input(ad.Type{Shape: shape})
			}
			leaves = append(leaves, arg)
		}
	}
	defer func() { // a mistake is reported when the call is evaluated
		switch r := recover().(type) {
		case nil:
		case *stdlib.Error, *ad.BuildError:
			shapes, ok = nil, false
		default:
			panic(r)
		}
	}()
	b := &stdlib.Builder{G: g, Name: e.Name, Edition: z.ev.all.options.Transforms}
	refs := []ad.Ref{}
	if e.Ty.Composite() {
		refs = f.OfLeaves(b, leaves, params, e.Ty)
	} else {
		refs = append(refs, f.Build(b, leaves))
	}
	for _, r := range refs {
		shapes = append(shapes, g.Type(r).Shape)
	}
	return shapes, true
}

// function returns the shapes of the value of a user function call.
func (z *sizer) function(e *ir.UserCall) (shapes [][]int, ok bool) {
	fn := e.Func
	args, ok := z.list(e.Args)
	if !ok || z.calls == maxCalls {
		return nil, false
	}
	switch fn.Intrinsic {
	case ir.Detach:
		return args[:1], true
	case ir.Jacobian:
		shapes, ok = z.called(fn.Of, e.Args, args)
		if !ok {
			return nil, false
		}
		return [][]int{{ad.SizeOf(shapes[0]), ad.SizeOf(args[fn.Arg])}}, true
	}
	return z.called(fn, e.Args, args)
}

// called returns the shapes of the value that a function returns for arguments of these shapes. It
// follows the statements to a return, in each lane in which known arguments differ.
func (z *sizer) called(fn *ir.Function, args []ir.Expr, shapes [][]int) (out [][]int, ok bool) {
	known := map[*ir.Var]lanes.Value{}
	var ax *plan.Axis
	k := 0
	for _, a := range args {
		if x, ok := z.Ints(a); ok && !a.Type().Composite() {
			known[fn.Params[k]] = x
			ax = lanes.Innermost(ax, x.Axis)
		}
		k += a.Type().NumLeaves()
	}
	n, excluded := plan.Lanes(ax), z.Excluded(ax)
	var sizes []lanes.Value // by leaf and dimension, per lane
	for l := range n {
		if excluded != nil && excluded[l] {
			continue
		}
		f := &follower{ev: z.ev.all.Of(fn), Binding: z.Binding, env: map[*ir.Var][]int64{}, shapes: map[*ir.Var][]int{}, calls: z.calls + 1}
		for i, p := range fn.Params {
			f.shapes[p] = shapes[i]
			if x, ok := known[p]; ok {
				f.set(p, x.Shape, x.Lane(plan.UpTo(ax, x.Axis), l))
			}
		}
		if sig, ok := f.exec(fn.Body); !ok || sig != static.Returns {
			return nil, false
		}
		out, ok = (&sizer{ev: f.ev, Binding: z.Binding, in: f, calls: f.calls}).of(f.returned)
		if !ok {
			return nil, false
		}
		k := 0
		for _, shape := range out {
			for _, d := range shape {
				if len(sizes) == k {
					sizes = append(sizes, lanes.Value{Axis: ax, Ints: make([]int64, n)})
				}
				sizes[k].Ints[l] = int64(d)
				k++
			}
		}
	}
	for _, s := range sizes {
		s.MustAgree(excluded)
	}
	if z.in != nil { // restore the variables: the call may have been recursive
		for v, ints := range z.in.env {
			z.in.ev.numbers.Set(v, interp.Number{Shape: z.in.shapes[v], Ints: ints})
		}
	}
	return out, out != nil
}

// declareSized declares a variable of a followed function, with its shape if known.
func (f *follower) declareSized(v *ir.Var) {
	shape := make([]int, len(v.Sizes))
	for k, e := range v.Sizes {
		n, ok := f.number(e)
		if !ok || n < 0 {
			delete(f.shapes, v)
			return
		}
		shape[k] = int(n)
	}
	f.shapes[v] = shape
}
