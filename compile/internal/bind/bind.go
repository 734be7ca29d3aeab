package bind

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"

	"github.com/ppl-lang/ppl/ad"
	"github.com/ppl-lang/ppl/compile/data"
	"github.com/ppl-lang/ppl/compile/internal/interp"
	"github.com/ppl-lang/ppl/compile/internal/lanes"
	"github.com/ppl-lang/ppl/compile/ir"
	"github.com/ppl-lang/ppl/lang/diag"
	"github.com/ppl-lang/ppl/lang/source"
	"github.com/ppl-lang/ppl/lang/types"
	"github.com/ppl-lang/ppl/stdlib/transform"
)

// Options of a binding.
type Options struct {
	Seed       uint64       // of random draws in transformed data
	Propto     bool         // `~` and _lupdf drop terms
	Jacobian   bool         // transforms add their log Jacobians
	Print      func(string) // receives prints of transformed data
	Transforms transform.Edition
	Budget     *ad.Budget // of memory and statements; nil: there are no bounds
	Unroll     bool       // evaluate every loop iteration by iteration: the plain meaning, for tests
}

// Stats tells how loops and branches came out.
type Stats struct {
	Laned    int // loops evaluated once for all iterations
	Scanned  int // loops with a carried recurrence
	Carried  int // loops as one region that carries variables whole
	Iterated int // loops whose number of iterations is computed
	Unrolled int
	Ifs      int      // conditionals that parameters decide
	Plans    []Plan   // of the loops, in the order in which they are evaluated; the first few hundred
	Faults   []string // plans of loops that could not be carried out
	Notes    []string // why loops were not laned: "line 12: reason"
}

// Bound is a program bound to data: graphs from the unconstrained parameters.
// What no graph can hold, because something that only a run tells decides the size
// of a value, has none; Stats.Notes says why.
type Bound struct {
	// Params are the parameters, one input of every graph each, in order.
	Params []Param
	// Density has the log density as its only output.
	Density *ad.Graph
	// Constrained outputs, one after another, parameters and transformed
	// parameters; Generated these and the generated quantities. Elements stand
	// in the order of Names: the first index fastest.
	Constrained, Generated *ad.Graph
	// Names of the outputs of Generated; the first NumConstrained are those of
	// Constrained.
	Names          []string
	NumConstrained int
	// Known are data and transformed data.
	Known *interp.Known
	// Sites are the positions of graph nodes, by ad.Site.
	Sites []source.Span
	Stats Stats // of the log density

	again *binder // for what is made later, see information.go
	known []constant
}

// Param is a declared parameter.
type Param struct {
	Name   string
	Leaves []ParamLeaf
	Size   int      // unconstrained numbers
	Names  []string // of the unconstrained numbers

	slots []ir.Slot // their order
}

// ParamLeaf is a parameter of a simple type, or one of those that a tuple or a
// complex number consists of.
type ParamLeaf struct {
	Name  string // in data: theta, t.2.1
	Part  types.ComplexPart
	Shape []int
	free  []int // of the unconstrained numbers
}

