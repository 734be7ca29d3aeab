package ad

import (
	"slices"
	"strconv"
)

// Scan runs Body Steps times in order (with Reverse, from the last step to the first) and carries
// values from one step to the next. The arguments of an OpScan node are, in this order, Carries
// initial values, Streams arrays whose first dimension is the step, and any number of captured
// values.
//
// Body's inputs are the carried values, one slice of each stream and the captured values, all
// without lanes. Its outputs are the next carried values, then Outs values that are kept for every
// step, then Sums values that are added up over the steps.
//
// The node's results are the final carried values, the carried values before every step, the kept
// values per step, and the sums. The carried values before every step are the history, which the
// derivative needs; its row t belongs to step t, also in reverse. With lanes, the whole scan runs
// once per lane.
type Scan struct {
	Body                         *Graph
	Carries, Streams, Outs, Sums int
	Steps                        int
	Reverse                      bool

	// Limit is the maximum number of elements of the history, over all lanes. If the history is
	// longer, the derivative stores the carried values only at some steps and recomputes the
	// others. 0 means DefaultHistory.
	Limit int

	// Finite says that the body computes finite values with finite derivatives if the arguments are
	// finite or -Inf. So nothing in it has to be guarded against sides of choices that were not
	// taken.
	Finite bool
}

// Layout describes the scan.
func (s *Scan) Layout() Layout {
	return Layout{Control: Counted, Bodies: []*Graph{s.Body}, Carries: s.Carries, Streams: s.Streams, Outs: s.Outs, Sums: s.Sums,
		Steps: s.Steps, Reverse: s.Reverse,
		Results: []Run{{Final, 0, s.Carries}, {History, 0, s.Carries}, {Kept, s.Carries, s.Outs}, {Sum, s.Carries + s.Outs, s.Sums}}}
}

// With returns a scan with layout l.
func (s *Scan) With(l Layout) RegionAttr {
	return &Scan{Body: l.Repeated(), Carries: l.Carries, Streams: l.Streams, Outs: l.Outs, Sums: l.Sums,
		Steps: l.Steps, Reverse: l.Reverse, Limit: s.Limit, Finite: s.Finite}
}

// Results returns the types of the results, in order.
func (s *Scan) Results() []Type { return resultTypes(s) }

func scanExample(g *Graph, x Ref) Ref {
	body := NewGraph()
	c, s := body.Input(Scalar), body.Input(Scalar)
	next := body.Mul(body.Do(OpSin, nil, c), s)
	body.Output(next)
	body.Output(body.Exp(next))
	scan := g.DoScan(&Scan{Body: body, Carries: 1, Streams: 1, Outs: 1, Steps: 4},
		[]Ref{g.Slice(x, 0, nil), g.Slice(x, 1, []int{4})})
	return g.Kept(scan, 0)
}

// finalAt and the functions below return the position of a result in Results.
func (s *Scan) finalAt(i int) int   { return i }
func (s *Scan) historyAt(i int) int { return s.Carries + i }
func (s *Scan) outAt(i int) int     { return 2*s.Carries + i }
func (s *Scan) sumAt(i int) int     { return 2*s.Carries + s.Outs + i }

// If runs Then if the first argument is not 0, otherwise Else. Both take the other arguments as
// inputs, and their outputs, which have the same types, are the node's results. With lanes, each
// lane chooses separately.
type If struct{ Then, Else *Graph }

// Layout describes the conditional.
func (f *If) Layout() Layout {
	return Layout{Control: Chosen, Bodies: []*Graph{f.Then, f.Else}, Results: []Run{{Taken, 0, len(f.Then.Outputs)}}}
}

// With returns a conditional with layout l.
func (f *If) With(l Layout) RegionAttr { return &If{Then: l.Bodies[0], Else: l.Bodies[1]} }

// Results returns the types of the results, in order.
func (f *If) Results() []Type { return resultTypes(f) }

