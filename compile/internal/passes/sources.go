package passes

import (
	"slices"

	"github.com/ppl-lang/ppl/ad"
	"github.com/ppl-lang/ppl/compile/internal/ops"
)

// computeAtSource computes functions of gathered elements for the array that they come from and
// gathers the values, where the array is shorter: log(theta[group[n]]) is a logarithm for each
// group instead of one for each n. Derivatives are then added up by group before they are
// multiplied by that of the function. A topic model of 33,000 words, whose probabilities are
// numbers of their documents and of themselves, took 1.13 ms and takes 0.60, and 0.43 with merge,
// which adds up words that a document repeats.
//
// It runs before the density is differentiated, so that the function's derivative, too, is
// computed for the array alone, and after merge, which tells rows apart by what they gather.
func computeAtSource(g *ad.Graph) *ad.Graph {
	if !hasTables(g) {
		return g
	}
	s := &sources{found: map[ad.Ref]source{}}
	return rebuildTo(g.Beside(), g, nil, func(w *ad.Rewriter, _ ad.Ref, n *ad.Node, attr any, args []ad.Ref) ad.Ref {
		made := w.Same(n, attr, args)
		if n.Op.Row().Class != ad.Elementwise || ops.Of(n.Op).Cost < leastAtSource {
			return made
		}
		s.to = w.To
		x := s.of(made)
		if x.gather == ad.None {
			return made
		}
		out := w.To.Gather(x.whole, w.To.Nodes[x.gather].Index())
		if n.Type.Lanes > 0 {
			out = w.To.Lane(out)
		}
		return out
	})
}

// sources finds values that are functions of elements gathered by one index.
type sources struct {
	to    *ad.Graph
	found map[ad.Ref]source
}

// source is the array that a value is gathered from, and a gather of its index; ad.None if there
// is none.
type source struct{ whole, gather ad.Ref }

func (s *sources) of(r ad.Ref) source {
	x, known := s.found[r]
	if !known {
		x = s.look(r)
		s.found[r] = x
	}
	return x
}

func (s *sources) look(r ad.Ref) source {
	none := source{ad.None, ad.None}
	n := &s.to.Nodes[r]
	switch {
	case n.Op == ad.OpLane:
		return s.of(n.Args[0])
	case n.Op == ad.OpGather:
		from := s.to.Type(n.Args[0])
		if from.Lanes > 0 || from.Size() > n.Type.Size()*3/4 {
			return none
		}
		return source{n.Args[0], r}
	case n.Op.Row().Class != ad.Elementwise || n.Op.Row().OwnLanes:
		return none
	}
	args := slices.Clone(n.Args)
	gather := ad.Ref(ad.None)
	for k, a := range args {
		if number(s.to.Type(a)) && s.to.Type(a).Lanes == 0 {
			continue
		}
		x := s.of(a)
		if x.gather == ad.None || gather != ad.None && !s.alike(gather, x.gather) {
			return none
		}
		gather, args[k] = x.gather, x.whole
	}
	if gather == ad.None {
		return none
	}
	n = &s.to.Nodes[r]
	op, attr, old := n.Op, n.Attr, s.to.SetSite(n.Site)
	whole := s.to.Do(op, attr, args...)
	s.to.SetSite(old)
	return source{whole, gather}
}

// alike reports whether two gathers take the elements at the same positions of arrays of the same
// shape.
func (s *sources) alike(a, b ad.Ref) bool {
	if a == b {
		return true
	}
	m, n := &s.to.Nodes[a], &s.to.Nodes[b]
	x, y := m.Index(), n.Index()
	return s.to.Type(m.Args[0]).Equal(s.to.Type(n.Args[0])) && x.Offset == y.Offset &&
		slices.EqualFunc(x.Dims, y.Dims, func(p, q ad.Dim) bool {
			return p.N == q.N && p.Stride == q.Stride && slices.Equal(p.Table, q.Table)
		})
}
