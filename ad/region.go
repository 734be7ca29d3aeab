package ad

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
)

// Scan runs Body Steps times in order (Reverse: from the last step to the
// first) and carries values from one step to the next. The arguments of an
// OpScan node are, in this order, Carries initial values, Streams arrays whose
// first dimension is the step, and any number of captured values. Body's inputs
// are the carried values, one slice of each stream and the captured values,
// all without lanes; its outputs are the next carried values, Outs values that
// are kept for every step, and Sums values that are added up over the steps.
//
// The node's results are the final carried values, the carried values before every
// step (the history that the derivative needs; position t is step t also in reverse),
// the kept values per step, the sums. With lanes, the whole scan runs once per lane.
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

// Results are the types of the results, in order.
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
// other arguments as inputs and have outputs of the same types, the node's results.
// With lanes, each lane goes its way.
type If struct{ Then, Else *Graph }

// Results are the types of the results, in order.
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
	return table[n.Op].Class == Random || slices.ContainsFunc(n.Bodies(), func(g *Graph) bool {
		for i := range g.Nodes {
			if g.Nodes[i].Draws() {
				return true
			}
		}
		return false
	})
}

// Results are the types of a region's results, without lanes; the node's lanes are
// theirs. Other nodes have none.
func (n *Node) Results() []Type {
	if a, ok := n.Attr.(interface{ Results() []Type }); ok {
		return a.Results()
	}
	return nil
}

// resultAttr is the attribute of OpResult: which one.
type resultAttr int

// Key implements Keyed.
func (k resultAttr) AppendKey(b []byte) []byte { return strconv.AppendInt(b, int64(k), 10) }

// ResultIndex is which result of its region an OpResult node is.
func (n *Node) ResultIndex() int { return int(n.Attr.(resultAttr)) }

// regionOps are the ops that have sub-graphs, and the op that takes their results.
func regionOps() map[OpCode]Op {
	nothing := Type{Shape: []int{0}}
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
				return nothing, nil
			},
			Adjoint: scanAdjoint},
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
				return nothing, nil
			},
			Adjoint: ifAdjoint},
		OpWhile: {Name: "while", Class: Region, Arity: -1,
			Shape: func(args []Type, attr any) (Type, error) {
				if err := whileShape(args, attr); err != nil {
					return Type{}, err
				}
				return nothing, nil
			},
			Adjoint: whileAdjoint},
		OpResult: {Name: "result", Class: Projection, Arity: 1},
	}
}

// Result is result i of the region r.
func (g *Graph) Result(r Ref, i int) Ref { return g.Do(OpResult, resultAttr(i), r) }

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

// MarkResults marks all results of marked regions: who moves or repeats a region moves
// its results with it, because it has no other value that could be kept.
func (g *Graph) MarkResults(marked []bool) {
	for i := range g.Nodes {
		if n := &g.Nodes[i]; n.Op == OpResult {
			marked[i] = marked[n.Args[0]]
		}
	}
}

// core is the type of one lane.
func core(t Type) Type { return Type{Shape: t.Shape} }

// scanAdjoint: the adjoint of a scan is a scan in the opposite order. It carries
// the adjoints of the carried values; each step recomputes the forward body
// from the history of the carried values (storing every intermediate instead
// costs memory traffic for what is mostly a few multiplications), but for what while
// loops in it leave, where the scan keeps that (leftByWhile), and pulls the
// adjoints back through it. Adjoints of captured values are summed over steps.
// Carried values that depend on nothing that has a derivative carry no adjoint.
func scanAdjoint(g *Graph, n *Node, r Ref, adjs []Ref, left, need []bool) []Ref {
	s := n.Attr.(*Scan)
	ts := s.Results()
	if s.long(n.Type.Lanes) {
		return segmentedAdjoint(g, n, adjs, left, need)
	}
	active := activeCarries(s.Body, s.Carries, need)
	nb := g.Beside()
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
			a := adjs[s.finalAt(i)]
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
		inputs[i] = stream(g.Result(r, s.historyAt(i)), t)
		histAdj[i] = None
		if active[i] {
			histAdj[i] = stream(adjs[s.historyAt(i)], t)
		}
	}
	for i := s.Carries; i < s.Carries+s.Streams; i++ {
		inputs[i] = stream(n.Args[i], s.Body.Type(s.Body.Inputs[i]))
	}
	var recalled []recall // of kept values: their numbers among the outputs, and the streams of them
	for i, r2 := range s.Body.Outputs[s.Carries : s.Carries+s.Outs] {
		if s.Body.leftByWhile(r2) {
			recalled = append(recalled, recall{Ref(i), stream(g.Result(r, s.outAt(i)), s.Body.Type(r2))})
		}
	}
	for i := range s.Outs {
		seeds[s.Carries+i] = stream(adjs[s.outAt(i)], s.Body.Type(s.Body.Outputs[s.Carries+i]))
	}
	capture := func(arg Ref) Ref {
		if arg == None {
			return None
		}
		captures = append(captures, arg)
		return nb.Input(core(g.Type(arg)))
	}
	for i := range s.Sums {
		seeds[s.Carries+s.Outs+i] = capture(adjs[s.sumAt(i)])
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
	res := make([]Ref, len(n.Args)) // the output of the backward body for each argument
	k := 0
	pulled := nb.backprop(outs, seeds, wrt, n.untakenOutputs(left))
	for i := range n.Args {
		res[i] = None
		if !(i < s.Carries && active[i] || i >= s.Carries && need[i]) {
			continue
		}
		a := pulled[k]
		k++
		switch {
		case a == None && i >= s.Carries:
			continue
		case a == None:
			a = nb.Const(0)
		}
		a = nb.Broadcast(a, nb.Type(inputs[i]).Shape)
		switch {
		case i < s.Carries:
			if histAdj[i] != None {
				a = nb.Add(a, histAdj[i])
			}
		case i < s.Carries+s.Streams:
			back.Outs++
		default:
			back.Sums++
		}
		res[i] = a
		nb.Output(a)
	}
	if len(nb.Outputs) == 0 {
		return res
	}
	if len(recalled) > 0 {
		for k := range recalled {
			recalled[k].of = outs[s.Carries+int(recalled[k].of)]
		}
		var unread []int
		back.Body, unread = nb.recalling(recalled)
		for _, i := range slices.Backward(unread) {
			streams = slices.Delete(streams, i-back.Carries, i-back.Carries+1)
		}
		back.Streams = len(streams)
	}
	args := append(append(carries, streams...), captures...)
	b := g.DoScan(back, args)
	k = 0
	for i, a := range n.Args {
		switch {
		case res[i] == None:
			continue
		case i < s.Carries:
			res[i] = g.Final(b, k)
		case i < s.Carries+s.Streams:
			res[i] = g.Kept(b, k-back.Carries)
		default:
			res[i] = g.SumOf(b, k-back.Carries-back.Outs)
		}
		res[i] = g.reduceLanes(res[i], a)
		k++
	}
	return res
}

