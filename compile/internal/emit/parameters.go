package emit

import (
	"math"
	"slices"
	"sync"

	"github.com/ppl-lang/ppl/ad"
	"github.com/ppl-lang/ppl/compile/internal/interp"
	"github.com/ppl-lang/ppl/compile/internal/lanes"
	"github.com/ppl-lang/ppl/compile/ir"
	"github.com/ppl-lang/ppl/lang/types"
	"github.com/ppl-lang/ppl/stdlib/transform"
)

// parameters computes parameters from unconstrained numbers, and checks declared variables.
type parameters struct {
	floor
	prog *ir.Program
	vars *variables
	ex   *expressions

	list []Param // in order
}

// Param is a declared parameter.
type Param struct {
	Name   string
	Leaves []ParamLeaf
	Size   int      // unconstrained numbers
	Names  []string // names of the unconstrained numbers

	slots []ir.Slot // their order
}

// ParamLeaf is a parameter of a simple type, or a leaf of a tuple or a complex number.
type ParamLeaf struct {
	Name  string // name in data: theta, t.2.1
	Part  types.ComplexPart
	Shape []int
	free  []int // shape of the unconstrained numbers
}

// parameters declares the parameters from inputs of the graph. jacobian receives the terms of the
// log Jacobian.
func (ps *parameters) parameters(jacobian func(value)) {
	for i, leaves := range ir.Declared(ps.prog.Parameters) {
		p := ps.list[i]
		in := ps.b.root.g.Input(ad.Type{Shape: []int{p.Size}})
		for k, v := range leaves {
			ps.rep.move(v.Span)
			ps.parameter(v, p.Leaves[k], in, p.positions(k), jacobian)
		}
	}
}

// describe lists the parameters. Data must decide their sizes.
func (ps *parameters) describe() {
	for _, leaves := range ir.Declared(ps.prog.Parameters) {
		ps.list = append(ps.list, ps.param(leaves))
	}
}

// param describes a declared parameter.
func (ps *parameters) param(leaves []*ir.Var) Param {
	p := Param{Name: ir.DeclaredName(leaves)}
	var free [][]int
	for _, v := range leaves {
		ps.rep.move(v.Span)
		shape := ps.ex.sizes(v)
		ps.rep.Reserve(nameBytes, shape...)
		leaf := ParamLeaf{Name: v.Name, Part: v.Part, Shape: shape, free: freeShape(ps.transformOf(v), v.Type, shape)}
		p.Leaves, free = append(p.Leaves, leaf), append(free, leaf.free)
	}
	p.slots = ir.FreeLayout(leaves, free)
	p.Size = len(p.slots)
	p.Names = ir.FreeNames(leaves, free, ps.ex.rows(leaves[0]))
	return p
}

// positions returns the positions of a leaf's unconstrained numbers among those of the parameter,
// by element.
func (p *Param) positions(leaf int) ad.Index {
	free := p.Leaves[leaf].free
	t := make([]int32, ad.SizeOf(free))
	for pos, s := range p.slots {
		if s.Leaf == leaf {
			t[s.Element] = int32(pos)
		}
	}
	if len(p.Leaves) == 1 {
		return lanes.Separable(t, free)
	}
	return lanes.Affine(ad.Index{Dims: []ad.Dim{lanes.Table(t)}})
}

// parameter declares a leaf of a parameter from its unconstrained numbers, at positions of in.
func (ps *parameters) parameter(v *ir.Var, leaf ParamLeaf, in ad.Ref, positions ad.Index, jacobian func(value)) {
	g, shape, tr := ps.b.root.g, leaf.Shape, ps.transformOf(v)
	g.SetSite(ps.b.site())
	x := g.Reshape(g.Gather(in, positions), leaf.free)
	bounds := ps.boundsOf(v)
	item := shape[v.Type.Dims:]
	y, jac := tr.Each(g, v.Type.Dims, x, item, func(x ad.Ref) (ad.Ref, []ad.Ref) { return tr.Constrain(g, x, item, bounds) })
	if v.Constraint.Kind == types.LowerUpper && bounds.Lower != ad.None && bounds.Upper != ad.None {
		ps.checkOrder(v, bounds)
	}
	if v.Constraint.Kind == types.OffsetMultiplier && bounds.Upper != ad.None {
		g.Check(&ad.Check{Set: ad.Interval{Lo: 0, Hi: math.Inf(1), LoOpen: true, HiOpen: true}, Function: v.Name, Name: "the multiplier", Want: "positive and finite"}, bounds.Upper)
	}
	c := ps.mem.newCell(v, v.Name, v.Type, shape)
	c.param = true
	c.setWhole(value{typ: v.Type, shape: shape, lvl: ps.b.root, ref: g.Broadcast(y, shape)})
	ps.vars.cells[v.ID] = c
	for _, j := range jac {
		if jacobian != nil {
			j = g.Sum(j)
			c := v.Constraint
			if len(shape) > 0 && c.Kind == types.OffsetMultiplier && c.Upper != nil && c.Upper.Type().Rank() == 0 {
				j = g.Scale(float64(ad.SizeOf(shape)), j) // one multiplier, used by all elements
			}
			jacobian(value{typ: types.RealType, lvl: ps.b.root, ref: j, param: true})
		}
	}
}

