package bind

import (
	"github.com/ppl-lang/ppl/ad"
	"github.com/ppl-lang/ppl/compile/ir"
	"github.com/ppl-lang/ppl/lang/types"
)

// intrinsic calls a function that the texts of the library use and no program
// can write.
func (b *binder) intrinsic(e *ir.UserCall) *value {
	args := b.args(e.Args)
	var v value
	switch e.Func.Intrinsic {
	case ir.Detach:
		v = b.emit(e.Type(), args, func(g *ad.Graph, a []ad.Ref) ad.Ref { return g.Do(ad.OpDetach, nil, a[0]) })
		v.param = args[0].param
	case ir.Jacobian:
		v = b.jacobian(e, args)
	}
	return &v
}

// jacobian evaluates a function into a separate graph, of which the argument is
// an input, differentiates it there and adds the result to the graph in force.
func (b *binder) jacobian(e *ir.UserCall, args []value) value {
	parent, outer := b.surroundings()
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
	b.with(b.context.into(&branch{lvl: lvl, saved: map[*cell]state{}}), func() {
		out = *b.callWith(e.Func.Of, e.Span(), args)
		r = b.use(b.numeric(out), lvl, nil)
	})
	g := lvl.g
	g.SetSite(b.site())
	j := g.Jacobian(g.Broadcast(r, []int{out.size()}), in, lvl.laned)
	if j == ad.None {
		j = g.Broadcast(g.Const(0), []int{n, out.size()})
	}
	g.Output(g.Transpose(j))
	inputs := append([]ad.Ref{in}, g.Inputs[1:]...)
	setInputs(g, inputs)
	refs := []ad.Ref{parent.g.Broadcast(b.use(b.numeric(at), parent, outer), []int{n})}
	refs = append(refs, lvl.args...)
	ref := parent.g.Inline(g, refs, true)[0]
	v := b.wrap(ref, parent, outer, types.MatrixType, true)
	return v
}