// Bind evaluates prog with data. Mistakes come back as *Error.
func Bind(prog *ir.Program, set *data.Set, o Options) (*Bound, error) {
	b := newBinder(prog, o)
	out := &Bound{again: b}
	var err error
	if out.Known, err = b.readData(set); err != nil {
		return nil, err
	}
	out.Known.Each(func(v *ir.Var, shape []int, ints []int64, reals []float64) {
		out.known = append(out.known, constant{v, v.Type, shape, ints, reals})
	})
	if err := b.complaints(func() {
		for _, k := range out.known {
			b.at(k.v.Span)
			b.reserve(8, k.shape...)
		}
		b.names(out)
	}); err != nil {
		return nil, err
	}
	// What the parts have in common is evaluated once.
	var common *fork
	first := b.complaints(func() {
		b.beginDensity(out.known, out, b.opts.Jacobian)
		common = b.fork()
	})
	var notes []string
	for _, part := range []struct {
		instead string
		build   func()
	}{
		{"the log density is interpreted, statement by statement, at every point", func() {
			out.Density = b.endDensity()
			out.Stats = b.stats
		}},
		{"transformed parameters are interpreted, draw by draw", func() {
			b.resume(common)
			out.Constrained = b.constrained()
		}},
		{"generated quantities are interpreted, draw by draw", func() {
			b.resume(common)
			out.Generated = b.generated()
		}},
	} {
		err := first
		if err == nil {
			err = b.complaints(part.build)
		}
		var refused *Error
		switch {
		case err == nil:
		case errors.As(err, &refused) && (unknown(refused.List) || refused.skippable):
			d := refused.List[0]
			notes = append(notes, fmt.Sprintf("line %d: %s: %s", d.Span.Begin().Line, part.instead, d.Summary))
			if refused.fault {
				b.stats.Faults = append(b.stats.Faults, fmt.Sprintf("line %d: %s", d.Span.Begin().Line, d.Summary))
			}
		default:
			return nil, err
		}
	}
	out.Stats.Notes = append(out.Stats.Notes, notes...)
	out.Stats.Faults = b.stats.Faults
	out.Sites = b.sites
	return out, nil
}

// complaints runs fn, whose complaints come back as *Error.
func (b *binder) complaints(fn func()) (err error) {
	defer func() {
		switch r := recover().(type) {
		case nil:
		case *halt:
			err = r.err
		case *ad.BuildError:
			if r.Err != nil {
				err = b.limited(r.Err, b.sites[r.Site])
				return
			}
			p := b.fail(b.span, diag.NotSupported, "this cannot be evaluated: %v", r)
			err = &Error{List: diag.List{p.d}, fault: true}
		case *problem:
			err = &Error{List: diag.List{r.d}, skippable: r.skippable}
		case *fault:
			p := b.fail(b.span, diag.NotSupported, "this cannot be evaluated: %s", r.Reason)
			err = &Error{List: diag.List{p.d}, fault: true}
		case runtime.Error: // a fault as well: who embeds the package is not to be ended by it
			p := b.fail(b.span, diag.NotSupported, "this cannot be evaluated: %v", r)
			err = &Error{List: diag.List{p.d}, fault: true}
		default:
			panic(r)
		}
	}()
	fn()
	return nil
}

// constant is the value of a data variable, outside any graph.
type constant struct {
	v     *ir.Var
	typ   types.Type
	shape []int
	ints  []int64
	reals []float64
}

// start makes cells of the known variables in a new graph.
func (b *binder) start(known []constant) {
	if b.free != nil {
		b.free()
	}
	b.begin()
	b.free = b.refund()
	b.cells = make([]*cell, b.prog.NumVars)
	for _, k := range known {
		c := b.newCell(k.v, k.v.Name, k.typ, k.shape)
		v := value{typ: k.typ, shape: k.shape, ints: k.ints}
		if k.ints == nil {
			v.lvl, v.ref = b.root, b.root.g.ConstArray(ad.Type{Shape: k.shape}, k.reals)
		}
		c.state = state{whole: &v}
		c.param = false
		b.cells[k.v.ID] = c
	}
}

// readData takes the data block's variables from set, runs transformed data and
// gives the values of both.
func (b *binder) readData(set *data.Set) (*interp.Known, error) {
	o := interp.Options{
		Jacobian: b.opts.Jacobian, Print: b.opts.Print, Transforms: b.opts.Transforms,
		Rand: rand.New(rand.NewPCG(b.opts.Seed, 0x9e3779b97f4a7c15)),
	}
	if budget := b.opts.Budget; budget != nil {
		o.Stop = budget.Stop
		o.Memory, o.Statements = budget.Left()
	}
	known, err := interp.Data(b.prog, set, o)
	var refused *interp.Error
	if errors.As(err, &refused) {
		return nil, &Error{List: diag.List{refused.Diagnostic}}
	}
	return known, err
}

