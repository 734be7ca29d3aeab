package ad

import "slices"

// This file: derivatives of regions whose steps read and write elements of arrays. A step of such a
// derivative costs as much as the elements that it handles, not the whole array. Elements that were
// read are kept instead of copies of the array (Checkpointable). The array's adjoint is passed from
// step to step, and each step adds to elements of it (readInParts).

// goesOn reports whether the rule of region n may continue the adjoint of argument i that later
// readers have accumulated: it adds to that, instead of starting from 0.
func (c *accrued) goesOn(g *Graph, n *Node, i int) bool {
	a := n.Args[i]
	return c.refs[i] != None && g.Type(c.refs[i]).Equal(g.Type(a)) && n.Type.Lanes == g.Type(a).Lanes
}

// readInParts reports whether the graph, or a region in it, only reads elements of the input array
// in, and does not use the whole array.
func (g *Graph) readInParts(in Ref) bool {
	size := g.Type(in).Size()
	if size < minSparse {
		return false
	}
	reads := false
	for _, r := range g.Outputs {
		if r == in {
			return false
		}
	}
	for i, live := range g.Live(g.Outputs, true) {
		if !live {
			continue
		}
		n := &g.Nodes[i]
		for k, a := range n.Args {
			if a != in {
				continue
			}
			ok := false
			switch l := n.Layout(); l.Control {
			case Counted, Tested:
				ok = k >= l.Carries+l.Streams && n.Type.Lanes == 0 && l.Repeated().readInParts(l.Repeated().Inputs[k])
			case Chosen:
				ok = k >= l.First() && n.Type.Lanes == 0 && readInParts(l.Bodies, k-l.First())
			case NoRegion:
				ok = k == 0 && g.ReadsFew(n)
			}
			if !ok {
				return false
			}
			reads = true
		}
	}
	return reads
}

// ReadsFew reports whether a node reads elements of an array: at computed positions, or few
// elements at known ones.
func (g *Graph) ReadsFew(n *Node) bool {
	return n.Op == OpTake || n.Op == OpGather && minRarity*n.Type.Total() <= g.Type(n.Args[0]).Size()
}

// readInParts reports whether each branch of a conditional reads only elements of input k, or does
// not use it; at least one branch reads it.
func readInParts(branches []*Graph, k int) bool {
	reads := false
	for _, b := range branches {
		in := b.Inputs[k]
		switch {
		case b.readInParts(in):
			reads = true
		case b.Live(b.Outputs, true)[in]:
			return false
		}
	}
	return reads
}

// ReadAsKept reports whether carried value k is an array that steps use only to replace elements
// and to read elements that the loop keeps as results.
func (l *Layout) ReadAsKept(k int) bool {
	body := l.Repeated()
	if body.Type(body.Inputs[k]).Size() < minSparse {
		return false
	}
	in := make([]bool, len(body.Inputs))
	in[k] = true
	out, ok := body.follow(in, body.Outputs[l.Carries:l.Carries+l.Outs])
	for i, o := range out {
		ok = ok && (!o || i < l.Carries)
	}
	return ok
}