func ifExample(g *Graph, x Ref) Ref {
	then, els := NewGraph(), NewGraph()
	then.Output(then.Exp(then.Input(Scalar)))
	els.Output(els.Square(els.Input(Scalar)))
	l := g.Lane(x)
	return g.Unlane(g.Result(g.Do(OpIf, &If{Then: then, Else: els}, g.Less(g.Const(0), l), l), 0))
}

// Draws reports whether the node or one of its sub-graphs draws random numbers.
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

// Results returns the types of a region's results, without lanes; the results have the lanes of the
// node. It returns nil for other nodes.
func (n *Node) Results() []Type {
	if a, ok := n.Attr.(RegionAttr); ok {
		return resultTypes(a)
	}
	return nil
}

// ResultType returns the type of result i of a region, without lanes; ok is false if the node has
// no such result.
func (n *Node) ResultType(i int) (t Type, ok bool) {
	l := n.Layout()
	p, ok := l.Part(i)
	if !ok {
		return Type{}, false
	}
	return l.typeOf(p), true
}

func resultTypes(r RegionAttr) []Type {
	l := r.Layout()
	return l.types()
}

// resultAttr is the attribute of OpResult: the index of the result.
type resultAttr int

// AppendKey implements Keyed.
func (k resultAttr) AppendKey(b []byte) []byte { return strconv.AppendInt(b, int64(k), 10) }

// ResultIndex returns the index, in its region, of the result that an OpResult node reads.
func (n *Node) ResultIndex() int { return int(n.Attr.(resultAttr)) }

// regionOps returns the rows of the ops that have sub-graphs, and of the op that reads their
// results.
func regionOps() map[OpCode]Op {
	rows := map[OpCode]Op{OpResult: {Name: "result", Class: Projection, Arity: 1}}
	for _, k := range regionKinds() {
		rows[k.op] = Op{Name: k.name, Class: Region, Arity: -1, Shape: regionShape,
			Adjoint: func(g *Graph, n *Node, r Ref, adjs []Ref, left, need []bool, sofar *accrued) []Ref {
				return n.Attr.(RegionAttr).adjoint(g, n, r, adjs, left, need, sofar)
			},
			Size: k.size, Example: k.example}
	}
	return rows
}

// Result returns result i of the region r.
func (g *Graph) Result(r Ref, i int) Ref { return g.Do(OpResult, resultAttr(i), r) }

// DoScan adds a scan; see Scan for the arguments and Final, Kept and Sum for
// its results.
func (g *Graph) DoScan(s *Scan, args []Ref) Ref { return g.Do(OpScan, s, args...) }

// Final returns carried value i of a Scan or While after the last step.
func (g *Graph) Final(scan Ref, i int) Ref { return g.Result(scan, i) }

// Kept returns the array over steps of the i-th value that a Scan or While keeps.
func (g *Graph) Kept(loop Ref, i int) Ref {
	return g.Result(loop, g.Nodes[loop].Attr.(interface{ outAt(int) int }).outAt(i))
}

// History returns the array over steps of carried value i before each step of a scan.
func (g *Graph) History(scan Ref, i int) Ref {
	return g.Result(scan, g.Nodes[scan].Attr.(*Scan).historyAt(i))
}