// parameters declares the parameters from inputs of the graph; jacobian
// receives addends of the log Jacobian.
func (b *binder) parameters(out *Bound, jacobian func(value)) {
	if out.Params == nil {
		b.describe(out)
	}
	for i, leaves := range ir.Declared(b.prog.Parameters) {
		p := out.Params[i]
		in := b.root.g.Input(ad.Type{Shape: []int{p.Size}})
		for k, v := range leaves {
			b.at(v.Span)
			b.parameter(v, p.Leaves[k], in, p.positions(k), jacobian)
		}
	}
}

// describe lists the parameters, whose sizes data decide.
func (b *binder) describe(out *Bound) {
	for _, leaves := range ir.Declared(b.prog.Parameters) {
		out.Params = append(out.Params, b.param(leaves))
	}
}

// param describes a declared parameter.
func (b *binder) param(leaves []*ir.Var) Param {
	p := Param{Name: ir.DeclaredName(leaves)}
	var free [][]int
	for _, v := range leaves {
		b.at(v.Span)
		shape := b.sizes(v)
		b.reserve(nameBytes, shape...)
		leaf := ParamLeaf{Name: v.Name, Part: v.Part, Shape: shape, free: freeShape(b.transformOf(v), v.Type, shape)}
		p.Leaves, free = append(p.Leaves, leaf), append(free, leaf.free)
	}
	p.slots = ir.FreeLayout(leaves, free)
	p.Size = len(p.slots)
	for _, s := range p.slots {
		p.Names = append(p.Names, s.Name)
	}
	return p
}

// positions of a leaf's unconstrained numbers among those of the parameter, by
// element.
func (p *Param) positions(leaf int) ad.Index {
	free := p.Leaves[leaf].free
	t := make([]int32, sizeOf(free))
	for pos, s := range p.slots {
		if s.Leaf == leaf {
			t[s.Element] = int32(pos)
		}
	}
	if len(p.Leaves) == 1 {
		return storage(t, free)
	}
	return lanes.Affine(ad.Index{Dims: []ad.Dim{lanes.Table(t)}})
}

// parameter declares a leaf of a parameter from its unconstrained numbers, which
// lie at positions of in.
func (b *binder) parameter(v *ir.Var, leaf ParamLeaf, in ad.Ref, positions ad.Index, jacobian func(value)) {
	g, shape, tr := b.root.g, leaf.Shape, b.transformOf(v)
	g.SetSite(b.site())
	x := g.Reshape(g.Gather(in, positions), leaf.free)
	bounds := b.boundsOf(v)
	item := shape[v.Type.Dims:]
	y, jac := tr.Each(g, v.Type.Dims, x, item, func(x ad.Ref) (ad.Ref, []ad.Ref) { return tr.Constrain(g, x, item, bounds) })
	if v.Constraint.Kind == types.LowerUpper && bounds.Lower != ad.None && bounds.Upper != ad.None {
		b.checkOrder(v, bounds)
	}
	if v.Constraint.Kind == types.OffsetMultiplier && bounds.Upper != ad.None {
		g.Check(&ad.Check{Set: ad.Interval{Lo: 0, Hi: math.Inf(1), LoOpen: true, HiOpen: true}, Function: v.Name, Name: "the multiplier", Want: "positive and finite"}, bounds.Upper)
	}
	c := b.newCell(v, v.Name, v.Type, shape)
	c.param = true
	c.setWhole(value{typ: v.Type, shape: shape, lvl: b.root, ref: g.Broadcast(y, shape)})
	b.cells[v.ID] = c
	for _, j := range jac {
		if jacobian != nil {
			n := sizeOf(shape)
			j = g.Sum(j)
			if len(shape) > 0 && b.scalarJacobian(v) {
				j = g.Scale(float64(n), j)
			}
			jacobian(value{typ: types.RealType, lvl: b.root, ref: j, param: true})
		}
	}
}

