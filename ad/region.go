package ad

import (
	"errors"
	"fmt"
	"slices"
)

// Scan runs Body Steps times in order (Reverse: from the last step to the
// first) and carries values from one step to the next. The arguments of an
// OpScan node are, in this order, Carries initial values, Streams arrays whose
// first dimension is the step, and any number of captured values. Body's inputs
// are the carried values, one slice of each stream and the captured values,
// all without lanes; its outputs are the next carried values, Outs values that
// are kept for every step, and Sums values that are added up over the steps.
//
// The node's value is one flat array: the final carried values, the carried
// values before every step (the history that the derivative needs; position t
// is step t also in reverse), the kept values per step, the sums. Result tells
// where each stands. With lanes, the whole scan runs once per lane.
type Scan struct {
	Body                         *Graph
	Carries, Streams, Outs, Sums int
	Steps                        int
	Reverse                      bool

	// Limit is the number of elements of history, over all lanes, above which
	// the derivative keeps the carried values only now and then and computes the
	// others again; 0 means DefaultHistory.
	Limit int
}

// DefaultHistory is the history that the derivative of a scan stores without
// further thought: 8 MB. In segments a gradient was measured to take about the same
// time per step, from 1000 steps of 9 numbers to 100,000 of 100.
const DefaultHistory = 1 << 20

// Results are the types of a scan's results in the order of its flat value.
func (s *Scan) Results() []Type {
	out := s.Body.Outputs
	var ts []Type
	kept := func(r Ref) Type {
		return Type{Shape: append([]int{s.Steps}, s.Body.Type(r).Shape...)}
	}
	for _, r := range out[:s.Carries] {
		ts = append(ts, s.Body.Type(r))
	}
	for _, r := range out[:s.Carries] {
		ts = append(ts, kept(r))
	}
	for _, r := range out[s.Carries : s.Carries+s.Outs] {
		ts = append(ts, kept(r))
	}
	for _, r := range out[s.Carries+s.Outs:] {
		ts = append(ts, s.Body.Type(r))
	}
	return ts
}

// Positions of the groups of results in Results.
func (s *Scan) finalAt(i int) int   { return i }
func (s *Scan) historyAt(i int) int { return s.Carries + i }
func (s *Scan) outAt(i int) int     { return 2*s.Carries + i }
func (s *Scan) sumAt(i int) int     { return 2*s.Carries + s.Outs + i }

// If runs Then where the first argument is not 0, else Else; both take the
// other arguments as inputs and have outputs of the same types, which stand one
// after another in the node's flat value. With lanes, each lane goes its way.
type If struct{ Then, Else *Graph }

// Results are the types of the results in the order of the flat value.
func (f *If) Results() []Type {
	ts := make([]Type, len(f.Then.Outputs))
	for i, r := range f.Then.Outputs {
		ts[i] = f.Then.Type(r)
	}
	return ts
}

// Draws reports whether the node draws random numbers, itself or in a
// sub-graph.
func (n *Node) Draws() bool {
	some := func(graphs ...*Graph) bool {
		return slices.ContainsFunc(graphs, func(g *Graph) bool {
			for i := range g.Nodes {
				if g.Nodes[i].Draws() {
					return true
				}
			}
			return false
		})
	}
	switch a := n.Attr.(type) {
	case *Scan:
		return some(a.Body)
	case *If:
		return some(a.Then, a.Else)
	case *While:
		return some(a.Cond, a.Body)
	}
	return table[n.Op].Class == Random
}

type hasResults interface{ Results() []Type }

