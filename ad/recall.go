package ad

import "slices"

// This file: what derivatives of regions do about arrays that steps read and write element by
// element. A step then costs its elements, not the array: what was read is kept, in place of
// copies of the array (Recallable), and the array's adjoint is carried from step to step, which
// adds elements to it (readInParts).

// goesOn reports whether the adjoint of argument i of the region n may begin with that of what
// reads the argument later.
func (c *accrued) goesOn(g *Graph, n *Node, i int) bool {
	a := n.Args[i]
	return c.refs[i] != None && g.Type(c.refs[i]).Equal(g.Type(a)) && n.Type.Lanes == g.Type(a).Lanes
}

// readInParts reports whether all that the graph does with an array, an input, is to read
// elements of it, here or in regions.
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
			switch attr := n.Attr.(type) {
			case *Scan:
				ok = k >= attr.Carries+attr.Streams && n.Type.Lanes == 0 && attr.Body.readInParts(attr.Body.Inputs[k])
			case *If:
				ok = k > 0 && n.Type.Lanes == 0 && attr.readInParts(k-1)
			default:
				ok = k == 0 && (n.Op == OpTake || n.Op == OpGather && minRarity*n.Type.Total() <= size)
			}
			if !ok {
				return false
			}
			reads = true
		}
	}
	return reads
}

