package passes

import (
	"math"

	"github.com/ppl-lang/ppl/ad"
	"github.com/ppl-lang/ppl/compile/internal/ops"
)

// isShortSum reports whether n is the log_sum_exp of a few numbers that were computed one by one and
// put together, as the loops over states of hidden Markov models and over the parts of mixtures do.
// Written out, they need not be put together, and the exponentials of the sum are those of its
// derivative. Where steps of a scan do so, all of the step is scalar code.
func isShortSum(g *ad.Graph, n *ad.Node) bool {
	if n.Op != ad.OpLogSumExp || n.Type.Size() != 1 {
		return false
	}
	k := g.Type(n.Args[0]).Size()
	if k < 2 || k > mostShort || !joined(g, n.Args[0], k, 0) {
		return false
	}
	each := opNS + ops.Of(ad.OpExp).Cost
	sum := bill{work: each * vectors(k), loops: 1, memory: float64(k)}
	written := bill{work: each * vectors(k), code: k} // calls of a function that follow one another are vectors
	return written.beats(sum.plus(sum), mostCode)
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

// shortSum is what takes the place of such a sum.
func shortSum(g *ad.Graph, n *ad.Node, x ad.Ref) ad.Ref {
	terms := make([]ad.Ref, g.Type(x).Size())
	for k := range terms {
		terms[k] = termOf(g, x, k, 0)
	}
	return g.Reshape(sumOfTerms(g, terms), n.Type.Shape)
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

// shiftOf is what is subtracted from terms of which the greatest is given.
func shiftOf(g *ad.Graph, greatest ad.Ref) ad.Ref {
	greatest = g.Do(ad.OpDetach, nil, greatest)
	return g.Select(g.Do(ad.OpIsInf, nil, greatest), g.Const(0), greatest)
}

func logOfSum(g *ad.Graph, shift, sum ad.Ref) ad.Ref {
	return g.Select(g.Equal(sum, g.Const(0)), g.Const(math.Inf(-1)), g.Add(shift, g.Log(sum)))
}