// regionOps are the ops that have sub-graphs.
func regionOps() map[OpCode]Op {
	flat := func(attr any) Type {
		n := 0
		for _, t := range attr.(hasResults).Results() {
			n += t.Size()
		}
		return Type{Shape: []int{n}}
	}
	return map[OpCode]Op{
		OpScan: {Name: "scan", Class: Region, Arity: -1,
			Shape: func(args []Type, attr any) (Type, error) {
				s := attr.(*Scan)
				if len(args) != len(s.Body.Inputs) || len(args) < s.Carries+s.Streams {
					return Type{}, fmt.Errorf("%d arguments for %d inputs", len(args), len(s.Body.Inputs))
				}
				if len(s.Body.Outputs) != s.Carries+s.Outs+s.Sums {
					return Type{}, errors.New("outputs of the body")
				}
				for i, a := range args {
					in := s.Body.Type(s.Body.Inputs[i]).Shape
					if i >= s.Carries && i < s.Carries+s.Streams {
						in = append([]int{s.Steps}, in...)
					}
					if !shapeEqual(a.Shape, in) {
						return Type{}, fmt.Errorf("argument %d has shape %v, want %v", i, a.Shape, in)
					}
					if i < s.Carries && !shapeEqual(in, s.Body.Type(s.Body.Outputs[i]).Shape) {
						return Type{}, fmt.Errorf("carried value %d changes shape", i)
					}
				}
				return flat(attr), nil
			},
			VJP: scanVJP},
		OpIf: {Name: "if", Class: Region, Arity: -1,
			Shape: func(args []Type, attr any) (Type, error) {
				f := attr.(*If)
				if len(args) != len(f.Then.Inputs)+1 || len(args) != len(f.Else.Inputs)+1 || len(f.Then.Outputs) != len(f.Else.Outputs) {
					return Type{}, errors.New("branches with different arguments or results")
				}
				for i, r := range f.Then.Outputs {
					if a, b := f.Then.Type(r), f.Else.Type(f.Else.Outputs[i]); !a.Equal(b) {
						return Type{}, fmt.Errorf("result %d of types %v and %v", i, a, b)
					}
				}
				return flat(attr), nil
			},
			VJP: ifVJP},
		OpWhile: {Name: "while", Class: Region, Arity: -1,
			Shape: func(args []Type, attr any) (Type, error) {
				if err := whileShape(args, attr); err != nil {
					return Type{}, err
				}
				return flat(attr), nil
			},
			VJP: whileVJP},
	}
}

// Result takes result i out of a region's flat value r.
func (g *Graph) Result(r Ref, i int) Ref {
	ts := g.Nodes[r].Attr.(hasResults).Results()
	return g.part(r, ts, i)
}

func (g *Graph) part(flat Ref, ts []Type, i int) Ref {
	offset := 0
	for _, t := range ts[:i] {
		offset += t.Size()
	}
	return g.Slice(flat, offset, ts[i].Shape)
}

// DoScan adds a scan; see Scan for the arguments and Final, Kept and Sum for
// its results.
func (g *Graph) DoScan(s *Scan, args []Ref) Ref { return g.Do(OpScan, s, args...) }

// Final is carried value i of a Scan or While after the last step.
func (g *Graph) Final(scan Ref, i int) Ref { return g.Result(scan, i) }

// Kept is the array over steps of kept value i.
func (g *Graph) Kept(scan Ref, i int) Ref {
	return g.Result(scan, g.Nodes[scan].Attr.(*Scan).outAt(i))
}

// History is the array over steps of carried value i before each step.
func (g *Graph) History(scan Ref, i int) Ref {
	return g.Result(scan, g.Nodes[scan].Attr.(*Scan).historyAt(i))
}

// SumOf is the total of sum i of a Scan or While.
func (g *Graph) SumOf(loop Ref, i int) Ref {
	return g.Result(loop, g.Nodes[loop].Attr.(interface{ sumAt(int) int }).sumAt(i))
}

// Inline adds a copy of body to g with its inputs replaced, and returns the
// counterparts of its outputs. Because every op maps over lanes, inputs may
// have lanes though body's do not. Effects are copied only with effects, those
// of regions in it included.
func (g *Graph) Inline(body *Graph, inputs []Ref, effects bool) []Ref {
	return g.inline(body, inputs, body.Outputs, effects)
}

