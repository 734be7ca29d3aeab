package passes

import (
	"math"
	"slices"

	"github.com/ppl-lang/ppl/ad"
	"github.com/ppl-lang/ppl/compile/internal/ops"
)

// exchange is map–gather exchange. It computes functions of gathered elements before the gather if
// the source array is shorter: log(theta[group[n]]) then takes one logarithm per group instead of
// one per n. Adjoints are summed by group before they are multiplied by the function's derivative.
// A topic model of 33,000 words, whose probabilities depend on document and word, took 1.13 ms. It
// takes 0.60, and 0.43 with deduplicate, which sums words that a document repeats.
//
// Expensive functions are also computed once for rows that repeat, such as powers of a parameter of
// each of 30 dogs with the number of shocks so far, in 25 trials: 9.3 instead of 10.8 µs.
//
// A sum of such elements times known numbers becomes a sum over the array: the sum of y[n] *
// theta[group[n]] takes the sum of y of each group, which is known, and one product per group. The
// gradient of a Poisson model of 40,000 rows in 10,000 groups takes 17.5 instead of 30 µs.
//
// The pass runs before the density is differentiated, so that the function's derivative is also
// computed for the short array only. It runs after deduplicate, which distinguishes rows by the
// elements that they gather.
func exchange(g *ad.Graph) *ad.Graph {
	s := &gatherSources{found: map[ad.Ref]gatherSource{}}
	sh := &sharedByMerged{left: maxCompared}
	return rebuildTo(g.Sibling(), g, nil, func(w *ad.Rewriter, r ad.Ref, n *ad.Node, attr any, args []ad.Ref) ad.Ref {
		s.to = w.To
		if sum := s.weighted(n, args); sum != ad.None {
			return sum
		}
		made := w.Same(n, attr, args)
		cost := 0.0
		if n.Op.Row().Class == ad.Elementwise {
			cost = ops.Of(n.Op).Cost
		}
		if cost < minSourceCost {
			return made
		}
		if x := s.of(made); x.gather != ad.None {
			return gathered(w.To, x.whole, x.index, w.To.Type(x.gather).Shape, n.Type)
		}
		if cost < minRepeatedCost {
			return made
		}
		if m := repeated(g, r, sh); m != nil {
			d := ad.Dim{N: m.rows, Table: m.class}
			return gathered(w.To, w.To.Unlane(m.build(w, r)), ad.Index{Dims: []ad.Dim{d}}, []int{m.rows}, n.Type)
		}
		return made
	})
}

// weighted returns the sum n over the source of gathered elements that it multiplies by known
// numbers; ad.None if it is no such sum. args are its arguments in the new graph.
func (s *gatherSources) weighted(n *ad.Node, args []ad.Ref) ad.Ref {
	if n.Op != ad.OpScatter || !n.Type.IsScalar() || n.Type.Lanes > 0 {
		return ad.None
	}
	product := args[0]
	for s.to.Nodes[product].Op == ad.OpUnlane || s.to.Nodes[product].Op == ad.OpReshape {
		product = s.to.Nodes[product].Args[0]
	}
	p := &s.to.Nodes[product]
	if p.Op != ad.OpMul || p.Type.Lanes > 0 && !p.Type.IsScalar() {
		return ad.None
	}
	for k, factor := range p.Args {
		if s.to.Nodes[factor].Op == ad.OpLane {
			factor = s.to.Nodes[factor].Args[0]
		}
		known, ok := s.to.Value(factor)
		if !ok {
			continue
		}
		x := s.of(p.Args[1-k])
		if x.gather == ad.None || s.to.Type(x.gather).Size() != p.Type.Total() {
			continue
		}
		t := s.to.Type(x.whole)
		weights, finite := make([]float64, t.Size()), true
		x.index.Each(func(k, i int) {
			weights[i] += known[min(k, len(known)-1)] // all elements of a constant may share one number
		})
		for _, v := range weights {
			finite = finite && !math.IsInf(v, 0) && !math.IsNaN(v)
		}
		if t.Lanes == 0 && finite {
			return s.to.Sum(s.to.Mul(x.whole, s.to.ConstArray(ad.Type{Shape: t.Shape}, weights)))
		}
	}
	return ad.None
}

// gathered returns the gather of an array by an index, with the given shape; in lanes if t has
// lanes.
func gathered(g *ad.Graph, whole ad.Ref, ix ad.Index, shape []int, t ad.Type) ad.Ref {
	out := g.Reshape(g.Gather(whole, ix), shape)
	if t.Lanes > 0 {
		out = g.Lane(out)
	}
	return out
}

