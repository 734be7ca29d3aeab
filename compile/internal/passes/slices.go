package passes

import (
	"github.com/ppl-lang/ppl/ad"
	"github.com/ppl-lang/ppl/compile/internal/loopnest"
)

// sliceTables rebuilds g so that index tables that visit a few slices become these slices. A
// program may store values element by element and read them again, or put a first element and the
// results of a loop together. These are then copied or viewed instead of gathered. A gather of a
// gather becomes one gather, and a gather from a part of a concatenation reads the part. So does a
// slice of a sum of scatters, which is the adjoint of a concatenation.
func sliceTables(g *ad.Graph, o *Options) *ad.Graph {
	if !hasTables(g) {
		return g
	}
	return rebuild(o, g, sliceTables, func(w *ad.Rewriter, _ ad.Ref, n *ad.Node, attr any, args []ad.Ref) ad.Ref {
		if n.Type.Lanes == 0 && (n.Op == ad.OpGather || n.Op == ad.OpScatter) {
			if ix := n.Index(); len(ix.Dims) == 1 && ix.Dims[0].Table != nil {
				if r, ok := sliced(w.To, n, ix, args[0]); ok {
					return r
				}
			}
			if r, ok := partOfConcat(w.To, n, args[0]); ok {
				return r
			}
			if r, ok := partOfScatters(w.To, n, args[0]); ok {
				return r
			}
		}
		return w.Same(n, attr, args)
	})
}

// hasTables reports whether the graph, or a region in it, has index tables or concatenations.
func hasTables(g *ad.Graph) bool {
	for i := range g.Nodes {
		switch n := &g.Nodes[i]; n.Op {
		case ad.OpGather, ad.OpScatter:
			for _, d := range n.Index().Dims {
				if d.Table != nil {
					return true
				}
			}
		case ad.OpConcat:
			return true
		default:
			if n.Op.Row().Class == ad.Region {
				return true
			}
		}
	}
	return false
}

// partOfConcat returns the gather n of x as a gather from one part, if x is a concatenation and all
// elements come from that part.
func partOfConcat(g *ad.Graph, n *ad.Node, x ad.Ref) (ad.Ref, bool) {
	for g.Nodes[x].Op == ad.OpReshape {
		x = g.Nodes[x].Args[0]
	}
	c := &g.Nodes[x]
	if n.Op != ad.OpGather || c.Op != ad.OpConcat || c.Type.Lanes > 0 || len(c.Args) < 2 {
		return ad.None, false
	}
	ix := n.Index()
	m := loopnest.Flatten(ix, 0, 0)
	if m.N == 0 {
		return ad.None, false
	}
	at, want := 0, m.Span()
	for _, a := range c.Args {
		size := g.Type(a).Size()
		if want.Lo >= at && want.Hi <= at+size {
			ix.Offset -= at
			return g.Gather(a, ix), true
		}
		at += size
	}
	return ad.None, false
}

// partOfScatters returns the slice n of x from the terms of x alone, if x is a sum of scatters.
// Each of them must write only outside the slice, only inside it, or be contiguous and fill it.
// Then code that reads the slice may run in one loop with the code that computes a term.
func partOfScatters(g *ad.Graph, n *ad.Node, x ad.Ref) (ad.Ref, bool) {
	for g.Nodes[x].Op == ad.OpReshape {
		x = g.Nodes[x].Args[0]
	}
	if op := g.Nodes[x].Op; n.Op != ad.OpGather || op != ad.OpScatter && op != ad.OpAdd {
		return ad.None, false
	}
	m := loopnest.Flatten(n.Index(), 0, 0)
	if !m.Contiguous() || m.N == 0 {
		return ad.None, false
	}
	terms := maxTerms
	part, ok := sliceOfSum(g, x, m.Span(), n.Type.Shape, &terms)
	return part, ok && part != ad.None
}

// maxTerms is the maximum number of terms of a sum of which partOfScatters takes a slice.
const maxTerms = 64

