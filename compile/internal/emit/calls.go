package emit

import (
	"slices"
	"strings"

	"github.com/ppl-lang/ppl/ad"
	"github.com/ppl-lang/ppl/compile/internal/known"
	"github.com/ppl-lang/ppl/compile/internal/lanes"
	"github.com/ppl-lang/ppl/compile/internal/plan"
	"github.com/ppl-lang/ppl/compile/internal/static"
	"github.com/ppl-lang/ppl/compile/ir"
	"github.com/ppl-lang/ppl/lang/diag"
	"github.com/ppl-lang/ppl/lang/source"
	"github.com/ppl-lang/ppl/lang/types"
	"github.com/ppl-lang/ppl/stdlib"
)

// library calls functions of the library.
type library struct {
	floor
	vars  *variables
	lp    *logDensity
	marks *marks
	idx   *indexer
	ex    evaluator
}

// reduceSlice evaluates a reduction of a slice whose size is known only when the program runs, such
// as log_sum_exp(x[m:n]). It reduces the whole container, with elements outside the slice replaced
// by the neutral element. ok is false for any other call.
func (lb *library) reduceSlice(e *ir.Call, f *stdlib.Func) (v value, ok bool) {
	x := static.ReducedSlice(e)
	if x == nil {
		return v, false
	}
	ix := x.Indices[0]
	// Evaluate the whole container only if needed: an element outside the slice may be the one that
	// is about to be assigned.
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
		g.RejectIf(bad, outOfRange(1, "", size), g.Select(outside, a[0], a[1]))
	})
	at := lb.b.numeric(upTo(size))
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
		return lb.b.emit(types.RealType, terms, sumOf)
	}
	if v, ok := lb.reduceSlice(e, f); ok {
		return v
	}
	if v := static.Measured(e); v != nil && lb.vars.cell(v) != nil { // only its shape matters
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
	ints := !slices.ContainsFunc(args, func(a value) bool { return a.ints == nil })
	switch {
	case f.OfShape != nil:
		shapes := make([][]int, len(args))
		for i, a := range args {
			shapes[i] = a.shape
		}
		v := value{typ: typ, ints: f.OfShape(shapes)}
		if typ.Dims > 0 {
			v.shape = []int{len(v.ints)}
		}
		return v
	case f.Int != nil && ints:
		return lb.applyInt(f, args, typ)
	}
	if v, ok := lb.unchecked(f, name, args, typ); ok {
		return v
	}
	lvl, ax := lb.b.levelForChecks(args)
	if f.Random {
		lvl, ax = deeper(lvl, lb.at.lvl), lb.at.axis
		if ax != nil && levelOf(ax) != lvl { // a region or a step of a scan hides it
			ax = nil
		}
	}
	v := lb.build(lvl, ax, f, name, args, typ)
	if f.Random && ax != nil && v.axis == nil {
		panic(&fault{Reason: "random draws without lanes"})
	}
	return v
}

// unchecked evaluates a function of known numbers outside the branch that calls it. Its value is
// then known, and so are indices computed from it. ok is false if the function has checks, which
// belong to the branch, or if an argument is not known.
func (lb *library) unchecked(f *stdlib.Func, name string, args []value, typ types.Type) (v value, ok bool) {
	lvl, ax := lb.b.levelFor(args, false)
	if within, _ := lb.b.levelForChecks(args); lvl == within || f.Random || strings.HasSuffix(name, "_jacobian") {
		return v, false
	}
	checks := len(lvl.g.SideEffects)
	v = lb.build(lvl, ax, f, name, args, typ)
	known := v.ints != nil
	if !known {
		_, known = lvl.g.Value(v.ref)
	}
	if len(lvl.g.SideEffects) > checks {
		lvl.g.SideEffects, known = lvl.g.SideEffects[:checks], false
	}
	return v, known
}

// applyLeaves evaluates a function with a composite value.
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