// freeShape returns the shape of the unconstrained numbers of a variable.
func freeShape(tr transform.Transform, t types.Type, shape []int) []int {
	if tr.Free == nil {
		return shape
	}
	return append(slices.Clone(shape[:t.Dims]), tr.Free(shape[t.Dims:])...)
}

func (ps *parameters) transformOf(v *ir.Var) transform.Transform {
	return transform.Of(v.Constraint.Kind, ps.opts.Transforms)
}

// boundsOf evaluates the arguments of a declared constraint.
func (ps *parameters) boundsOf(v *ir.Var) transform.Bounds {
	arg := func(e ir.Expr) ad.Ref {
		if e == nil {
			return ad.None
		}
		return ps.b.use(ps.ex.eval(e), ps.b.root, nil)
	}
	return transform.Bounds{Lower: arg(v.Constraint.Lower), Upper: arg(v.Constraint.Upper)}
}

// checkOrder adds the check that the lower bound is below the upper.
func (ps *parameters) checkOrder(v *ir.Var, bounds transform.Bounds) {
	g := ps.b.root.g
	wrong := g.Do(ad.OpNot, nil, g.Less(bounds.Lower, bounds.Upper))
	m := &ad.Message{Where: func(lo, hi float64) bool { return !(lo < hi) }, Parts: []ad.MessagePart{
		{Text: "the lower bound of " + v.Name, Arg: -1}, {Arg: ad.Which}, {Text: " is not below its upper bound: ", Arg: -1}, {Arg: 0}, {Text: " and ", Arg: -1}, {Arg: 1}}}
	rejectIf(g, wrong, m, bounds.Lower, bounds.Upper)
}

// rejectIf rejects the evaluation if an element of wrong is not 0. It adds nothing if wrong is
// known to be all 0.
func rejectIf(g *ad.Graph, wrong ad.Ref, m *ad.Message, args ...ad.Ref) {
	if data, ok := g.Value(wrong); ok && !slices.Contains(data, 1) {
		return
	}
	g.RejectIf(g.Sum(wrong), m, args...)
}

// checkItems adds the check that a variable satisfies its constrained type.
func (ps *parameters) checkItems(v *ir.Var) {
	x := ps.b.numeric(ps.mem.pack(ps.vars.cell(v)))
	item := x.shape[v.Type.Dims:]
	work := sync.Pool{New: func() any { w := make([]float64, ad.SizeOf(item)); return &w }}
	ps.b.emitEffect([]value{x}, func(g *ad.Graph, a []ad.Ref) {
		g.Require(&ad.Requirement{Wrong: func(y []float64) string {
			w := work.Get().(*[]float64)
			defer work.Put(w)
			if i, wrong := v.Constraint.Kind.WrongItem(item, y, *w, types.Tolerance); wrong != "" {
				return interp.ItemName(v, x.shape, i) + " must be " + v.Constraint.Kind.Text() + ", but " + wrong
			}
			return ""
		}}, a[0])
	})
}

// checkDeclared checks a variable against its declared bounds at the end of its block, in every
// evaluation.
func (ps *parameters) checkDeclared(v *ir.Var) {
	if v.Constraint.Kind == types.Unconstrained || v.Constraint.Kind == types.OffsetMultiplier {
		return
	}
	ps.rep.move(v.Span)
	if v.Constraint.Kind != types.LowerUpper {
		ps.checkItems(v)
		return
	}
	x := ps.b.numeric(ps.mem.pack(ps.vars.cell(v)))
	g := ps.b.root.g
	for k, e := range []ir.Expr{v.Constraint.Lower, v.Constraint.Upper} {
		if e == nil {
			continue
		}
		// NaN must fail too, and comparisons with NaN are false. So the check tests for "not in
		// order".
		bound := ps.ex.eval(e)
		xr, br := ps.b.use(x, ps.b.root, nil), ps.b.use(bound, ps.b.root, nil)
		lo, hi, rel := br, xr, "at least"
		where := func(x, bound float64) bool { return !(bound <= x) }
		if k == 1 {
			lo, hi, rel = xr, br, "at most"
			where = func(x, bound float64) bool { return !(x <= bound) }
		}
		g.SetSite(ps.b.site())
		wrong := g.Do(ad.OpNot, nil, g.Do(ad.OpLessEqual, nil, lo, hi))
		m := &ad.Message{Where: where, Parts: []ad.MessagePart{
			{Text: v.Name, Arg: -1}, {Arg: ad.Which}, {Text: " is ", Arg: -1}, {Arg: 0}, {Text: ", but must be " + rel + " ", Arg: -1}, {Arg: 1}}}
		rejectIf(g, wrong, m, xr, br)
	}
}