// follow follows arrays through the graph: those of the marked inputs, and those made from them by
// replacing elements. It returns the outputs that are such arrays. ok is false if the graph does
// anything else with them than replace elements and read elements that are kept: as nodes of
// keptHere or as results of an inner region.
func (g *Graph) follow(in []bool, keptHere []Ref) (outputs []bool, ok bool) {
	array := map[Ref]bool{}
	for k, r := range g.Inputs {
		if in[k] {
			array[r] = true
		}
	}
	kept := map[Ref]bool{}
	for _, r := range keptHere {
		kept[r] = true
		if n := &g.Nodes[r]; n.Op == OpUnlane {
			kept[n.Args[0]] = true
		}
	}
	// handed returns the outputs of an inner region's body that are kept as results of the region.
	handed := func(region Ref, l *Layout, body *Graph) (list []Ref) {
		parts := l.Parts()
		for r := range kept {
			if n := &g.Nodes[r]; n.Op == OpResult && n.Args[0] == region {
				if p := parts[n.ResultIndex()]; p.From != Final && p.From != History {
					list = append(list, body.Outputs[p.Output])
				}
			}
		}
		return list
	}
	results := map[Ref][]bool{}
	for i, live := range g.Live(g.Outputs, true) {
		n := &g.Nodes[i]
		if n.Op == OpResult && results[n.Args[0]] != nil {
			array[Ref(i)] = results[n.Args[0]][n.ResultIndex()]
			continue
		}
		some := false
		inner := make([]bool, len(n.Args))
		for k, a := range n.Args {
			inner[k] = array[a]
			some = some || array[a]
		}
		if !live || !some {
			continue
		}
		switch l := n.Layout(); l.Control {
		case Counted:
			list, ok := l.follow(inner, handed(Ref(i), &l, l.Repeated()))
			if !ok || n.Type.Lanes > 0 {
				return nil, false
			}
			results[Ref(i)] = list
		case Chosen:
			list := make([]bool, len(l.Parts()))
			for _, b := range l.Bodies {
				out, ok := b.follow(inner[l.First():], handed(Ref(i), &l, b))
				if !ok || inner[0] || n.Type.Lanes > 0 {
					return nil, false
				}
				for k, p := range l.Parts() {
					list[k] = list[k] || out[p.Output]
				}
			}
			results[Ref(i)] = list
		case Tested:
			return nil, false
		default:
			first := inner[0] && !slices.Contains(inner[1:], true)
			switch {
			case first && (n.Op == OpReplace || n.Op == OpAddAt || n.Op == OpReshape):
				array[Ref(i)] = true
			case first && g.ReadsFew(n) && kept[Ref(i)]:
			default:
				return nil, false
			}
		}
	}
	outputs = make([]bool, len(g.Outputs))
	for k, r := range g.Outputs {
		outputs[k] = array[r]
	}
	return outputs, true
}

// follow follows arrays through all steps of a Counted region: it returns the results that are
// arrays made from the marked arguments.
func (l *Layout) follow(in []bool, kept []Ref) (results []bool, ok bool) {
	in = slices.Clone(in)
	for grown := true; grown; {
		out, ok := l.Repeated().follow(in, kept)
		if !ok || slices.Contains(in[l.Carries:l.Carries+l.Streams], true) || slices.Contains(out[l.Carries:], true) {
			return nil, false
		}
		grown = false
		for k, o := range out[:l.Carries] {
			grown = grown || o && !in[k]
			in[k] = in[k] || o
		}
	}
	results = make([]bool, len(l.Parts()))
	for i, p := range l.Parts() {
		results[i] = (p.From == Final || p.From == History) && in[p.Output]
	}
	return results, true
}

// Checkpointable reports whether a derivative that needs the value of r should read a copy that the
// scan keeps instead of recomputing the value. This holds for results of while loops, which may
// take many trips, for elements of arrays, because recomputing these needs a copy of the array for
// each step, and for arrays of exponentials.
func (g *Graph) Checkpointable(r Ref) bool {
	n := &g.Nodes[r]
	if n.Op == OpUnlane {
		n = &g.Nodes[n.Args[0]]
	}
	return g.readsElements(r) || n.Op == OpExp && n.Type.Total() >= minSparse
}

// leftByLoop reports whether a node is a result of a loop whose number of trips is known only at
// run time.
func (g *Graph) leftByLoop(n *Node) bool {
	return n.Op == OpResult && g.Nodes[n.Args[0]].Layout().Control == Tested
}

// readsElements reports whether r is a value that a step or branch has read from elements of an
// array, or that a loop has left whose number of trips is known only at run time.
func (g *Graph) readsElements(r Ref) bool {
	switch n := &g.Nodes[r]; n.Op {
	case OpTake, OpGather:
		return g.Type(n.Args[0]).Size() >= minSparse && g.ReadsFew(n)
	case OpUnlane:
		return g.ReadsFew(&g.Nodes[n.Args[0]]) && g.readsElements(n.Args[0])
	case OpResult:
		l := g.Nodes[n.Args[0]].Layout()
		switch p, _ := l.Part(n.ResultIndex()); p.From {
		case Kept:
			return l.Repeated().readsElements(l.Repeated().Outputs[p.Output])
		case Taken:
			return readsElements(l.Bodies[0], l.Bodies[1], p.Output)
		default:
			return l.Control == Tested
		}
	}
	return false
}

// readsElements reports whether output k of a conditional is read from elements of an array, in at
// least one branch; in the other it may be a constant.
func readsElements(a, b *Graph, k int) bool {
	t, e := a.Outputs[k], b.Outputs[k]
	_, then := a.Value(t)
	_, otherwise := b.Value(e)
	return a.readsElements(t) && (otherwise || b.readsElements(e)) || then && b.readsElements(e)
}