// build adds a call of a library function to a graph, by the Build function of its declaration.
func (lb *library) build(lvl *level, ax *axis, f *stdlib.Func, name string, args []value, typ types.Type) value {
	sargs, param := lb.stdArgs(lvl, ax, args, f.Random && ax != nil)
	lvl.g.SetSite(lb.b.site())
	var r ad.Ref
	sb := &stdlib.Builder{G: lvl.g, Name: name, Edition: lb.opts.Transforms}
	if f.Random && ax != nil { // draws differ between lanes even with equal arguments
		sb.Lanes = ax.N
	}
	if lb.opts.Jacobian {
		sb.Adjust = func(j ad.Ref) { lb.lp.addTarget(lb.b.wrap(j, lvl, ax, types.RealType, param)) }
	}
	lb.rep.catch(func() { r = f.Build(sb, sargs) })
	return lb.exact(lb.b.wrap(r, lvl, ax, typ, param))
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

// sameInAll returns known integers if they are the same in all lanes, or nil.
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
func (lb *library) applyInt(f *stdlib.Func, args []value, typ types.Type) (out value) {
	vals := make([]lanes.Value, len(args))
	var ax *axis
	for i, a := range args {
		vals[i], ax = a.known(), lanes.Innermost(ax, a.axis)
	}
	lb.checkInts(ax, func(fail func(lane int, err error)) { out = ofLanes(known.Call(f, vals, lb.rep.Reserve, fail)) })
	out.typ = typ
	return out
}

// exact reports an error if a call computed known integers as reals and they are out of range.
func (lb *library) exact(v value) value {
	if v.ints == nil {
		return v
	}
	lb.checkInts(v.axis, func(fail func(lane int, err error)) {
		data, _ := v.lvl.g.Value(v.ref)
		for i, x := range data {
			if _, err := types.WholeInt(x); err != nil {
				fail(i/max(v.size(), 1), err)
			}
		}
	})
	return v
}

// checkInts runs arithmetic on known integers in the lanes of ax. An error in an excluded lane does
// not matter. In a branch that may never be taken, it becomes a rejection when the program runs.
// Otherwise it ends the binding.
func (lb *library) checkInts(ax *axis, run func(fail func(lane int, err error))) {
	bad, why, excluded := value{typ: types.IntType, axis: ax, ints: make([]int64, plan.Lanes(ax))}, "", lb.at.excluded(ax)
	run(func(lane int, err error) {
		switch {
		case excluded != nil && excluded[lane]:
		case !lb.at.mayBeSkipped():
			lb.rep.fail(lb.rep.span, diag.IntArithmetic, "%v", err).throw()
		default:
			bad.ints[lane], why = 1, err.Error()
		}
	})
	if why != "" {
		lb.b.rejectIf(bad, &ad.Message{Parts: []ad.MessagePart{{Text: why, Arg: -1}}})
	}
}

// terms evaluates a density and returns its terms, each one number per lane.
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

// userCalls evaluates user functions inline.
type userCalls struct {
	floor
	vars  *variables
	lp    *logDensity
	ctl   *control
	ex    evaluator
	stmts runner

	known *known.Evaluators
	frame *ir.Function // the current function; nil: the blocks of the program
}

// evaluator returns the evaluator of values that data decide, for the current function or the
// program's blocks.
func (uc *userCalls) evaluator() *known.Evaluator { return uc.known.Of(uc.frame) }

// userCallInLanes is userCall, except that a call that reads no value of the current recurrence is
// evaluated in lanes.
func (uc *userCalls) userCallInLanes(e *ir.UserCall) *value {
	if !uc.at.scanning() || !uc.vars.outOfScan(e) {
		return uc.userCall(e)
	}
	var v *value
	uc.at.with(uc.at.outside(), func() { v = uc.userCall(e) })
	return v
}

// userCall evaluates a user function inline. It returns nil for a void function.
func (uc *userCalls) userCall(e *ir.UserCall) *value {
	if len(uc.rep.calls) > 10_000 || len(uc.rep.calls) > maxNested && uc.at.lvl.depth > maxNested {
		what, detail := "calls itself without end", "; in a graph, a recursion must be ended by data"
		if !slices.ContainsFunc(uc.rep.calls, func(c callSite) bool { return c.name == e.Func.Name }) {
			what, detail = "is called by too many functions that call one another", ", which is the limit"
		}
		uc.rep.fail(e.Span(), diag.EndlessRecursion, "`%s` %s", e.Func.Name, what).
			detailf("%d calls are under way%s.", len(uc.rep.calls), detail).throw()
	}
	if e.Func.Intrinsic != ir.NoIntrinsic {
		return uc.intrinsic(e)
	}
	args := uc.ex.args(e.Args)
	outer := uc.lp.propto
	uc.lp.propto = e.Propto && outer
	if strings.HasSuffix(e.Func.Name, "_lp") {
		uc.lp.propto = outer
	}
	v := uc.callWith(e.Func, e.Span(), args)
	uc.lp.propto = outer
	return v
}

// callWith evaluates a function with these arguments.
func (uc *userCalls) callWith(fn *ir.Function, at source.Span, args []value) *value {
	site := callSite{name: fn.Name, at: at}
	cells := make([]*cell, fn.NumVars)
	for i, v := range args {
		p := fn.Params[i]
		c := uc.mem.newCell(nil, p.Name, p.Type, v.shape)
		c.param = v.param
		c.typ = p.Type
		v = uc.arr.convert(v, p.Type)
		v.typ = p.Type
		c.state = state{whole: &v}
		cells[p.ID] = c
		site.param = site.param || v.param
	}
	outerCells, outerTarget, outerFrame, entered := uc.vars.cells, uc.lp.inModel, uc.frame, uc.rep.entered
	if fn.Span.InLibrary() && at.IsValid() && !at.InLibrary() {
		uc.rep.entered = at
	}
	uc.vars.cells, uc.rep.calls, uc.frame = cells, append(uc.rep.calls, site), fn
	uc.ctl.result = nil
	sig := uc.stmts.exec(fn.Body)
	uc.vars.cells, uc.rep.calls = outerCells, uc.rep.calls[:len(uc.rep.calls)-1]
	uc.lp.inModel, uc.frame, uc.rep.entered = outerTarget, outerFrame, entered
	out := uc.ctl.result
	uc.ctl.result = nil
	if sig&returns == 0 {
		return nil
	}
	if sig != returns && out != nil {
		uc.rejectMissing(fn, uc.ctl.isOneOf(uc.ctl.code, sig&^returns))
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

// rejectMissing rejects the evaluation if missing is not 0, which means that the function ended
// without return.
func (uc *userCalls) rejectMissing(fn *ir.Function, missing value) {
	uc.b.rejectIf(missing, &ad.Message{Parts: []ad.MessagePart{{Text: fn.Name + " ended without a return statement", Arg: -1}}})
}

// intrinsic calls a function that only the library's Stan sources can use.
func (uc *userCalls) intrinsic(e *ir.UserCall) *value {
	args := uc.ex.args(e.Args)
	var v value
	switch e.Func.Intrinsic {
	case ir.Detach:
		v = uc.b.emit(e.Type(), args, func(g *ad.Graph, a []ad.Ref) ad.Ref { return g.Do(ad.OpDetach, nil, a[0]) })
		v.param = args[0].param
	case ir.Jacobian:
		v = uc.jacobian(e, args)
	}
	return &v
}

// jacobian evaluates a function into a separate graph with the argument as an input. It
// differentiates there, and adds the result to the current graph.
func (uc *userCalls) jacobian(e *ir.UserCall, args []value) value {
	parent, outer := uc.at.surroundings()
	lvl := newLevel(parent, outer)
	lvl.branch = true
	lvl.laned = outer != nil || parent.laned
	at := args[e.Func.Arg]
	n := at.size()
	in := lvl.g.Input(ad.Type{Shape: []int{n}})
	x := at
	x.lvl, x.ref, x.axis, x.ints = lvl, in, nil, nil
	args[e.Func.Arg] = x
	var out value
	var r ad.Ref
	uc.at.with(uc.at.into(&branch{lvl: lvl, saved: map[*cell]state{}}), func() {
		out = *uc.callWith(e.Func.Of, e.Span(), args)
		r = uc.b.use(uc.b.numeric(out), lvl, nil)
	})
	g := lvl.g
	g.SetSite(uc.b.site())
	j := g.Jacobian(g.Broadcast(r, []int{out.size()}), in, lvl.laned)
	if j == ad.None {
		j = g.Broadcast(g.Const(0), []int{n, out.size()})
	}
	g.Output(g.Transpose(j))
	inputs := append([]ad.Ref{in}, g.Inputs[1:]...)
	g.SetInputs(inputs)
	refs := []ad.Ref{parent.g.Broadcast(uc.b.use(uc.b.numeric(at), parent, outer), []int{n})}
	refs = append(refs, lvl.args...)
	ref := parent.g.Inline(g, refs, true)[0]
	v := uc.b.wrap(ref, parent, outer, types.MatrixType, true)
	return v
}
