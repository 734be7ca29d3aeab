package emit

import (
	"slices"
	"strings"

	"github.com/ppl-lang/ppl/ad"
	"github.com/ppl-lang/ppl/compile/ir"
	"github.com/ppl-lang/ppl/lang/diag"
	"github.com/ppl-lang/ppl/lang/source"
	"github.com/ppl-lang/ppl/lang/types"
)

// userCalls evaluates functions of the program in place.
type userCalls struct {
	at    *context
	rep   *reporter
	b     *builder
	arr   *arrays
	mem   *contents
	vars  *variables
	lp    *logDensity
	ctl   *control
	ex    evaluator
	stmts runner

	frame *ir.Function // the function under way; nil: the blocks of the program
}

// userCallInLanes is userCall; what has nothing to do with the recurrence under way is
// evaluated in lanes.
func (uc *userCalls) userCallInLanes(e *ir.UserCall) *value {
	if !uc.at.scanning() || !uc.vars.outOfScan(e) {
		return uc.userCall(e)
	}
	var v *value
	uc.at.with(uc.at.outside(), func() { v = uc.userCall(e) })
	return v
}

// userCall evaluates a user's function in place; nil for a void function.
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

// callWith evaluates a function for arguments.
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
	outerCells, outerTarget, outerFrame := uc.vars.cells, uc.lp.inModel, uc.frame
	uc.vars.cells, uc.rep.calls, uc.frame = cells, append(uc.rep.calls, site), fn
	uc.ctl.result = nil
	sig := uc.stmts.exec(fn.Body)
	uc.vars.cells, uc.rep.calls = outerCells, uc.rep.calls[:len(uc.rep.calls)-1]
	uc.lp.inModel, uc.frame = outerTarget, outerFrame
	out := uc.ctl.result
	uc.ctl.result = nil
	if sig&returns == 0 {
		return nil
	}
	if sig != returns && out != nil {
		uc.mustReturn(fn, sig)
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
func (uc *userCalls) mustReturn(fn *ir.Function, sig signal) {
	uc.rejectMissing(fn, uc.ctl.isOneOf(uc.ctl.code, sig&^returns))
}

// rejectMissing rejects the evaluation where missing is not 0.
func (uc *userCalls) rejectMissing(fn *ir.Function, missing value) {
	uc.b.emitEffect([]value{uc.b.numeric(missing)}, func(g *ad.Graph, a []ad.Ref) {
		g.RejectIf(a[0], &ad.Message{Parts: []ad.MessagePart{{Text: fn.Name + " ended without a return statement", Arg: -1}}})
	})
}

// intrinsic calls a function that the texts of the library use and no program
// can write.
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

// jacobian evaluates a function into a separate graph, of which the argument is
// an input, differentiates it there and adds the result to the graph in force.
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
	setInputs(g, inputs)
	refs := []ad.Ref{parent.g.Broadcast(uc.b.use(uc.b.numeric(at), parent, outer), []int{n})}
	refs = append(refs, lvl.args...)
	ref := parent.g.Inline(g, refs, true)[0]
	v := uc.b.wrap(ref, parent, outer, types.MatrixType, true)
	return v
}