// leftByWhile reports whether r is a result of a while loop. Where a step of a scan keeps
// one, the derivative takes it from what was kept, for to compute it again may take many
// trips.
func (g *Graph) leftByWhile(r Ref) bool {
	n := &g.Nodes[r]
	return n.Op == OpResult && g.Nodes[n.Args[0]].Op == OpWhile
}

// recall is a node that is not computed again, because an input has its value.
type recall struct{ of, in Ref }

// recalling is the graph with inputs in the place of some nodes, without those of these inputs that
// nobody reads, whose numbers are returned, in order. Of several inputs for one node the first
// one takes its place, so that equal programs give equal graphs.
func (g *Graph) recalling(recalled []recall) (to *Graph, unread []int) {
	instead := make(map[Ref]Ref, len(recalled))
	for _, c := range recalled {
		if _, ok := instead[c.of]; !ok {
			instead[c.of] = c.in
		}
	}
	read := make([]bool, len(g.Nodes))
	for _, r := range g.Outputs {
		read[r] = true
	}
	spare := map[Ref]bool{}
	for i := len(g.Nodes) - 1; i >= 0; i-- {
		if !read[i] {
			continue
		}
		if in, ok := instead[Ref(i)]; ok {
			read[in] = true
			continue
		}
		for _, a := range g.Nodes[i].Args {
			read[a] = true
		}
	}
	for _, c := range recalled {
		spare[c.in] = !read[c.in]
	}
	to = g.Beside()
	to.site = g.site
	w := NewRewriter(g, to)
	for k, in := range g.Inputs {
		if spare[in] {
			unread = append(unread, k)
			continue
		}
		w.Input(in)
	}
	for _, c := range recalled {
		if in := instead[c.of]; read[in] {
			w.Put(c.of, w.At(in))
		}
	}
	w.Run(read)
	for _, r := range g.Outputs {
		to.Output(w.At(r))
	}
	return to, unread
}

// ifAdjoint: the adjoint of a conditional is the conditional of the adjoints; a
// branch that was not taken is not looked at, so it cannot spoil them.
func ifAdjoint(g *Graph, n *Node, _ Ref, adjs []Ref, left, need []bool) []Ref {
	f := n.Attr.(*If)
	args := append([]Ref(nil), n.Args...)
	for _, a := range adjs {
		if a != None {
			args = append(args, a)
		}
	}
	pull := func(branch *Graph) (b *Graph, wrt, pulled []Ref) {
		b = g.Beside()
		b.site = g.site
		inputs := make([]Ref, len(branch.Inputs))
		for i, in := range branch.Inputs {
			inputs[i] = b.Input(branch.Type(in))
		}
		seeds := make([]Ref, len(adjs))
		for i, a := range adjs {
			seeds[i] = None
			if a != None {
				seeds[i] = b.Input(core(g.Type(a)))
			}
		}
		for i, in := range inputs {
			if need[i+1] {
				wrt = append(wrt, in)
			}
		}
		return b, wrt, b.backprop(b.Inline(branch, inputs, false), seeds, wrt, left)
	}
	then, wrtThen, pulledThen := pull(f.Then)
	otherwise, wrtElse, pulledElse := pull(f.Else)
	res := make([]Ref, len(n.Args))
	var moved []int // arguments that have an adjoint on either side
	k := 0
	for i := range n.Args {
		res[i] = None
		if i == 0 || !need[i] {
			continue
		}
		if pulledThen[k] != None || pulledElse[k] != None {
			moved = append(moved, i)
			then.outputOrZero(pulledThen[k], then.Type(wrtThen[k]))
			otherwise.outputOrZero(pulledElse[k], otherwise.Type(wrtElse[k]))
		}
		k++
	}
	if len(moved) == 0 {
		return res
	}
	r := g.Do(OpIf, &If{Then: then, Else: otherwise}, args...)
	for k, i := range moved {
		res[i] = g.reduceLanes(g.Result(r, k), n.Args[i])
	}
	return res
}

// outputOrZero makes r an output of type t; None is 0.
func (g *Graph) outputOrZero(r Ref, t Type) {
	if r == None {
		r = g.Const(0)
	}
	g.Output(g.Broadcast(r, t.Shape))
}
