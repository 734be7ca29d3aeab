package interp

import (
	"math"
	"slices"
	"sync"

	"github.com/ppl-lang/ppl/ad"
	"github.com/ppl-lang/ppl/compile/ir"
	"github.com/ppl-lang/ppl/lang/diag"
	"github.com/ppl-lang/ppl/lang/source"
	"github.com/ppl-lang/ppl/lang/types"
	"github.com/ppl-lang/ppl/stdlib/transform"
)

// Model is a program with its data, to be evaluated at points: the unconstrained numbers of each
// parameter. It is immutable and may be shared.
type Model struct {
	opts   Options
	known  *Known
	params []parameter

	transformed, generated stmt
	model                  []stmt
	// checks of the declared bounds of transformed parameters and generated quantities
	checkTransformed, checkGenerated stmt
}

// parameter is a declared parameter with one or several leaves.
type parameter struct {
	size   int
	leaves []leaf
}

// leaf is a parameter of a simple type.
type leaf struct {
	v            *ir.Var
	tr           transform.Transform
	shape, free  []int
	places       []int // indices of its unconstrained numbers among those of the parameter
	lower, upper func(f *frame) *array
	store        func(f *frame, a *array)
	constraint   *constraint
	inverse      *constraint // of the inverse transform
}

// constraint caches the plan of a leaf's transform. The bounds are constants of the plan, so it is
// rebuilt when parameters change them.
type constraint struct {
	mu     sync.Mutex
	bounds [][]float64
	plan   *plan
	none   bool // the transform needs more than a plan can hold
}

// New resolves a program for known data. Print, Rand and Stop of the options are ignored: each
// evaluation has its own.
func New(known *Known, o Options) (m *Model, err error) {
	defer caught(&err)
	m = &Model{opts: o, known: known}
	prog := known.prog
	s := newResolver(prog, &m.opts).blocks(o.Propto)
	f := m.begin(&m.opts, nil)
	for _, leaves := range ir.Declared(prog.Parameters) {
		m.params = append(m.params, s.parameter(f, leaves))
	}
	m.transformed, m.checkTransformed = s.block(prog.TransformedParameters), s.checkAll(prog.TransformedParameterVars)
	for _, st := range prog.Model {
		m.model = append(m.model, s.stmt(st))
	}
	m.generated, m.checkGenerated = s.block(prog.GeneratedQuantities), s.checkAll(prog.GeneratedQuantityVars)
	return m, nil
}

// parameter resolves the declaration of a parameter, whose sizes depend only on data.
func (s *scope) parameter(f *frame, leaves []*ir.Var) parameter {
	var p parameter
	var free [][]int
	for _, v := range leaves {
		l := leaf{v: v, tr: transform.Of(v.Constraint.Kind, s.opts.Transforms), shape: s.sizes(v)(f), store: keep(v.Span, v), constraint: &constraint{}, inverse: &constraint{}}
		if l.free = l.shape; l.tr.Free != nil {
			d := v.Type.Dims
			l.free = append(slices.Clone(l.shape[:d]), l.tr.Free(l.shape[d:])...)
		}
		if e := v.Constraint.Lower; e != nil {
			l.lower = s.expr(e).array
		}
		if e := v.Constraint.Upper; e != nil {
			l.upper = s.expr(e).array
		}
		l.places = make([]int, count(l.free))
		p.leaves, free = append(p.leaves, l), append(free, l.free)
	}
	slots := ir.FreeLayout(leaves, free)
	p.size = len(slots)
	for k, slot := range slots {
		p.leaves[slot.Leaf].places[slot.Element] = k
	}
	return p
}

// Value is a log density with the sum of the absolute values of its terms, to which rounding errors
// are proportional.
type Value struct{ Density, Magnitude float64 }

// Density evaluates the log density at a point.
func (m *Model) Density(x [][]float64, env *ad.Env) (v Value, err error) {
	defer caught(&err)
	f := m.run(x, env, nil)
	return Value{f.m.target.value, f.m.target.magnitude}, nil
}

// Record is a recorded evaluation: a graph from the parameters' unconstrained numbers, one input
// each, to the log density, without side effects. It is valid at the point where it was made, for
// derivatives of any order there.
type Record struct {
	Graph *ad.Graph
	Value float64       // the log density
	Sites []source.Span // of nodes, by ad.Site
}

// Record evaluates the log density at a point, executes prints and rejections, and records the
// computation.
func (m *Model) Record(x [][]float64, env *ad.Env) (r *Record, err error) {
	defer caught(&err)
	rec := &recorder{g: ad.NewGraph(), sites: newSites()}
	f := m.run(x, env, rec)
	out := f.m.targetRef()
	if out == none {
		out = rec.g.Const(f.m.target.value)
	}
	rec.g.Output(out)
	return &Record{Graph: rec.g, Value: f.m.target.value, Sites: rec.sites.spans}, nil
}

