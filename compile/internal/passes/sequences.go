package passes

import (
	"slices"

	"github.com/ppl-lang/ppl/ad"
)

// minSequences is the number of sequences in a scan from which they become lanes: a vector of
// numbers.
const minSequences = 8

// separate turns a scan whose steps are several sequences of the same length, one after the other,
// into a scan of one sequence in lanes. Binding makes such scans from recurrences in each iteration
// of a loop around, such as the days of each subject. The carried values of the next sequence do
// not depend on the one before, so all sequences go through their steps together, as vectors.
func separate(g *ad.Graph) *ad.Graph {
	if !has(g, ad.OpScan) {
		return g
	}
	results := map[ad.Ref][]ad.Ref{}
	return rebuildTo(g.Sibling(), g, nil, func(w *ad.Rewriter, r ad.Ref, n *ad.Node, attr any, args []ad.Ref) ad.Ref {
		if n.Op == ad.OpResult && results[n.Args[0]] != nil {
			return results[n.Args[0]][n.ResultIndex()]
		}
		s, ok := attr.(*ad.Scan)
		if !ok || n.Type.Lanes > 0 {
			return w.Same(n, attr, args)
		}
		q := sequencesOf(w.To, s, args)
		if q == nil {
			return w.Same(n, attr, args)
		}
		scan, parts := q.inLanes(w.To)
		results[r] = parts
		return scan
	})
}

// sequences are the sequences of a scan.
type sequences struct {
	s        *ad.Scan
	args     []ad.Ref
	n, steps int      // number of sequences, and steps of each
	next     []ad.Ref // carried values within a sequence
	start    []ad.Ref // streams of the values before the next sequence, or values that are the same for all
}

// sequencesOf returns the sequences of a scan of numbers; nil if there are too few, or if their
// lengths differ.
func sequencesOf(g *ad.Graph, s *ad.Scan, args []ad.Ref) *sequences {
	b := s.Body
	if s.Reverse || s.Carries == 0 || len(b.SideEffects) > 0 {
		return nil
	}
	for i := range b.Nodes {
		n := &b.Nodes[i]
		switch row := n.Op.Row(); {
		case n.Type.Total() != 1:
			return nil
		case n.Op == ad.OpInput || n.Op == ad.OpConst || n.Op == ad.OpReshape:
		case row.Class != ad.Elementwise || row.OwnLanes:
			return nil
		}
	}
	q := &sequences{s: s, args: args}
	mask := ad.None
	for _, next := range b.Outputs[:s.Carries] {
		n := &b.Nodes[next]
		if n.Op != ad.OpSelect || mask != ad.None && n.Args[0] != mask {
			return nil
		}
		mask = n.Args[0]
		k := q.input(n.Args[1])
		if k < 0 && b.Nodes[n.Args[1]].Op != ad.OpConst || k >= 0 && k < s.Carries {
			return nil
		}
		q.start, q.next = append(q.start, n.Args[1]), append(q.next, n.Args[2])
	}
	k := q.input(mask)
	if k < s.Carries || k >= s.Carries+s.Streams {
		return nil
	}
	starts, ok := g.Value(args[k])
	if !ok {
		return nil
	}
	q.steps = 1 + slices.Index(starts, 1)
	if q.steps < 2 || s.Steps%q.steps != 0 || s.Steps/q.steps < minSequences {
		return nil
	}
	for t, x := range starts {
		if last := (t+1)%q.steps == 0; (x != 0) != (last && t+1 < s.Steps) {
			return nil
		}
	}
	q.n = s.Steps / q.steps
	return q
}

// input returns the number of an input of the body; -1 if r is none.
func (q *sequences) input(r ad.Ref) int { return slices.Index(q.s.Body.Inputs, r) }

// inLanes adds the scan in lanes to g. It returns its results in place of those of the old one.
func (q *sequences) inLanes(g *ad.Graph) (scan ad.Ref, results []ad.Ref) {
	s, b := q.s, q.s.Body
	c := *s
	c.Body, c.Steps = g.Sibling(), q.steps
	w := ad.NewRewriter(b, c.Body)
	outputs := slices.Concat(q.next, b.Outputs[s.Carries:])
	live := b.Live(outputs, false)
	var args []ad.Ref
	for i, in := range b.Inputs {
		a := q.args[i]
		switch {
		case i < s.Carries: // the first values of all sequences
			first := g.Concat(g.Reshape(a, []int{1}), q.later(g, i))
			args = append(args, g.Lane(g.Reshape(first, append([]int{q.n}, b.Type(in).Shape...))))
		case !live[in]:
			if i < s.Carries+s.Streams {
				c.Streams--
			}
			continue
		case i < s.Carries+s.Streams:
			args = append(args, g.Lane(g.Reshape(a, append([]int{q.n, q.steps}, b.Type(in).Shape...))))
		default:
			args = append(args, a)
		}
		w.Put(in, c.Body.Input(b.Type(in)))
		live[in] = false
	}
	w.Run(live)
	for _, x := range outputs {
		c.Body.Output(w.At(x))
	}
	scan = g.DoScan(&c, args)
	for i, p := range s.Results() {
		x := g.Result(scan, i)
		switch {
		case i < s.Carries:
			x = g.Slice(g.Unlane(x), q.n-1, p.Shape)
		case i < 2*s.Carries+s.Outs:
			x = g.Reshape(g.Unlane(x), p.Shape)
		default:
			x = g.SumLanes(x)
		}
		results = append(results, x)
	}
	return scan, results
}

// later returns the values of a carried number before all sequences but the first.
func (q *sequences) later(g *ad.Graph, carried int) ad.Ref {
	shape := []int{q.n - 1}
	k := q.input(q.start[carried])
	switch {
	case k < 0:
		return g.Broadcast(g.Const(q.s.Body.Nodes[q.start[carried]].Data[0]), shape)
	case k >= q.s.Carries+q.s.Streams:
		return g.Broadcast(g.Reshape(q.args[k], nil), shape)
	}
	return g.Gather(g.Reshape(q.args[k], []int{q.s.Steps}), ad.Index{Offset: q.steps - 1, Dims: []ad.Dim{{N: q.n - 1, Stride: q.steps}}})
}