func (g *Graph) inline(body *Graph, inputs, outputs []Ref, effects bool) []Ref {
	to := make([]Ref, len(body.Nodes))
	live := body.Live(outputs, effects)
	acts := map[Ref]bool{} // regions with effects: Do knows only of ops that are effects
	for _, r := range body.Effects {
		acts[r] = table[body.Nodes[r].Op].Class == Region
	}
	old := g.site
	defer func() { g.site = old }()
	for i := range body.Nodes {
		n := &body.Nodes[i]
		if !live[i] {
			continue
		}
		g.site = n.Site
		switch n.Op {
		case OpInput:
			to[i] = inputs[n.Attr.(int)]
		case OpConst:
			to[i] = g.ConstArray(n.Type, n.Data)
		default:
			args := make([]Ref, len(n.Args))
			for k, a := range n.Args {
				args[k] = to[a]
			}
			attr := n.Attr
			if table[n.Op].Class == Region && !effects {
				attr = withoutEffects(attr)
			}
			if n.Op == OpMatMul {
				m := attr.(MatMulAttr)
				to[i] = g.matMul(args[0], args[1], m.TransA, m.TransB) // lanes that come with the inputs become rows
			} else {
				to[i] = g.Do(n.Op, attr, args...)
			}
			if effects && acts[Ref(i)] {
				g.Effects = append(g.Effects, to[i])
			}
		}
	}
	res := make([]Ref, len(outputs))
	for i, r := range outputs {
		res[i] = to[r]
	}
	return res
}

// Live marks the nodes that outputs need and, if effects is set, those that
// the graph's effects need.
func (g *Graph) Live(outputs []Ref, effects bool) []bool {
	live := make([]bool, len(g.Nodes))
	for _, r := range outputs {
		live[r] = true
	}
	if effects {
		for _, r := range g.Effects {
			live[r] = true
		}
	}
	for i := len(g.Nodes) - 1; i >= 0; i-- {
		if live[i] {
			for _, a := range g.Nodes[i].Args {
				live[a] = true
			}
		}
	}
	return live
}

// core is the type of one lane.
func core(t Type) Type { return Type{Shape: t.Shape} }