// Outputs evaluates parameters and transformed parameters and, with generated, the generated
// quantities, in the order of ir.Layout.
func (m *Model) Outputs(x [][]float64, env *ad.Env, generated bool) (out []float64, err error) {
	defer caught(&err)
	f := m.outputs(x, env, generated, nil)
	for _, n := range m.numbers(f, generated) {
		out = append(out, n.value())
	}
	return out, nil
}

// OutputVars evaluates Outputs with generated quantities, and also returns the variable of each
// number.
func (m *Model) OutputVars(x [][]float64, env *ad.Env) (vars []*ir.Var, out []float64, err error) {
	defer caught(&err)
	all := m.numbers(m.outputs(x, env, true, nil), true)
	vars, out = make([]*ir.Var, len(all)), make([]float64, len(all))
	for i, n := range all {
		vars[i], out[i] = n.of, n.value()
	}
	return vars, out, nil
}

// RecordOutput is Record for some of the numbers that Outputs returns with generated quantities.
// Their indices are places; they are the outputs of the graph.
func (m *Model) RecordOutput(x [][]float64, env *ad.Env, places ...int) (r *Record, err error) {
	defer caught(&err)
	rec := &recorder{g: ad.NewGraph(), sites: newSites()}
	f := m.outputs(x, env, true, rec)
	all := m.numbers(f, true)
	for _, k := range places {
		n := all[k]
		ref := f.m.refAt(n.array, n.element)
		rec.g.Output(f.m.operand(n.value(), ref))
	}
	return &Record{Graph: rec.g, Sites: rec.sites.spans}, nil
}

// outputs implements Outputs.
func (m *Model) outputs(x [][]float64, env *ad.Env, generated bool, rec *recorder) *frame {
	o := m.options(env)
	f := m.begin(&o, rec)
	m.parameters(f, x)
	m.transformed(f)
	m.checkTransformed(f)
	if generated {
		m.generated(f)
		m.checkGenerated(f)
	}
	return f
}

// Parameters evaluates the parameters alone, in the order of Outputs.
func (m *Model) Parameters(x [][]float64, env *ad.Env) (out []float64, err error) {
	defer caught(&err)
	o := m.options(env)
	f := m.begin(&o, nil)
	m.parameters(f, x)
	for _, n := range numbers(f, m.known.prog.Parameters, nil) {
		out = append(out, n.value())
	}
	return out, nil
}

// options returns the options of an evaluation.
func (m *Model) options(env *ad.Env) Options {
	o := m.opts
	o.Rand, o.Print, o.Stop = env.Rand, env.Print, env.Stop
	return o
}

// begin returns a frame in which data and transformed data have their values.
func (m *Model) begin(o *Options, rec *recorder) *frame {
	mc := newMachine(o)
	if mc.rec = rec; rec != nil {
		rec.g.Use(mc.budget)
	}
	f := newFrame(mc, m.known.prog.NumVars)
	for i, v := range m.known.vars {
		set(v)(f, m.known.of[i])
	}
	return f
}

// Prefix evaluates the log density of the transforms of parameters and of the first statements of
// the model block, until the evaluation is stopped, see ad.Env. done is the number of statements
// executed, or -1 if the evaluation is stopped before the first; err is then its error.
func (m *Model) Prefix(x [][]float64, env *ad.Env) (done int, err error) {
	defer caught(&err)
	done = -1
	o := m.options(env)
	f := m.begin(&o, nil)
	f.m.inModel = true
	m.parameters(f, x)
	m.transformed(f)
	m.checkTransformed(f)
	for done = 0; done < len(m.model); done++ {
		if err := env.Stop(); err != nil {
			return done, err
		}
		if m.model[done](f) != goesOn {
			break
		}
	}
	return done, nil
}

// run evaluates the log density.
func (m *Model) run(x [][]float64, env *ad.Env, rec *recorder) *frame {
	o := m.options(env)
	f := m.begin(&o, rec)
	f.m.inModel = true
	m.parameters(f, x)
	m.transformed(f)
	m.checkTransformed(f)
	for _, st := range m.model {
		if st(f) != goesOn {
			break
		}
	}
	return f
}

// parameters sets the parameters.
func (m *Model) parameters(f *frame, x [][]float64) {
	mc := f.m
	for i, p := range m.params {
		all := &array{shape: []int{p.size}, reals: x[i]}
		if mc.rec != nil {
			all.rec = &recorded{whole: mc.rec.g.Input(ad.Type{Shape: all.shape})}
		}
		for _, l := range p.leaves {
			if mc.rec != nil {
				mc.rec.begin(l.v.Span)
			}
			l.store(f, l.constrain(f, mc.gather(all, l.places, l.free)))
		}
	}
}

