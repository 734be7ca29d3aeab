package passes

import (
	"slices"

	"github.com/ppl-lang/ppl/ad"
)

// keepElements is the part of checkpointing for arrays that scans carry. It keeps the elements of
// these arrays that steps read. The derivative reads the kept elements and needs no copy of the
// array for each step, so that a step costs only as much as it reads. Nested steps and conditionals
// pass on what they read. With copies, a gradient of the moving average of 500 values with five
// coefficients took 2.3 ms.
func keepElements(g *ad.Graph) *ad.Graph {
	if !has(g, ad.OpReplace) {
		return g
	}
	more := map[ad.Ref]int{} // by scan: number of additional values that it keeps
	return rebuildTo(g.Sibling(), g, keepElements, func(w *ad.Rewriter, r ad.Ref, n *ad.Node, attr any, args []ad.Ref) ad.Ref {
		if n.Op == ad.OpResult {
			return w.To.Result(args[0], shifted(&g.Nodes[n.Args[0]], n.ResultIndex(), more[n.Args[0]]))
		}
		s, ok := n.Attr.(*ad.Scan) // the old scan: taping passes on reads from all regions within
		if !ok || !has(s.Body, ad.OpReplace) {
			return w.Same(n, attr, args)
		}
		t := taping{left: maxTaped / max(float64(n.Type.Lanes), 1)}
		to, kept := t.scan(s, make([]bool, len(n.Args)), 1)
		if t.left < 0 {
			return w.Same(n, s, args)
		}
		more[r] = kept
		return w.To.DoScan(to, args)
	})
}

// shifted returns the new index of result i of a region whose scan keeps `more` additional values.
func shifted(n *ad.Node, i, more int) int {
	if s, ok := n.Attr.(*ad.Scan); ok && i >= 2*s.Carries+s.Outs { // a sum
		return i + more
	}
	return i
}

// taping adds the elements that steps read from carried arrays to the results of regions.
type taping struct {
	left float64 // number of numbers that may still be kept
}

// scan returns s with additional results: the elements that its steps read from carried arrays, its
// own or those of scans around it. s runs `times` times. kept is the number of new results.
func (t *taping) scan(s *ad.Scan, carried []bool, times float64) (to *ad.Scan, kept int) {
	in := slices.Clone(carried)
	for i := range s.Carries {
		in[i] = s.Body.Type(s.Body.Inputs[i]).Size() > 1
	}
	c := *s
	body, read, _ := t.body(s.Body, in, times*float64(s.Steps))
	c.Body = body
	c.Body.Outputs = slices.Insert(c.Body.Outputs, s.Carries+s.Outs, read...)
	c.Outs += len(read)
	return &c, len(read)
}

// body returns a copy of g, the values that it reads from carried arrays, and which of its outputs
// are such arrays. carried says which inputs are. The values read are not outputs yet.
func (t *taping) body(g *ad.Graph, carried []bool, times float64) (to *ad.Graph, read []ad.Ref, outputs []bool) {
	array := make([]bool, len(g.Nodes)) // by node: whether it is a carried array
	for k, r := range g.Inputs {
		array[r] = carried[k]
	}
	results := map[ad.Ref][]bool{} // by region: which results are such arrays
	more := map[ad.Ref]int{}
	to = g.Sibling()
	w := ad.NewRewriter(g, to)
	w.Keep = mustRun
	keep := func(x ad.Ref) {
		read = append(read, x)
		t.left -= times * float64(to.Type(x).Total())
	}
	w.Node = func(r ad.Ref, n *ad.Node, attr any, args []ad.Ref) ad.Ref {
		of := func(k int) bool { return array[n.Args[k]] }
		switch n.Op {
		case ad.OpReplace, ad.OpAddAt, ad.OpReshape:
			array[r] = of(0)
		case ad.OpTake, ad.OpGather:
			x := w.Same(n, attr, args)
			if of(0) && g.ReadsFew(n) {
				keep(to.Unlane(x))
			}
			return x
		case ad.OpResult:
			at := n.ResultIndex()
			if list := results[n.Args[0]]; list != nil {
				array[r] = list[at]
			}
			x := to.Result(args[0], shifted(&g.Nodes[n.Args[0]], at, more[n.Args[0]]))
			if n.Type.IsScalar() && n.Type.Lanes == 0 && g.Nodes[n.Args[0]].Layout().Control == ad.Tested {
				keep(x)
			}
			return x
		case ad.OpScan:
			if n.Type.Lanes > 0 {
				break
			}
			s := attr.(*ad.Scan)
			in := make([]bool, len(n.Args))
			for k := range in {
				in[k] = of(k)
			}
			inner, k := t.scan(s, in, times)
			x := to.DoScan(inner, args)
			for i := range k {
				keep(to.Kept(x, s.Outs+i))
			}
			more[r] = k
			results[r] = make([]bool, len(n.Results()))
			for i := range s.Carries {
				results[r][i] = s.Body.Type(s.Body.Inputs[i]).Size() > 1
			}
			return x
		case ad.OpIf:
			if n.Type.Lanes > 0 {
				break
			}
			return t.conditional(w, r, n, args, of, times, keep, results)
		}
		return w.Same(n, attr, args)
	}
	w.Inputs()
	w.Run(g.Live(g.Outputs, true))
	for _, r := range g.Outputs {
		to.Output(w.At(r))
		outputs = append(outputs, array[r])
	}
	return to, read, outputs
}

// conditional adds the values that its branches read to the results of a conditional. A result is
// of one value of each branch; 0 in a branch that reads fewer values.
func (t *taping) conditional(w *ad.Rewriter, r ad.Ref, n *ad.Node, args []ad.Ref, of func(k int) bool, times float64, keep func(ad.Ref), results map[ad.Ref][]bool) ad.Ref {
	f := n.Attr.(*ad.If)
	in := make([]bool, len(n.Args)-1)
	for k := range in {
		in[k] = of(k + 1)
	}
	var to [2]*ad.Graph
	var read [2][]ad.Ref
	results[r] = make([]bool, len(f.Then.Outputs))
	for side, g := range []*ad.Graph{f.Then, f.Else} {
		left := t.left
		b, reads, outputs := t.body(g, in, times)
		t.left = left // counted by keep, below
		to[side], read[side] = b, reads
		for k, o := range outputs {
			results[r][k] = results[r][k] || o
		}
	}
	first := len(f.Then.Outputs)
	for side := range read {
		for _, x := range read[side] {
			to[side].Output(x)
			t, other := to[side].Type(x), ad.Ref(ad.None)
			if side == 0 { // a value of the same type that the other branch reads
				if k := slices.IndexFunc(read[1], func(y ad.Ref) bool { return to[1].Type(y).Equal(t) }); k >= 0 {
					other = read[1][k]
					read[1] = slices.Delete(read[1], k, k+1)
				}
			}
			if other == ad.None {
				other = to[1-side].Broadcast(to[1-side].Const(0), t.Shape)
			}
			to[1-side].Output(other)
		}
	}
	x := w.To.Do(ad.OpIf, &ad.If{Then: to[0], Else: to[1]}, args...)
	for k := range len(to[0].Outputs) - first {
		keep(w.To.Result(x, first+k))
	}
	return x
}