// repeated returns the distinct rows of a value, if at most half of the rows are distinct; nil
// otherwise. Rows must depend only on known numbers and on elements gathered by known indices, such
// as powers of a parameter of each subject with counts as exponents.
func repeated(g *ad.Graph, r ad.Ref, sh *sharedByMerged) *merged {
	t := g.Type(r)
	rows := t.Total()
	if rows < minMerged || t.Lanes == 0 && len(t.Shape) != 1 || t.Lanes > 0 && !t.IsScalar() {
		return nil
	}
	m := &merged{old: g, root: r, shared: sh, rows: rows, most: rows / 2, row: map[ad.Ref]bool{}, made: map[ad.Ref]ad.Ref{}, first: []int32{0}}
	if !m.of(r) || m.class == nil {
		return nil
	}
	return m
}

// gatherSources finds values that are functions of elements gathered by one index.
type gatherSources struct {
	to    *ad.Graph
	found map[ad.Ref]gatherSource
}

// gatherSource is the array that a value is gathered from, and the index. gather is a gather of the
// same positions from an array of the same shape; ad.None if there is none.
type gatherSource struct {
	whole, gather ad.Ref
	index         ad.Index
}

func (s *gatherSources) of(r ad.Ref) gatherSource {
	x, known := s.found[r]
	if !known {
		x = s.look(r)
		s.found[r] = x
	}
	return x
}

func (s *gatherSources) look(r ad.Ref) gatherSource {
	none := gatherSource{whole: ad.None, gather: ad.None}
	n := &s.to.Nodes[r]
	switch {
	case n.Op == ad.OpLane:
		return s.of(n.Args[0])
	case n.Op == ad.OpGather:
		if s.to.Type(n.Args[0]).Lanes > 0 {
			return none
		}
		return s.taken(r)
	case n.Op.Row().Class != ad.Elementwise || n.Op.Row().OwnLanes:
		return none
	}
	args := slices.Clone(n.Args)
	found := none
	for k, a := range args {
		if number(s.to.Type(a)) && s.to.Type(a).Lanes == 0 {
			continue
		}
		x := s.of(a)
		if x.gather == ad.None || found.gather != ad.None && !s.alike(found.gather, x.gather) {
			return none
		}
		found, args[k] = x, x.whole
	}
	if found.gather == ad.None {
		return none
	}
	n = &s.to.Nodes[r]
	op, attr, old := n.Op, n.Attr, s.to.SetSite(n.Site)
	found.whole = s.to.Do(op, attr, args...)
	s.to.SetSite(old)
	return found
}

// taken returns the source of a gather: the elements of its argument that it reads, if they are
// fewer than the results. Elements that it does not read are excluded: a function of them, or its
// derivative, may not be finite and would turn an adjoint of 0 into NaN.
func (s *gatherSources) taken(r ad.Ref) gatherSource {
	n := &s.to.Nodes[r]
	ix, x := n.Index(), n.Args[0]
	at := make([]int32, s.to.Type(x).Size()) // 1 for elements that are read, then their index among these
	count := 0
	ix.Each(func(_, i int) {
		if at[i] == 0 {
			at[i] = 1
			count++
		}
	})
	if count == 0 || count > n.Type.Size()*3/4 {
		return gatherSource{whole: ad.None, gather: ad.None}
	}
	if count == len(at) {
		return gatherSource{x, r, ix}
	}
	some := ad.Dim{N: count, Table: make([]int32, 0, count)}
	for i, is := range at {
		if is == 1 {
			at[i] = int32(len(some.Table))
			some.Table = append(some.Table, int32(i))
		}
	}
	from := ad.Index{Dims: []ad.Dim{some}}
	if first, stride, ok := progression(some.Table); ok {
		from = ad.Index{Offset: first, Dims: []ad.Dim{{N: count, Stride: stride}}}
	}
	again := ad.Dim{N: n.Type.Size(), Table: make([]int32, n.Type.Size())}
	ix.Each(func(k, i int) { again.Table[k] = at[i] })
	return gatherSource{s.to.Gather(x, from), r, ad.Index{Dims: []ad.Dim{again}}}
}

// progression reports whether positions are equally spaced.
func progression(at []int32) (first, stride int, ok bool) {
	first = int(at[0])
	if len(at) > 1 {
		stride = int(at[1]) - first
	}
	for i, a := range at {
		if int(a) != first+i*stride {
			return 0, 0, false
		}
	}
	return first, stride, true
}

// alike reports whether two gathers take the elements at the same positions of arrays of the same
// shape.
func (s *gatherSources) alike(a, b ad.Ref) bool {
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
