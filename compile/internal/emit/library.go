package emit

import (
	"strings"

	"github.com/ppl-lang/ppl/ad"
	"github.com/ppl-lang/ppl/compile/internal/lanes"
	"github.com/ppl-lang/ppl/compile/internal/static"
	"github.com/ppl-lang/ppl/compile/ir"
	"github.com/ppl-lang/ppl/lang/diag"
	"github.com/ppl-lang/ppl/lang/types"
	"github.com/ppl-lang/ppl/stdlib"
)

// library calls functions of the library.
type library struct {
	at    *context
	opts  *Options
	rep   *reporter
	b     *builder
	arr   *arrays
	vars  *variables
	lp    *logDensity
	marks *marks
	idx   *indexer
	ex    evaluator
}

// intFaults are lanes of an axis in which the arithmetic of known integers failed.
type intFaults struct {
	lib      *library
	bad      value // 1 in these
	why      string
	excluded []bool
}

// reduceSlice calls one of these functions on a slice whose size is known only when the
// program runs, by leaving out the elements that are not in it. ok is false for any
// other call.
func (lb *library) reduceSlice(e *ir.Call, f *stdlib.Func) (v value, ok bool) {
	x := static.ReducedSlice(e)
	if x == nil {
		return v, false
	}
	ix := x.Indices[0]
	// The whole is evaluated only where it is wanted: an element out of the slice may be what is
	// about to be assigned.
	from, to := lb.idx.bounds(ix, 0)
	if from.ints != nil && to.ints != nil {
		return v, false
	}
	all := lb.ex.eval(x.X)
	size := all.shape[0]
	if ix.B == nil {
		to = intValue(int64(size))
	}
	old := lb.rep.move(e.Span())
	defer lb.rep.move(old)
	bounds := []value{lb.b.numeric(from), lb.b.numeric(to)}
	lb.b.emitEffect(bounds, func(g *ad.Graph, a []ad.Ref) {
		limit := g.Const(float64(size))
		outside := g.Do(ad.OpMax, nil, g.Less(a[0], g.Const(1)), g.Less(limit, a[0]))
		empty := g.Const(0)
		if ix.Part == ir.Begun {
			empty = outside
		}
		bad := g.Select(g.Less(a[1], a[0]), empty, g.Do(ad.OpMax, nil, outside, g.Less(limit, a[1])))
		g.RejectIf(bad, outOfRange(1, size), g.Select(outside, a[0], a[1]))
	})
	positions := make([]int64, size)
	for i := range positions {
		positions[i] = int64(i) + 1
	}
	at := lb.b.numeric(value{typ: types.Type{Kind: types.Int, Dims: 1}, shape: []int{size}, ints: positions})
	all = lb.b.numeric(all)
	part := lb.b.emit(all.typ, append(bounds, at, all), func(g *ad.Graph, a []ad.Ref) ad.Ref {
		no := g.Const(static.Neutral[e.Name])
		return g.Select(g.Less(a[2], a[0]), no, g.Select(g.Less(a[1], a[2]), no, a[3]))
	})
	part.param = all.param
	return lb.apply(f, e.Name, []value{part}, e.Type()), true
}

// call calls a library function.
func (lb *library) call(e *ir.Call) value {
	f := static.FuncOf(e)
	if f.Terms != nil {
		terms := lb.terms(e, f, e.Propto && lb.lp.propto)
		if len(terms) == 0 {
			return value{typ: types.RealType, lvl: lb.b.root, ref: lb.b.root.g.Const(0)}
		}
		return lb.b.emit(types.RealType, terms, func(g *ad.Graph, a []ad.Ref) ad.Ref {
			sum := a[0]
			for _, t := range a[1:] {
				sum = g.Add(sum, t)
			}
			return sum
		})
	}
	if v, ok := lb.reduceSlice(e, f); ok {
		return v
	}
	if v := static.Measured(e); v != nil && lb.vars.cell(v) != nil { // its elements need not be put together
		return lb.apply(f, e.Name, []value{{typ: v.Type, shape: lb.vars.cell(v).shape}}, e.Type())
	}
	args := lb.ex.args(e.Args)
	old := lb.rep.move(e.Span())
	defer lb.rep.move(old)
	if e.Ty.Composite() {
		return lb.applyLeaves(f, e, args)
	}
	return lb.apply(f, e.Name, args, e.Type())
}

// apply evaluates a function that is not a density.
func (lb *library) apply(f *stdlib.Func, name string, args []value, typ types.Type) value {
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
		return lb.applyInt(f, name, args, typ)
	}
	if v, ok := lb.unchecked(f, name, args, typ); ok {
		return v
	}
	lvl, ax := lb.b.levelForChecks(args)
	if f.Random {
		lvl, ax = deeper(lvl, lb.at.lvl), lb.at.axis
		if ax != nil && levelOf(ax) != lvl { // hidden by a region, or the step of a scan
			ax = nil
		}
	}
	v := lb.build(lvl, ax, f, name, args, typ)
	if f.Random && ax != nil && v.axis == nil {
		panic(&fault{Reason: "random draws without lanes"})
	}
	return v
}

