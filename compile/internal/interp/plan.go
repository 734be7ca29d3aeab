package interp

import (
	"sync"

	"github.com/ppl-lang/ppl/ad"
	"github.com/ppl-lang/ppl/compile/ir"
	"github.com/ppl-lang/ppl/lang/source"
	"github.com/ppl-lang/ppl/stdlib"
)

// plans are the graphs of a library call, by the shapes of its arguments: one graph is built for
// each combination of shapes and used again.
type plans struct {
	mu   sync.Mutex
	of   map[shapes]*plan
	none bool // the function needs values, or more than a plan can hold
}

// shapes are the sizes of all dimensions of the arguments, one after another; the type of an
// argument has its number of dimensions.
type shapes [6]int32

// plan is the graph of a call for arguments of given shapes. The arguments are its inputs; its
// operations are listed in order.
type plan struct {
	graph *ad.Graph
	steps []step
	total int // numbers computed
}

// maxPlans bounds the number of plans of a call: ragged slices have few lengths.
const maxPlans = 200

// plan returns the plan of a call for these arguments; nil if there is none.
func (c *call) plan(m *machine, args []*array) *plan {
	var key shapes
	n := 0
	for _, a := range args {
		for _, d := range a.shape {
			if n == len(key) || d >= 1<<31 {
				return nil
			}
			key[n] = int32(d)
			n++
		}
	}
	c.plans.mu.Lock()
	defer c.plans.mu.Unlock()
	if c.plans.none {
		return nil
	}
	if p, ok := c.plans.of[key]; ok {
		return p
	}
	if len(c.plans.of) == maxPlans {
		return nil
	}
	p := c.newPlan(m, args)
	if p == nil {
		c.plans.none = true
		return nil
	}
	if c.plans.of == nil {
		c.plans.of = map[shapes]*plan{}
	}
	c.plans.of[key] = p
	return p
}

// newPlan builds the graph of a call on unknown values; nil if that is impossible. Errors of sizes
// are left to the call, which reports them.
func (c *call) newPlan(m *machine, args []*array) *plan {
	g, o := ad.NewGraph(), m.opts
	g.Use(m.budget)
	refs := make([]ad.Ref, len(args))
	for i, a := range args {
		refs[i] = g.Input(ad.Type{Shape: a.shape})
	}
	adjusts := false
	b := &stdlib.Builder{G: g, Name: c.e.Name, Propto: c.propto, Edition: o.Transforms}
	if o.Jacobian {
		b.Adjust = func(ad.Ref) { adjusts = true }
	}
	outs, ok := attempt(func() []ad.Ref { return c.build(b, arguments(c.e, c.levels, nil, refs)) })
	if !ok || adjusts {
		return nil
	}
	return planOf(g, outs)
}

// planOf returns the plan of a graph with these outputs; nil if it contains an operation that plans
// do not support.
func planOf(g *ad.Graph, outs []ad.Ref) *plan {
	g.Outputs = outs
	p := &plan{graph: g}
	var ok bool
	p.steps, ok = stepsOf(g, func(n *ad.Node) bool {
		switch c := n.Op.Row().Class; c {
		case ad.Leaf, ad.Elementwise, ad.Linear, ad.Array, ad.Effect:
			return true
		}
		return false
	})
	if !ok {
		return nil
	}
	for i := range p.steps {
		st := &p.steps[i]
		st.types = make([]ad.Type, len(st.more))
		for k, a := range st.node.Args {
			st.types[k] = g.Type(a)
		}
		if st.row.Class != ad.Leaf && st.row.Class != ad.Effect {
			p.total += st.node.Type.Total()
		}
	}
	return p
}