// checkpoint says that node of is not recomputed, because input in has its value.
type checkpoint struct{ of, in Ref }

// checkpointingAll is like checkpointing, but does not leave out inputs that are not read.
func (g *Graph) checkpointingAll(recalled []checkpoint) *Graph {
	to, _ := g.checkpointed(recalled, true)
	return to
}

// checkpointing returns the graph in which inputs take the place of some nodes. Inputs that are
// then not read are left out; unread has their indices, in order. If several inputs have the value
// of one node, the first takes its place, so that equal programs give equal graphs.
func (g *Graph) checkpointing(recalled []checkpoint) (to *Graph, unread []int) {
	return g.checkpointed(recalled, false)
}

func (g *Graph) checkpointed(recalled []checkpoint, all bool) (to *Graph, unread []int) {
	instead := make(map[Ref]Ref, len(recalled))
	// Nodes with lanes whose value comes from an input without lanes.
	lanes := map[Ref]bool{}
	within := map[Ref][]checkpoint{} // for each region: its results whose values come from inputs
	for _, c := range recalled {
		n := &g.Nodes[c.of]
		if n.Op == OpUnlane {
			c.of = n.Args[0]
			lanes[c.of] = true
		}
		if n.Op == OpConst {
			continue
		}
		if _, ok := instead[c.of]; !ok {
			instead[c.of] = c.in
			if n.Op == OpResult && !g.leftByLoop(n) {
				within[n.Args[0]] = append(within[n.Args[0]], checkpoint{Ref(n.ResultIndex()), c.in})
			}
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
		for _, c := range within[Ref(i)] {
			read[c.in] = true
		}
	}
	for _, c := range recalled {
		spare[c.in] = !read[c.in] && !all
	}
	to = g.Sibling()
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
		of := c.of
		if g.Nodes[of].Op == OpUnlane {
			of = g.Nodes[of].Args[0]
		}
		if in, ok := instead[of]; ok && read[in] {
			x := w.At(in)
			if lanes[of] {
				x = to.Lane(x)
			}
			w.Put(of, x)
		}
	}
	w.Node = func(r Ref, n *Node, attr any, args []Ref) Ref {
		if inner := within[r]; len(inner) > 0 {
			attr, args = checkpointWithin(attr.(RegionAttr), args, inner, w)
		}
		return w.Same(n, attr, args)
	}
	w.Run(read)
	for _, r := range g.Outputs {
		to.Output(w.At(r))
	}
	return to, unread
}

// checkpointWithin returns a region, and its arguments, that does not recompute some of its
// results. Their values, which are known, are additional arguments.
func checkpointWithin(attr RegionAttr, args []Ref, known []checkpoint, w *Rewriter) (any, []Ref) {
	l := attr.Layout()
	at := len(l.Bodies[0].Inputs)
	if l.Control == Counted { // the value of each step, as a stream
		at = l.Carries + l.Streams
		l.Streams += len(known)
	}
	more := make([]Ref, len(known))
	for k, c := range known {
		more[k] = w.At(c.in)
	}
	l.Bodies = slices.Clone(l.Bodies)
	for i, b := range l.Bodies {
		outs := make([]Ref, len(known))
		for k, c := range known {
			outs[k] = b.Outputs[l.Parts()[c.of].Output]
		}
		l.Bodies[i] = b.withKnown(outs, at)
	}
	return attr.With(l), insert(args, l.First()+at, more)
}

func insert(list []Ref, at int, more []Ref) []Ref {
	out := append([]Ref(nil), list[:at]...)
	return append(append(out, more...), list[at:]...)
}

// withKnown returns the graph with additional inputs, from position at on, that take the place of
// the given nodes.
func (g *Graph) withKnown(nodes []Ref, at int) *Graph {
	h := g.clone()
	old := h.Inputs
	var known []checkpoint
	for _, r := range nodes {
		h.Inputs = nil
		known = append(known, checkpoint{r, h.Input(g.Type(r))})
	}
	var inputs []Ref
	for _, c := range known {
		inputs = append(inputs, c.in)
	}
	h.SetInputs(insert(old, at, inputs))
	return h.checkpointingAll(known)
}