// unchecked evaluates a function of known numbers out of the branch in which it stands, so
// that what it is stays known, such as a place that follows from it; ok is false if it has
// checks, which belong to the branch, or fails.
func (lb *library) unchecked(f *stdlib.Func, name string, args []value, typ types.Type) (v value, ok bool) {
	lvl, ax := lb.b.levelFor(args, false)
	if within, _ := lb.b.levelForChecks(args); lvl == within || f.Random || strings.HasSuffix(name, "_jacobian") {
		return v, false
	}
	checks := len(lvl.g.Effects)
	v = lb.build(lvl, ax, f, name, args, typ)
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
func (lb *library) applyLeaves(f *stdlib.Func, e *ir.Call, args []value) value {
	lvl, ax := lb.b.levelForChecks(args)
	sargs, param := lb.stdArgs(lvl, ax, args, false)
	lvl.g.SetSite(lb.b.site())
	var params []types.Type
	for _, a := range e.Args {
		params = append(params, a.Type())
	}
	var refs []ad.Ref
	lb.rep.catch(func() { refs = f.OfLeaves(&stdlib.Builder{G: lvl.g, Name: e.Name}, sargs, params, e.Ty) })
	var leaves []value
	for k, leaf := range e.Ty.Leaves() {
		leaves = append(leaves, lb.b.wrap(refs[k], lvl, ax, leaf.Type, param))
	}
	return composed(e.Ty, leaves)
}

// build runs a declaration's Build.
func (lb *library) build(lvl *level, ax *axis, f *stdlib.Func, name string, args []value, typ types.Type) value {
	sargs, param := lb.stdArgs(lvl, ax, args, f.Random && ax != nil)
	lvl.g.SetSite(lb.b.site())
	var r ad.Ref
	sb := &stdlib.Builder{G: lvl.g, Name: name, Lanes: drawLanes(f, ax), Edition: lb.opts.Transforms}
	if lb.opts.Jacobian {
		sb.Adjust = func(j ad.Ref) { lb.lp.addTarget(lb.b.wrap(j, lvl, ax, types.RealType, param)) }
	}
	lb.rep.catch(func() { r = f.Build(sb, sargs) })
	return lb.exact(lb.b.wrap(r, lvl, ax, typ, param))
}

// drawLanes is the number of lanes in which a generator draws, 0 for none: also
// the numbers that do not depend on its arguments differ between them.
func drawLanes(f *stdlib.Func, ax *axis) int {
	if f.Random && ax != nil {
		return ax.N
	}
	return 0
}

func (lb *library) stdArgs(lvl *level, ax *axis, args []value, spread bool) ([]stdlib.Arg, bool) {
	out := make([]stdlib.Arg, len(args))
	param := false
	for i, a := range args {
		out[i] = stdlib.Arg{Type: a.typ, Param: a.param, Ref: lb.b.use(a, lvl, ax)}
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

// applyInt evaluates a function of known integers, per lane.
func (lb *library) applyInt(f *stdlib.Func, name string, args []value, typ types.Type) value {
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
	lb.rep.reserve(8, n, size)
	out := value{typ: typ, shape: shape, axis: ax, ints: make([]int64, n*size)}
	ups := make([][]int32, len(args))
	for i, a := range args {
		if a.axis != nil && a.axis != ax {
			ups[i] = ax.LanesOf(a.axis)
		}
	}
	x := make([]int64, len(args))
	faults := lb.intFaults(ax)
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

func (lb *library) intFaults(ax *axis) *intFaults {
	n := 1
	if ax != nil {
		n = ax.N
	}
	return &intFaults{lib: lb, bad: value{typ: types.IntType, axis: ax, ints: make([]int64, n)}, excluded: lb.at.excluded(ax)}
}

// add ends binding, unless no iteration that gets here has that lane, or this place may
// never be reached.
func (f *intFaults) add(lane int, err error) {
	switch {
	case f.excluded != nil && f.excluded[lane]:
	case !f.lib.at.mayBeSkipped():
		f.lib.rep.fail(f.lib.rep.span, diag.IntArithmetic, "%v", err).throw()
	default:
		f.bad.ints[lane], f.why = 1, err.Error()
	}
}

// emit has the evaluation rejected where faults were added.
func (f *intFaults) emit() {
	if f.why != "" {
		f.lib.b.emitEffect([]value{f.lib.b.numeric(f.bad)}, func(g *ad.Graph, a []ad.Ref) {
			g.RejectIf(a[0], &ad.Message{Parts: []ad.MessagePart{{Text: f.why, Arg: -1}}})
		})
	}
}

// exact refuses known integers of a call that were too large for a graph to hold.
func (lb *library) exact(v value) value {
	if v.ints == nil {
		return v
	}
	faults := lb.intFaults(v.axis)
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
func (lb *library) terms(e *ir.Call, f *stdlib.Func, propto bool) []value {
	args := lb.ex.args(e.Args)
	old := lb.rep.move(e.Span())
	defer lb.rep.move(old)
	lvl, ax := lb.b.levelForChecks(args)
	sargs, param := lb.stdArgs(lvl, ax, args, false)
	lvl.g.SetSite(lb.b.site())
	var refs []ad.Ref
	lb.rep.catch(func() {
		refs = f.Terms(&stdlib.Builder{G: lvl.g, Name: e.Name, Propto: propto}, sargs)
	})
	if lb.lp.marking && param {
		if v, ok := lb.marks.mark(e, f, lvl, ax, sargs); ok {
			return []value{v}
		}
	}
	out := make([]value, len(refs))
	for i, r := range refs {
		out[i] = lb.b.wrap(r, lvl, ax, types.RealType, param)
	}
	return out
}