// run evaluates the plan for arguments. If records is set, it adds the plan to the record.
func (p *plan) run(m *machine, at source.Span, args []*array, records bool) []*array {
	g := p.graph
	if n := len(g.Nodes); n > len(m.values) {
		m.values = append(make([][]float64, 0, max(n, 2*len(m.values), usualNumbers)), m.values...)
		m.values = m.values[:cap(m.values)]
	}
	const statements = 64 // a call takes the time of that many
	if m.ticks -= statements; m.ticks < 0 {
		m.ask(at)
	}
	if cap(m.space) < p.total {
		n := max(p.total, usualNumbers)
		m.take(at, 8*int64(n-cap(m.space)))
		m.space = make([]float64, n)
	}
	space, v := m.space[:p.total], m.values
	clear(space)
	for i, a := range args {
		v[g.Inputs[i]] = a.floats()
	}
	for i := range p.steps {
		st := &p.steps[i]
		list := m.list[:0]
		for _, k := range st.more {
			list = append(list, v[k])
		}
		m.list = list
		switch {
		case st.node.Op == ad.OpConst:
			v[st.to] = st.node.Data
		case st.row.Class == ad.Effect:
			if err := ad.RunEffect(st.node, st.types, list, m.opts.Print); err != nil {
				m.rejected(at, err)
			}
		default:
			n := st.node.Type.Total()
			v[st.to], space = space[:n:n], space[n:]
			err, ended := m.budget.EvalNode(st.node, st.types, list, v[st.to])
			if ended {
				m.limited(at, err)
			}
			if err != nil {
				m.rejected(at, &ad.OpError{Op: st.node.Op.String(), Err: err})
			}
		}
	}
	out := m.newArrays(len(g.Outputs))
	for k, r := range g.Outputs {
		out[k] = m.newArray()
		*out[k] = array{shape: g.Type(r).Shape, reals: m.newReals(len(v[r]))}
		copy(out[k].reals, v[r])
	}
	if records {
		m.inline(at, g, args, out)
	}
	return out
}

// inline records the evaluation of a graph, all of whose inputs are arguments.
func (m *machine) inline(at source.Span, g *ad.Graph, args, out []*array) {
	m.rec.begin(at)
	refs := make([]ad.Ref, len(args))
	for i, a := range args {
		if refs[i] = m.refOf(a); refs[i] == none {
			refs[i] = m.rec.g.ConstArray(ad.Type{Shape: a.shape}, append([]float64(nil), a.floats()...))
		}
	}
	for k, r := range m.rec.g.Inline(g, refs, false) {
		if !isConstant(m.rec.g, r) {
			out[k].rec = &recorded{whole: r}
		}
	}
}

// step computes one value, carries out some checks, or draws one number.
type step struct {
	node  *ad.Node
	row   *ad.Op
	args  [3]int    // indices of the first arguments
	more  []int     // places of all arguments
	types []ad.Type // types of the arguments, in a plan
	to    int
}

// maxSteps bounds a list of steps: longer functions are rare and slow anyway.
const maxSteps = 500

// stepsOf lists the operations that a graph's outputs and effects need, in order; ok is false if
// allowed returns false for one of them.
func stepsOf(g *ad.Graph, allowed func(n *ad.Node) bool) (list []step, ok bool) {
	live := g.Live(g.Outputs, true)
	places := 0
	for i := range g.Nodes {
		if live[i] {
			places += len(g.Nodes[i].Args)
		}
	}
	room := make([]int, 0, places)
	for i := range g.Nodes {
		n := &g.Nodes[i]
		if !live[i] || n.Op == ad.OpInput {
			continue
		}
		if !allowed(n) || len(list) == maxSteps {
			return nil, false
		}
		st := step{node: n, row: n.Op.Row(), to: i}
		first := len(room)
		for k, a := range n.Args {
			room = append(room, int(a))
			if k < len(st.args) {
				st.args[k] = int(a)
			}
		}
		st.more = room[first:len(room):len(room)]
		list = append(list, st)
	}
	return list, true
}

// attempt calls f; ok is false if f panics with an error about its arguments.
func attempt(f func() []ad.Ref) (out []ad.Ref, ok bool) {
	defer func() {
		switch r := recover().(type) {
		case nil:
		case *stdlib.Error, *ad.BuildError:
			ok = false
		default:
			panic(r)
		}
	}()
	return f(), true
}

// arguments describes the leaves of a call's arguments for the function's declaration. args are
// their values, nil if they are not known.
func arguments(e *ir.Call, levels [][]ir.Level, args []*array, refs []ad.Ref) []stdlib.Arg {
	out := make([]stdlib.Arg, 0, len(refs))
	for i, a := range e.Args {
		for k, leaf := range a.Type().Leaves() {
			arg := stdlib.Arg{Type: leaf.Type, Ref: refs[len(out)], Param: levels[i][k] == ir.Param}
			if args != nil {
				arg.Ints = args[len(out)].ints
			}
			out = append(out, arg)
		}
	}
	return out
}