// sliceOfSum returns a slice of x for partOfScatters; None if no term writes there. It takes the
// number of terms from left.
func sliceOfSum(g *ad.Graph, x ad.Ref, want loopnest.Span, shape []int, left *int) (part ad.Ref, ok bool) {
	n := &g.Nodes[x]
	*left--
	if n.Type.Lanes > 0 || *left < 0 {
		return ad.None, false
	}
	switch n.Op {
	case ad.OpAdd:
		sum := ad.Ref(ad.None)
		for _, a := range [2]ad.Ref{n.Args[0], n.Args[1]} {
			if g.Type(a).Size() != g.Type(x).Size() {
				return ad.None, false
			}
			part, ok := sliceOfSum(g, a, want, shape, left)
			switch {
			case !ok:
				return ad.None, false
			case sum == ad.None:
				sum = part
			case part != ad.None:
				sum = g.Add(sum, part)
			}
		}
		return sum, true
	case ad.OpScatter:
		from, ix := n.Args[0], n.Index()
		m := loopnest.Flatten(ix, 0, 0)
		span := m.Span()
		switch {
		case g.Type(from).Lanes > 0:
			return ad.None, false
		case m.N == 0 || span.Hi <= want.Lo || want.Hi <= span.Lo:
			return ad.None, true
		case span.Lo <= want.Lo && want.Hi <= span.Hi && m.Contiguous():
			return g.Reshape(g.Slice(from, want.Lo-span.Lo, []int{want.Hi - want.Lo}), shape), true
		case want.Lo <= span.Lo && span.Hi <= want.Hi:
			ix.Offset -= want.Lo
			return g.Scatter(from, ix, shape), true
		}
	}
	return ad.None, false
}

// piece is n elements, from element elem on, that go to positions from pos on.
type piece struct{ pos, elem, n int }

// pieces cuts a table into slices; nil if there are too many.
func pieces(elems []int) []piece {
	var ps []piece
	for i, e := range elems {
		if k := len(ps) - 1; k >= 0 && e == ps[k].elem+ps[k].n {
			ps[k].n++
			continue
		}
		if len(ps) == maxPieces {
			return nil
		}
		ps = append(ps, piece{i, e, 1})
	}
	return ps
}

func sliced(g *ad.Graph, n *ad.Node, ix ad.Index, x ad.Ref) (ad.Ref, bool) {
	elems := make([]int, ix.Dims[0].N)
	for i, t := range ix.Dims[0].Table[:len(elems)] {
		elems[i] = ix.Offset + int(t)
	}
	if len(elems) == 0 {
		return ad.None, false
	}
	if n.Op == ad.OpScatter {
		ps := pieces(elems)
		if ps == nil || len(ps)*minPiece > len(elems) {
			return ad.None, false
		}
		sum := ad.Ref(ad.None)
		for _, p := range ps {
			part := g.Scatter(g.Slice(x, p.pos, []int{p.n}), ad.Index{Offset: p.elem, Dims: []ad.Dim{{N: p.n, Stride: 1}}}, n.Type.Shape)
			if sum == ad.None {
				sum = part
			} else {
				sum = g.Add(sum, part)
			}
		}
		return sum, true
	}
	// Look through gathers to the source of the elements.
	for {
		src := &g.Nodes[x]
		if src.Op == ad.OpReshape && src.Type.Lanes == 0 {
			x = src.Args[0]
			continue
		}
		from := src.Index()
		if src.Op != ad.OpGather || src.Type.Lanes > 0 || len(from.Dims) != 1 || from.Dims[0].Table == nil {
			break
		}
		for i, e := range elems {
			elems[i] = from.Offset + int(from.Dims[0].Table[e])
		}
		x = src.Args[0]
	}
	ps := pieces(elems)
	if ps == nil || len(ps)*minPiece > len(elems) || g.Type(x).Lanes > 0 {
		return ad.None, false
	}
	var parts []ad.Ref
	src := &g.Nodes[x]
	for _, p := range ps {
		if src.Op != ad.OpConcat || src.Type.Lanes > 0 {
			parts = append(parts, g.Slice(x, p.elem, []int{p.n}))
			continue
		}
		at := 0
		for _, a := range src.Args {
			size := g.Type(a).Size()
			if lo, hi := max(p.elem, at), min(p.elem+p.n, at+size); lo < hi {
				parts = append(parts, g.Slice(a, lo-at, []int{hi - lo}))
			}
			at += size
		}
	}
	if len(parts) > 2*maxPieces {
		return ad.None, false
	}
	return g.Reshape(g.Concat(parts...), n.Type.Shape), true
}
