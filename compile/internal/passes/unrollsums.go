package passes

import (
	"math"

	"github.com/ppl-lang/ppl/ad"
	"github.com/ppl-lang/ppl/compile/internal/loopnest"
)

// unrollSums is full unrolling of short sums (terms). It writes the log_sum_exp of a few numbers
// out that were computed one by one, as the loops over states of hidden Markov models and over the
// parts of mixtures do: they need not be put together, and the exponentials of the sum are those
// of its derivative. Where steps of a scan do so, all of the step is scalar code. That of many
// terms is written out as ops on arrays: outcomes of 20 categories, mixtures of 20 normals and a
// hidden Markov model of 20 states take 0.52 to 0.55 of the time, one of 40 states 0.28 to 0.5.
// Those between, package loopnest takes apart.
//
// It runs before the density is differentiated.
func unrollSums(g *ad.Graph) *ad.Graph {
	if !hasTerms(g) {
		return g
	}
	return termsIn(g.Beside(), g)
}

func hasTerms(g *ad.Graph) bool {
	for i, live := range g.Live(g.Outputs, true) {
		n := &g.Nodes[i]
		if live && n.Op == ad.OpLogSumExp && (apart(g, n) || many(g, n)) {
			return true
		}
		for _, b := range n.Bodies() {
			if live && hasTerms(b) {
				return true
			}
		}
	}
	return false
}

// apart reports whether the terms of a log_sum_exp, few in each lane, are numbers put together.
func apart(g *ad.Graph, n *ad.Node) bool {
	k := g.Type(n.Args[0]).Size()
	return n.Type.Size() == 1 && k > 1 && k <= mostTerms && joined(g, n.Args[0], k, 0)
}

// many reports whether a log_sum_exp has many terms.
func many(g *ad.Graph, n *ad.Node) bool {
	s := g.Type(n.Args[0]).Shape
	return s[len(s)-1] > loopnest.ShortTerms && n.Type.Size() > 0
}

// joined reports whether r is made, perhaps by sums, of k numbers that were put together.
func joined(g *ad.Graph, r ad.Ref, k, depth int) bool {
	n := &g.Nodes[r]
	switch {
	case depth > mostSums:
		return false
	case n.Op == ad.OpConcat:
		return len(n.Args) == k
	case n.Op == ad.OpReshape:
		return joined(g, n.Args[0], k, depth+1)
	case n.Op == ad.OpAdd || n.Op == ad.OpSub:
		return joined(g, n.Args[0], k, depth+1) || joined(g, n.Args[1], k, depth+1)
	}
	return false
}

func termsIn(to, g *ad.Graph) *ad.Graph {
	inner := func(b *ad.Graph) *ad.Graph {
		if !hasTerms(b) {
			return b
		}
		return termsIn(b.Beside(), b)
	}
	return rebuildTo(to, g, inner, func(w *ad.Rewriter, _ ad.Ref, n *ad.Node, attr any, args []ad.Ref) ad.Ref {
		switch {
		case n.Op != ad.OpLogSumExp:
			return w.Same(n, attr, args)
		case many(g, n):
			return sumOfRows(w.To, args[0])
		case !apart(g, n):
			return w.Same(n, attr, args)
		}
		terms := make([]ad.Ref, g.Type(n.Args[0]).Size())
		for k := range terms {
			terms[k] = termOf(w.To, args[0], k, 0)
		}
		return w.To.Reshape(sumOfTerms(w.To, terms), n.Type.Shape)
	})
}

// termOf is number k of r.
func termOf(g *ad.Graph, r ad.Ref, k, depth int) ad.Ref {
	n := g.Nodes[r]
	size := n.Type.Size()
	switch {
	case len(n.Type.Shape) == 0:
		return r
	case n.Op == ad.OpConcat && len(n.Args) == size:
		return g.Reshape(n.Args[k], nil)
	case n.Op == ad.OpReshape:
		return termOf(g, n.Args[0], k, depth)
	case depth <= mostSums && (n.Op == ad.OpAdd || n.Op == ad.OpSub):
		return g.Do(n.Op, nil, termOf(g, n.Args[0], k, depth+1), termOf(g, n.Args[1], k, depth+1))
	}
	return g.Slice(r, k, nil)
}

// sumOfTerms is log Σ exp(x). Where all terms are impossible it has no derivative, which is 0
// then.
func sumOfTerms(g *ad.Graph, x []ad.Ref) ad.Ref {
	if len(x) == 2 {
		return g.Do(ad.OpLogAddExp, nil, x[0], x[1])
	}
	greatest := x[0]
	for _, v := range x[1:] {
		greatest = g.Do(ad.OpMax, nil, greatest, v)
	}
	shift := shiftOf(g, greatest)
	sum := g.Exp(g.Sub(x[0], shift))
	for _, v := range x[1:] {
		sum = g.Add(sum, g.Exp(g.Sub(v, shift)))
	}
	return logOfSum(g, shift, sum)
}

// sumOfRows is log Σ exp over the last dimension of x.
func sumOfRows(g *ad.Graph, x ad.Ref) ad.Ref {
	shape := g.Type(x).Shape
	rows := shape[:len(shape)-1]
	shift := shiftOf(g, g.Do(ad.OpMaxOf, nil, x))
	along := ad.Index{Dims: make([]ad.Dim, len(shape))} // from an element to its row
	stride := 1
	for i := len(rows) - 1; i >= 0; i-- {
		along.Dims[i] = ad.Dim{N: rows[i], Stride: stride}
		stride *= rows[i]
	}
	along.Dims[len(rows)] = ad.Dim{N: shape[len(rows)]}
	sum := g.Scatter(g.Exp(g.Sub(x, g.Gather(shift, along))), along, rows)
	return logOfSum(g, shift, sum)
}

// shiftOf is what is subtracted from terms of which the greatest is given.
func shiftOf(g *ad.Graph, greatest ad.Ref) ad.Ref {
	greatest = g.Do(ad.OpDetach, nil, greatest)
	return g.Select(g.Do(ad.OpIsInf, nil, greatest), g.Const(0), greatest)
}

func logOfSum(g *ad.Graph, shift, sum ad.Ref) ad.Ref {
	return g.Select(g.Equal(sum, g.Const(0)), g.Const(math.Inf(-1)), g.Add(shift, g.Log(sum)))
}