// freeShape is the shape of the unconstrained numbers of a variable.
func freeShape(tr transform.Transform, t types.Type, shape []int) []int {
	if tr.Free == nil {
		return shape
	}
	return append(slices.Clone(shape[:t.Dims]), tr.Free(shape[t.Dims:])...)
}

// scalarJacobian reports whether the Jacobian's addend is the same number for
// all elements: a scalar multiplier.
func (b *binder) scalarJacobian(v *ir.Var) bool {
	return v.Constraint.Kind == types.OffsetMultiplier && v.Constraint.Upper != nil && v.Constraint.Upper.Type().Rank() == 0
}

func (b *binder) transformOf(v *ir.Var) transform.Transform {
	return transform.Of(v.Constraint.Kind, b.opts.Transforms)
}

// boundsOf evaluates the arguments of a declared constraint.
func (b *binder) boundsOf(v *ir.Var) transform.Bounds {
	arg := func(e ir.Expr) ad.Ref {
		if e == nil {
			return ad.None
		}
		return b.use(b.eval(e), b.root, nil)
	}
	return transform.Bounds{Lower: arg(v.Constraint.Lower), Upper: arg(v.Constraint.Upper)}
}

// checkOrder adds the check that the lower bound is below the upper.
func (b *binder) checkOrder(v *ir.Var, bounds transform.Bounds) {
	g := b.root.g
	wrong := g.Do(ad.OpNot, nil, g.Less(bounds.Lower, bounds.Upper))
	if data, ok := g.Value(wrong); ok && !slices.Contains(data, 1) {
		return
	}
	if t := g.Type(wrong); len(t.Shape) > 0 {
		wrong = g.Sum(wrong)
	}
	m := &ad.Message{Where: func(lo, hi float64) bool { return !(lo < hi) }, Parts: []ad.MessagePart{
		{Text: "the lower bound of " + v.Name, Arg: -1}, {Arg: ad.Which}, {Text: " is not below its upper bound: ", Arg: -1}, {Arg: 0}, {Text: " and ", Arg: -1}, {Arg: 1}}}
	g.RejectIf(wrong, m, bounds.Lower, bounds.Upper)
}

// beginDensity evaluates parameters, with the Jacobians of their transforms or without, and
// transformed parameters.
func (b *binder) beginDensity(known []constant, out *Bound, jacobians bool) {
	b.start(known)
	b.inModel = true
	var jacobian func(value)
	if jacobians {
		jacobian = func(v value) { b.targets = append(b.targets, v) }
	}
	b.parameters(out, jacobian)
	b.transformedParameters()
}

// endDensity evaluates the model to the log density.
func (b *binder) endDensity() *ad.Graph {
	for _, s := range b.prog.Model {
		b.exec(s)
	}
	g := b.root.g
	sum := g.Const(0)
	for _, t := range b.targets {
		sum = g.Add(sum, t.ref)
	}
	g.Output(sum)
	b.inModel = false
	return g
}

// fork is what has been evaluated, from where several parts of a program go on.
type fork struct {
	g       *ad.Graph
	cells   []*cell
	aligned map[alignKey]ad.Ref
}

// fork keeps what has been evaluated outside of all statements.
func (b *binder) fork() *fork {
	return &fork{g: b.root.g.Fork(), cells: copies(b.cells), aligned: maps.Clone(b.aligned)}
}

// resume goes on from a fork, which stays as it is. What was taken from the budget beside
// what the former part keeps is given back before the copy takes its own.
func (b *binder) resume(f *fork) {
	b.free()
	b.restart()
	b.root.g, b.cells, b.aligned = f.g.Fork(), copies(f.cells), maps.Clone(f.aligned)
	b.free = b.refund()
}

// copies are cells with the same content, which neither these nor those change in place.
func copies(cells []*cell) []*cell {
	out := slices.Clone(cells)
	for i, c := range cells {
		if c != nil {
			c.owned = false
			d := *c
			out[i] = &d
		}
	}
	return out
}