// constrain applies a transform and adds its log Jacobian.
func (l *leaf) constrain(f *frame, free *array) *array {
	m, v, tr := f.m, l.v, l.tr
	args, lower, upper := l.arguments(f, free)
	l.checkBounds(m, args, lower, upper)
	item := l.shape[v.Type.Dims:]
	build := func(g *ad.Graph, a []ad.Ref) []ad.Ref {
		bounds := boundsOf(a, lower, upper)
		y, jacobian := tr.Each(g, v.Type.Dims, a[0], item, func(x ad.Ref) (ad.Ref, []ad.Ref) { return tr.Constrain(g, x, item, bounds) })
		outs := []ad.Ref{g.Broadcast(y, l.shape)}
		for _, j := range jacobian {
			if tr.Free == nil {
				j = g.Broadcast(j, l.shape) // one number for all elements
			}
			outs = append(outs, g.Sum(j))
		}
		return outs
	}
	var out []*array
	if p := l.constraint.at(m, args, build); p != nil {
		out = p.run(m, v.Span, args[:1], false)
	} else {
		out = m.compute(v.Span, args, false, build)
	}
	if m.opts.Jacobian {
		for _, j := range out[1:] {
			m.addAll(j)
		}
	}
	return out[0]
}

// at returns the plan for args: the numbers to transform, followed by the bounds. nil if there is
// none, or if the evaluation is recorded.
func (c *constraint) at(m *machine, args []*array, build func(g *ad.Graph, a []ad.Ref) []ad.Ref) *plan {
	if m.rec != nil {
		return nil
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.none {
		return nil
	}
	same := c.plan != nil
	for i, b := range args[1:] {
		same = same && slices.Equal(c.bounds[i], b.floats())
	}
	if same {
		return c.plan
	}
	g := ad.NewGraph()
	g.Use(m.budget)
	refs := []ad.Ref{g.Input(ad.Type{Shape: args[0].shape})}
	c.bounds = nil
	for _, b := range args[1:] {
		numbers := slices.Clone(b.floats())
		c.bounds, refs = append(c.bounds, numbers), append(refs, g.ConstArray(ad.Type{Shape: b.shape}, numbers))
	}
	outs, ok := attempt(func() []ad.Ref { return build(g, refs) })
	if c.plan = nil; ok {
		c.plan = planOf(g, outs)
	}
	c.none = c.plan == nil
	return c.plan
}

// checkBounds rejects a lower bound that is not below the upper one, and multipliers that are not
// positive.
func (l *leaf) checkBounds(m *machine, args []*array, lower, upper int) {
	v := l.v
	reject := func(text string) {
		e := m.fail(v.Span, diag.Rejected, "%s", text)
		e.Err = &ad.RejectError{Message: text}
		e.throw()
	}
	switch {
	case upper < 0:
	case v.Constraint.Kind == types.OffsetMultiplier:
		for _, x := range args[upper].floats() {
			if !(x > 0) || math.IsInf(x, 1) {
				reject(v.Name + ": the multiplier must be positive and finite, but is " + ad.FormatNumber(x))
			}
		}
	case v.Constraint.Kind == types.LowerUpper && lower > 0:
		lo, hi := args[lower].floats(), args[upper].floats()
		n := max(len(lo), len(hi))
		if min(len(lo), len(hi)) == 0 {
			n = 0 // bounds of a parameter without elements
		}
		for i := range n {
			a, b := lo[i%len(lo)], hi[i%len(hi)]
			if !(a < b) {
				which := ""
				if n > 1 {
					which = elementName("", l.shape, i)
				}
				reject("the lower bound of " + v.Name + which + " is not below its upper bound: " + ad.FormatNumber(a) + " and " + ad.FormatNumber(b))
			}
		}
	}
}

// outputNumber is an element of a variable.
type outputNumber struct {
	of      *ir.Var
	array   *array
	element int
}

func (n outputNumber) value() float64 {
	if n.array.isInt() {
		return float64(n.array.ints[n.element])
	}
	return n.array.reals[n.element]
}

// numbers returns the numbers of outputs, in their order.
func (m *Model) numbers(f *frame, generated bool) []outputNumber {
	prog := m.known.prog
	out := numbers(f, slices.Concat(prog.Parameters, prog.TransformedParameterVars), nil)
	if generated {
		out = numbers(f, prog.GeneratedQuantityVars, out)
	}
	return out
}

// numbers appends the elements of variables in the order of outputs.
func numbers(f *frame, vars []*ir.Var, out []outputNumber) []outputNumber {
	var shapes [][]int
	var values []*array
	for _, leaves := range ir.Declared(vars) {
		shapes, values = shapes[:0], values[:0]
		for _, v := range leaves {
			a := get(v)(f)
			shapes, values = append(shapes, a.shape), append(values, a)
		}
		for _, s := range ir.Layout(leaves, shapes) {
			out = append(out, outputNumber{leaves[s.Leaf], values[s.Leaf], s.Element})
		}
	}
	return out
}