// SumOf returns the total of sum i of a Scan or While.
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
		for _, r := range g.SideEffects {
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

// MarkResults marks all results of marked regions. Code that moves or repeats a region must move
// its results too, because a region has no other value that could be kept.
func (g *Graph) MarkResults(marked []bool) {
	for i := range g.Nodes {
		if n := &g.Nodes[i]; n.Op == OpResult {
			marked[i] = marked[n.Args[0]]
		}
	}
}

// core returns the type of one lane.
func core(t Type) Type { return Type{Shape: t.Shape} }

// adjoint builds the adjoint of a scan: a scan in the opposite order that carries the adjoints of
// the carried values. Each step recomputes the body from the history, and backpropagates through
// it. To store every intermediate value instead would cost memory traffic, and save mostly a few
// multiplications. Exceptions are results of while loops in the body and elements read from arrays:
// where the scan keeps these, they are not recomputed (Checkpointable).
//
// Adjoints of captured values are summed over the steps. Carried values that depend on nothing
// differentiable have no adjoint.
func (s *Scan) adjoint(g *Graph, n *Node, r Ref, adjs []Ref, left, need []bool, sofar *accrued) []Ref {
	ts := s.Results()
	if s.long(n.Type.Lanes) {
		return segmentedAdjoint(g, n, adjs, left, need)
	}
	active := activeCarries(s.Body, s.Carries, need)
	layout := s.Layout()
	nb := g.Sibling()
	nb.site = g.site
	back := &Scan{Body: nb, Steps: s.Steps, Reverse: !s.Reverse, Limit: s.Limit}
	// The arguments of the backward scan, which are values of g.
	var carries, streams, captures []Ref

	// Inputs of the backward body, in the order carried, streams, captured.
	seeds := make([]Ref, len(s.Body.Outputs))
	histAdj := make([]Ref, s.Carries)
	// Inputs of the forward body, which is copied into the backward body.
	inputs := make([]Ref, len(n.Args))
	// Adjoints of captured arrays, to whose elements each step adds.
	start := make([]Ref, len(n.Args))
	// Carried arrays whose values are not needed, because elements that are read are kept.
	unread := make([]bool, s.Carries)
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
	for i, a := range n.Args {
		start[i] = None
		if i < s.Carries+s.Streams || !need[i] || !s.Body.readInParts(s.Body.Inputs[i]) {
			continue
		}
		t := core(g.Type(a))
		start[i] = nb.Input(t)
		if sofar.goesOn(g, n, i) {
			carries = append(carries, sofar.refs[i])
		} else {
			carries = append(carries, g.Expand(g.Const(0), t))
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
		histAdj[i] = None
		if unread[i] = layout.ReadAsKept(i); !unread[i] {
			inputs[i] = stream(g.Result(r, s.historyAt(i)), t)
		}
		if active[i] {
			histAdj[i] = stream(adjs[s.historyAt(i)], t)
		}
	}
	for i := s.Carries; i < s.Carries+s.Streams; i++ {
		inputs[i] = stream(n.Args[i], s.Body.Type(s.Body.Inputs[i]))
	}
	// Kept values: the number of the output, and the stream that has its value.
	var recalled []checkpoint
	for i, r2 := range s.Body.Outputs[s.Carries : s.Carries+s.Outs] {
		if s.Body.Checkpointable(r2) {
			recalled = append(recalled, checkpoint{Ref(i), stream(g.Result(r, s.outAt(i)), s.Body.Type(r2))})
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
	for i, a := range n.Args {
		switch {
		case i < s.Carries && unread[i]: // its value is not read; any value of this type will do
			inputs[i] = capture(a)
		case i >= s.Carries+s.Streams:
			inputs[i] = capture(a)
		}
	}
	back.Streams = len(streams)

	// Backpropagate through one step.
	outs := nb.Inline(s.Body, inputs, false)
	var wrt, starts []Ref
	for i := range n.Args {
		if i < s.Carries && active[i] || i >= s.Carries && need[i] {
			wrt, starts = append(wrt, inputs[i]), append(starts, start[i])
		}
	}
	k := 0
	pulled := nb.backprop(outs, seeds, wrt, n.untakenOutputs(left), starts)
	// Arguments of the forward scan, by where the backward scan has their adjoint.
	var next, kept, sums []int
	res := make([]Ref, len(n.Args))
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
				a = nb.addTo(a, histAdj[i])
			}
			next = append(next, i)
		case i < s.Carries+s.Streams:
			kept = append(kept, i)
		case start[i] != None:
			next = append(next, i)
		default:
			sums = append(sums, i)
		}
		res[i] = a
	}
	order := slices.Concat(next, kept, sums)
	if len(order) == 0 {
		return res
	}
	for _, i := range order {
		nb.Output(res[i])
	}
	back.Outs, back.Sums = len(kept), len(sums)
	if len(recalled) > 0 {
		for k := range recalled {
			recalled[k].of = outs[s.Carries+int(recalled[k].of)]
		}
		var spare []int
		back.Body, spare = nb.checkpointing(recalled)
		for _, i := range slices.Backward(spare) {
			streams = slices.Delete(streams, i-back.Carries, i-back.Carries+1)
		}
		back.Streams = len(streams)
	}
	args := append(append(carries, streams...), captures...)
	b := g.DoScan(back, args)
	for k, i := range order {
		switch {
		case k < len(next):
			res[i] = g.Final(b, k)
		case k < len(next)+len(kept):
			res[i] = g.Kept(b, k-len(next))
		default:
			res[i] = g.SumOf(b, k-len(next)-len(kept))
		}
		res[i] = g.reduceLanes(res[i], n.Args[i])
		sofar.included[i] = start[i] != None && sofar.goesOn(g, n, i)
	}
	return res
}

// adjoint builds the adjoint of a conditional: a conditional of the adjoints of the branches. A
// branch that was not taken is not evaluated, so its infinities and NaN have no effect.
func (f *If) adjoint(g *Graph, n *Node, r Ref, adjs []Ref, left, need []bool, sofar *accrued) []Ref {
	args := append([]Ref(nil), n.Args...)
	for _, a := range adjs {
		if a != None {
			args = append(args, a)
		}
	}
	// Results whose values are passed in, so that the branches need not recompute them.
	var recalled []int
	for k := range f.Then.Outputs {
		if readsElements(f.Then, f.Else, k) {
			recalled = append(recalled, k)
			args = append(args, g.Result(r, k))
		}
	}
	var goesOn []int // arguments to whose accumulated adjoints the branches add
	for i := range n.Args {
		if i > 0 && need[i] && sofar.goesOn(g, n, i) && readInParts([]*Graph{f.Then, f.Else}, i-1) {
			goesOn = append(goesOn, i)
			args = append(args, sofar.refs[i])
		}
	}
	pull := func(branch *Graph) (b *Graph, wrt, pulled []Ref, recalls []checkpoint) {
		b = g.Sibling()
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
		for _, k := range recalled {
			recalls = append(recalls, checkpoint{Ref(k), b.Input(branch.Type(branch.Outputs[k]))})
		}
		start := make([]Ref, len(n.Args))
		for i := range start {
			start[i] = None
		}
		for _, i := range goesOn {
			start[i] = b.Input(core(g.Type(n.Args[i])))
		}
		var starts []Ref
		for i, in := range inputs {
			if need[i+1] {
				wrt, starts = append(wrt, in), append(starts, start[i+1])
			}
		}
		outs := b.Inline(branch, inputs, false)
		for k := range recalls {
			recalls[k].of = outs[recalls[k].of]
		}
		return b, wrt, b.backprop(outs, seeds, wrt, left, starts), recalls
	}
	then, wrtThen, pulledThen, recallsThen := pull(f.Then)
	otherwise, wrtElse, pulledElse, recallsElse := pull(f.Else)
	res := make([]Ref, len(n.Args))
	var moved []int // arguments that have an adjoint in at least one branch
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
	if len(recalled) > 0 {
		then, otherwise = then.checkpointingAll(recallsThen), otherwise.checkpointingAll(recallsElse)
	}
	back := g.Do(OpIf, &If{Then: then, Else: otherwise}, args...)
	for k, i := range moved {
		res[i] = g.reduceLanes(g.Result(back, k), n.Args[i])
	}
	for _, i := range goesOn {
		sofar.included[i] = true
	}
	return res
}

// outputOrZero makes r an output of type t, or zeros if r is None.
func (g *Graph) outputOrZero(r Ref, t Type) {
	if r == None {
		r = g.Const(0)
	}
	g.Output(g.Broadcast(r, t.Shape))
}