func (b *binder) transformedParameters() {
	for _, s := range b.prog.TransformedParameters {
		b.exec(s)
	}
	for _, v := range b.prog.TransformedParameterVars {
		b.checkDeclared(v)
	}
}

// unknown reports whether what is said is about values that only a run tells.
func unknown(list diag.List) bool {
	return slices.ContainsFunc(list, func(d diag.Diagnostic) bool {
		return d.Code == diag.NotSupported || d.Code == diag.UnknownInt || d.Code == diag.EndlessRecursion
	})
}

// constrained makes outputs of parameters and transformed parameters.
func (b *binder) constrained() *ad.Graph {
	b.outputs(slices.Concat(b.prog.Parameters, b.prog.TransformedParameterVars))
	return b.root.g
}

// generated evaluates generated quantities, and makes outputs of all quantities.
func (b *binder) generated() *ad.Graph {
	for _, s := range b.prog.GeneratedQuantities {
		b.exec(s)
	}
	for _, v := range b.prog.GeneratedQuantityVars {
		b.checkDeclared(v)
	}
	b.outputs(slices.Concat(b.prog.Parameters, b.prog.TransformedParameterVars, b.prog.GeneratedQuantityVars))
	return b.root.g
}

// nameBytes is what the name and the places of an element of an output take.
const nameBytes = 96

// names lists the parameters and names all outputs. Data decide all sizes.
func (b *binder) names(out *Bound) {
	b.start(out.known)
	b.describe(out)
	list := func(vars []*ir.Var) {
		for _, leaves := range ir.Declared(vars) {
			var shapes [][]int
			for _, v := range leaves {
				shapes = append(shapes, b.sizes(v))
				b.reserve(nameBytes, shapes[len(shapes)-1]...)
			}
			for _, s := range ir.Layout(leaves, shapes) {
				out.Names = append(out.Names, s.Name)
			}
		}
	}
	list(b.prog.Parameters)
	list(b.prog.TransformedParameterVars)
	out.NumConstrained = len(out.Names)
	list(b.prog.GeneratedQuantityVars)
}

// outputs makes the values of variables the output of the graph.
func (b *binder) outputs(vars []*ir.Var) {
	g := b.root.g
	var parts []ad.Ref
	for _, leaves := range ir.Declared(vars) {
		var shapes [][]int
		var flat []ad.Ref
		var starts []int32
		total := 0
		for _, v := range leaves {
			c := b.cell(v)
			b.at(v.Span)
			b.reserve(nameBytes, c.size)
			r := b.use(b.pack(c), b.root, nil)
			flat = append(flat, g.Reshape(r, []int{c.size}))
			shapes, starts = append(shapes, c.shape), append(starts, int32(total))
			total += c.size
		}
		order := make([]int32, total)
		for i, s := range ir.Layout(leaves, shapes) {
			order[i] = starts[s.Leaf] + int32(s.Element)
		}
		all := flat[0]
		if len(flat) > 1 {
			all = g.Concat(flat...)
		}
		parts = append(parts, g.Gather(all, ad.Index{Dims: []ad.Dim{lanes.Table(order)}}))
	}
	if len(parts) == 0 {
		parts = append(parts, g.ConstArray(ad.Type{Shape: []int{0}}, nil))
	}
	g.Output(g.Concat(parts...))
}

// ---- orders of elements ----

// storage is the index of elements whose positions are t, by element in row-major
// order.
func storage(t []int32, shape []int) ad.Index {
	if len(shape) < 2 || len(t) == 0 {
		return lanes.Contiguous(shape)
	}
	// The map is separable: read the strides off the table.
	ix := ad.Index{Dims: make([]ad.Dim, len(shape))}
	stride := 1
	for k := len(shape) - 1; k >= 0; k-- {
		ix.Dims[k].N = shape[k]
		if shape[k] > 1 {
			ix.Dims[k].Stride = int(t[stride])
		}
		stride *= shape[k]
	}
	return ix
}