// scanVJP: the adjoint of a scan is a scan in the opposite order. It carries
// the adjoints of the carried values; each step recomputes the forward body
// from the history of the carried values (storing every intermediate instead
// costs memory traffic for what is mostly a few multiplications) and pulls the
// adjoints back through it. Adjoints of captured values are summed over steps.
// Carried values that depend on nothing that has a derivative carry no adjoint.
func scanVJP(g *Graph, n *Node, out, adj Ref, need []bool) []Ref {
	s := n.Attr.(*Scan)
	ts := s.Results()
	if s.long(n.Type.Lanes) {
		return segmentedVJP(g, n, adj, need)
	}
	active := activeCarries(s.Body, s.Carries, need)
	nb := NewGraph()
	nb.site = g.site
	back := &Scan{Body: nb, Steps: s.Steps, Reverse: !s.Reverse, Limit: s.Limit}
	var carries, streams, captures []Ref // arguments of the backward scan, in g

	// Inputs of the backward body, in the order carried, streams, captured.
	seeds := make([]Ref, len(s.Body.Outputs))
	histAdj := make([]Ref, s.Carries)
	inputs := make([]Ref, len(n.Args)) // of the forward body, as seen in the backward body
	for i := range seeds {
		seeds[i] = None
	}
	for i := range s.Carries {
		if active[i] {
			seeds[i] = nb.Input(ts[s.finalAt(i)])
			a := g.adjPart(adj, ts, s.finalAt(i))
			if a == None {
				a = g.Expand(g.Const(0), ts[s.finalAt(i)])
			}
			carries = append(carries, a)
		}
	}
	back.Carries = len(carries)
	stream := func(arg Ref, t Type) Ref {
		if arg == None {
			return None
		}
		streams = append(streams, arg)
		return nb.Input(t)
	}
	for i := range s.Carries {
		t := ts[s.finalAt(i)]
		inputs[i] = stream(g.part(out, ts, s.historyAt(i)), t)
		histAdj[i] = None
		if active[i] {
			histAdj[i] = stream(g.adjPart(adj, ts, s.historyAt(i)), t)
		}
	}
	for i := s.Carries; i < s.Carries+s.Streams; i++ {
		inputs[i] = stream(n.Args[i], s.Body.Type(s.Body.Inputs[i]))
	}
	for i := range s.Outs {
		seeds[s.Carries+i] = stream(g.adjPart(adj, ts, s.outAt(i)), s.Body.Type(s.Body.Outputs[s.Carries+i]))
	}
	capture := func(arg Ref) Ref {
		if arg == None {
			return None
		}
		captures = append(captures, arg)
		return nb.Input(core(g.Type(arg)))
	}
	for i := range s.Sums {
		seeds[s.Carries+s.Outs+i] = capture(g.adjPart(adj, ts, s.sumAt(i)))
	}
	for i := s.Carries + s.Streams; i < len(n.Args); i++ {
		inputs[i] = capture(n.Args[i])
	}
	back.Streams = len(streams)

	// Pull back through one step.
	outs := nb.Inline(s.Body, inputs, false)
	var wrt []Ref
	for i := range n.Args {
		if i < s.Carries && active[i] || i >= s.Carries && need[i] {
			wrt = append(wrt, inputs[i])
		}
	}
	for k, r := range nb.Backprop(outs, seeds, wrt) {
		if r == None {
			r = nb.Const(0)
		}
		wrt[k] = nb.Broadcast(r, nb.Type(wrt[k]).Shape)
	}
	k := 0
	for i := range n.Args {
		switch {
		case i < s.Carries && active[i]:
			if histAdj[i] != None {
				wrt[k] = nb.Add(wrt[k], histAdj[i])
			}
		case i < s.Carries || !need[i]:
			continue
		case i < s.Carries+s.Streams:
			back.Outs++
		default:
			back.Sums++
		}
		nb.Output(wrt[k])
		k++
	}
	r := g.DoScan(back, append(append(carries, streams...), captures...))

	adjs := make([]Ref, len(n.Args))
	k = 0
	for i, a := range n.Args {
		adjs[i] = None
		switch {
		case i < s.Carries && active[i]:
			adjs[i] = g.Final(r, k)
		case i < s.Carries || !need[i]:
			continue
		case i < s.Carries+s.Streams:
			adjs[i] = g.Kept(r, k-back.Carries)
		default:
			adjs[i] = g.SumOf(r, k-back.Carries-back.Outs)
		}
		adjs[i] = g.reduceLanes(adjs[i], a)
		k++
	}
	return adjs
}

// ifVJP: the adjoint of a conditional is the conditional of the adjoints; a
// branch that was not taken is not looked at, so it cannot spoil them.
func ifVJP(g *Graph, n *Node, out, adj Ref, need []bool) []Ref {
	f := n.Attr.(*If)
	ts := f.Results()
	args := append([]Ref{n.Args[0]}, n.Args[1:]...)
	args = append(args, adj)
	pull := func(branch *Graph) *Graph {
		b := NewGraph()
		inputs := make([]Ref, len(branch.Inputs))
		for i, in := range branch.Inputs {
			inputs[i] = b.Input(branch.Type(in))
		}
		adjIn := b.Input(core(g.Type(adj)))
		outs := b.Inline(branch, inputs, false)
		seeds := make([]Ref, len(outs))
		for i := range outs {
			seeds[i] = b.part(adjIn, ts, i)
		}
		var wrt []Ref
		for i, in := range inputs {
			if need[i+1] {
				wrt = append(wrt, in)
			}
		}
		for i, r := range b.Backprop(outs, seeds, wrt) {
			if r == None {
				r = b.Const(0)
			}
			b.Output(b.Broadcast(r, b.Type(wrt[i]).Shape))
		}
		return b
	}
	r := g.Do(OpIf, &If{Then: pull(f.Then), Else: pull(f.Else)}, args...)
	adjs := make([]Ref, len(n.Args))
	k := 0
	for i, a := range n.Args {
		adjs[i] = None
		if i > 0 && need[i] {
			adjs[i] = g.reduceLanes(g.Result(r, k), a)
			k++
		}
	}
	return adjs
}