// readInParts is readInParts of both branches, of which one may not read the array.
func (f *If) readInParts(k int) bool {
	reads := false
	for _, b := range []*Graph{f.Then, f.Else} {
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

// readAsKept reports whether steps do nothing with carried array k but replace elements, and
// read elements that are kept.
func (s *Scan) readAsKept(k int) bool {
	in := make([]bool, len(s.Body.Inputs))
	in[k] = true
	out, ok := s.Body.follow(in, s.Body.Outputs[s.Carries:s.Carries+s.Outs])
	for i, o := range out {
		ok = ok && (!o || i < s.Carries)
	}
	return ok
}

// follow finds which outputs are arrays that some inputs are, perhaps with other elements; ok is
// false if the graph does anything else with them than to read elements that are kept, here or,
// where a region within reads them, as results of it.
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
	// handed are the outputs of a region's graph that are kept as its results.
	handed := func(region Ref, body *Graph, first, offset int) (list []Ref) {
		for r := range kept {
			if n := &g.Nodes[r]; n.Op == OpResult && n.Args[0] == region && n.ResultIndex() >= first {
				list = append(list, body.Outputs[n.ResultIndex()-offset])
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
		switch attr := n.Attr.(type) {
		case *Scan:
			list, ok := attr.follow(inner, handed(Ref(i), attr.Body, 2*attr.Carries, attr.Carries))
			if !ok || n.Type.Lanes > 0 {
				return nil, false
			}
			results[Ref(i)] = list
		case *If:
			then, ok1 := attr.Then.follow(inner[1:], handed(Ref(i), attr.Then, 0, 0))
			otherwise, ok2 := attr.Else.follow(inner[1:], handed(Ref(i), attr.Else, 0, 0))
			if !ok1 || !ok2 || inner[0] || n.Type.Lanes > 0 {
				return nil, false
			}
			list := make([]bool, len(then))
			for k := range list {
				list[k] = then[k] || otherwise[k]
			}
			results[Ref(i)] = list
		default:
			first := inner[0] && !slices.Contains(inner[1:], true)
			switch {
			case first && (n.Op == OpReplace || n.Op == OpAddAt || n.Op == OpReshape):
				array[Ref(i)] = true
			case first && n.Op == OpTake && kept[Ref(i)]:
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

// follow finds which results of a scan are arrays that some arguments are.
func (s *Scan) follow(in []bool, kept []Ref) (results []bool, ok bool) {
	in = slices.Clone(in)
	for grown := true; grown; {
		out, ok := s.Body.follow(in, kept)
		if !ok || slices.Contains(in[s.Carries:s.Carries+s.Streams], true) || slices.Contains(out[s.Carries:], true) {
			return nil, false
		}
		grown = false
		for k, o := range out[:s.Carries] {
			grown = grown || o && !in[k]
			in[k] = in[k] || o
		}
	}
	results = make([]bool, len(s.Results()))
	copy(results, in[:s.Carries])
	copy(results[s.Carries:], in[:s.Carries]) // and what they were before each step
	return results, true
}

// Recallable reports whether a derivative that needs r's value takes it from where a scan has
// kept it, rather than computing it again: what a while loop leaves, which may take many trips, and
// elements of arrays, of which there would have to be a copy for each step.
func (g *Graph) Recallable(r Ref) bool {
	n := &g.Nodes[r]
	return n.Op == OpResult && g.Nodes[n.Args[0]].Op == OpWhile || g.readsElements(r)
}

// readsElements reports whether r is elements of an array, as a step or branch has read them.
func (g *Graph) readsElements(r Ref) bool {
	switch n := &g.Nodes[r]; n.Op {
	case OpTake:
		return g.Type(n.Args[0]).Size() >= minSparse
	case OpUnlane:
		return g.Nodes[n.Args[0]].Op == OpTake && g.readsElements(n.Args[0])
	case OpResult:
		switch a := g.Nodes[n.Args[0]].Attr.(type) {
		case *Scan:
			k := n.ResultIndex() - 2*a.Carries
			return k >= 0 && k < a.Outs && a.Body.readsElements(a.Body.Outputs[a.Carries+k])
		case *If:
			return a.readsElements(n.ResultIndex())
		}
	}
	return false
}

// readsElements reports it of result k: of either branch, where the other one has nothing to
// compute.
func (f *If) readsElements(k int) bool {
	t, e := f.Then.Outputs[k], f.Else.Outputs[k]
	_, then := f.Then.Value(t)
	_, otherwise := f.Else.Value(e)
	return f.Then.readsElements(t) && (otherwise || f.Else.readsElements(e)) || then && f.Else.readsElements(e)
}

// recall is a node that is not computed again, because an input has its value.
type recall struct{ of, in Ref }

// recallingAll is recalling where all inputs stay.
func (g *Graph) recallingAll(recalled []recall) *Graph {
	to, _ := g.recalled(recalled, true)
	return to
}

// recalling is the graph with inputs in the place of some nodes, without those of these inputs that
// nobody reads, whose numbers are returned, in order. Of several inputs for one node the first
// one takes its place, so that equal programs give equal graphs.
func (g *Graph) recalling(recalled []recall) (to *Graph, unread []int) {
	return g.recalled(recalled, false)
}

func (g *Graph) recalled(recalled []recall, all bool) (to *Graph, unread []int) {
	instead := make(map[Ref]Ref, len(recalled))
	lanes := map[Ref]bool{}      // what is in the input without lanes
	within := map[Ref][]recall{} // of regions that stay: their results that inputs have
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
			if n.Op == OpResult && g.Nodes[n.Args[0]].Op != OpWhile {
				within[n.Args[0]] = append(within[n.Args[0]], recall{Ref(n.ResultIndex()), c.in})
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
			attr, args = recallWithin(attr, args, inner, w)
		}
		return w.Same(n, attr, args)
	}
	w.Run(read)
	for _, r := range g.Outputs {
		to.Output(w.At(r))
	}
	return to, unread
}

// recallWithin is a region that is given, as more arguments, results of it that are known, and
// takes from them what it computed for these.
func recallWithin(attr any, args []Ref, known []recall, w *Rewriter) (any, []Ref) {
	switch a := attr.(type) {
	case *Scan:
		s := *a
		at := s.Carries + s.Streams
		var more []Ref
		outs := make([]Ref, len(known))
		for k, c := range known {
			outs[k] = s.Body.Outputs[s.Carries+int(c.of)-2*s.Carries]
			more = append(more, w.At(c.in))
		}
		s.Body = s.Body.withKnown(outs, at)
		s.Streams += len(known)
		return &s, insert(args, at, more)
	case *If:
		f := &If{}
		then, otherwise := make([]Ref, len(known)), make([]Ref, len(known))
		var more []Ref
		for k, c := range known {
			then[k], otherwise[k] = a.Then.Outputs[c.of], a.Else.Outputs[c.of]
			more = append(more, w.At(c.in))
		}
		f.Then, f.Else = a.Then.withKnown(then, len(a.Then.Inputs)), a.Else.withKnown(otherwise, len(a.Else.Inputs))
		return f, append(append([]Ref(nil), args...), more...)
	}
	return attr, args
}

func insert(list []Ref, at int, more []Ref) []Ref {
	out := append([]Ref(nil), list[:at]...)
	return append(append(out, more...), list[at:]...)
}

// withKnown is the graph with an input, from input at on, for each of some nodes, which it takes
// from there.
func (g *Graph) withKnown(nodes []Ref, at int) *Graph {
	h := g.clone()
	old := h.Inputs
	var known []recall
	for _, r := range nodes {
		h.Inputs = nil
		known = append(known, recall{r, h.Input(g.Type(r))})
	}
	var inputs []Ref
	for _, c := range known {
		inputs = append(inputs, c.in)
	}
	h.Inputs = insert(old, at, inputs)
	for k, in := range h.Inputs {
		h.Nodes[in].Attr = k
	}
	return h.recallingAll(known)
}