// activeCarries marks, among the first arguments of a region that carries them,
// those that are needed or become dependent on what is.
func activeCarries(body *Graph, carries int, need []bool) []bool {
	act := append([]bool(nil), need...)
	for {
		var from []Ref
		for i, in := range body.Inputs {
			if act[i] {
				from = append(from, in)
			}
		}
		dep := body.dependents(from, len(body.Nodes))
		grown := false
		for i, r := range body.Outputs[:carries] {
			if dep[r] && !act[i] {
				act[i], grown = true, true
			}
		}
		if !grown {
			return act[:carries]
		}
	}
}

// adjPart is part i of adj, the adjoint of a region's flat value; None where it
// is known to be 0. The adjoint is as a rule a sum of scatters of the adjoints
// of parts, which need not be put together to be taken apart.
func (g *Graph) adjPart(adj Ref, ts []Type, i int) Ref {
	lo := 0
	for _, t := range ts[:i] {
		lo += t.Size()
	}
	hi := lo + ts[i].Size()
	if lo == hi {
		return None
	}
	total := None
	add := func(x Ref) bool {
		if total == None {
			total = x
		} else {
			total = g.Add(total, x)
		}
		return true
	}
	var walk func(x Ref, depth int) bool
	walk = func(x Ref, depth int) bool {
		n := g.Nodes[x]
		switch {
		case depth > 1000:
			return false
		case n.Op == OpAdd && g.Type(n.Args[0]).Equal(n.Type) && g.Type(n.Args[1]).Equal(n.Type):
			return walk(n.Args[0], depth+1) && walk(n.Args[1], depth+1)
		case n.Op == OpScatter:
			ix := n.Index()
			from, to, ok := ix.bounds()
			if !ok || to < lo || from >= hi {
				return true
			}
			if from < lo || to >= hi {
				return false
			}
			ix.Offset -= lo
			if ix.isIdentity(hi - lo) {
				x = g.Reshape(n.Args[0], ts[i].Shape)
			} else {
				x = g.Scatter(n.Args[0], ix, ts[i].Shape)
			}
			return add(x)
		case n.Op == OpConst && n.Type.Lanes == 0:
			part := n.Data[lo:hi]
			for _, v := range part {
				if v != 0 {
					return add(g.ConstArray(Type{Shape: ts[i].Shape}, part))
				}
			}
			return true
		}
		return false
	}
	if walk(adj, 0) {
		return total
	}
	return g.part(adj, ts, i)
}

// withoutEffects is the attribute of a region for a repetition of it whose
// effects have been carried out already.
func withoutEffects(attr any) any {
	switch a := attr.(type) {
	case *Scan:
		if b := a.Body.withoutEffects(); b != a.Body {
			c := *a
			c.Body = b
			return &c
		}
	case *If:
		if t, e := a.Then.withoutEffects(), a.Else.withoutEffects(); t != a.Then || e != a.Else {
			return &If{Then: t, Else: e}
		}
	case *While:
		if c, b := a.Cond.withoutEffects(), a.Body.withoutEffects(); c != a.Cond || b != a.Body {
			w := *a
			w.Cond, w.Body = c, b
			return &w
		}
	}
	return attr
}

func (g *Graph) withoutEffects() *Graph {
	h := *g
	h.Effects = nil
	changed := len(g.Effects) > 0
	h.Nodes = append([]Node(nil), g.Nodes...)
	for i := range h.Nodes {
		if n := &h.Nodes[i]; table[n.Op].Class == Region {
			if a := withoutEffects(n.Attr); a != n.Attr {
				n.Attr, changed = a, true
			}
		}
	}
	if !changed {
		return g
	}
	return &h
}
