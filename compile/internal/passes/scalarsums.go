package passes

import (
	"math"

	"github.com/ppl-lang/ppl/ad"
	"github.com/ppl-lang/ppl/compile/internal/ops"
)

// shortSum returns the replacement of n, the log_sum_exp of x; None if n does not change. It
// replaces sums over a few scalars that were put together to an array, as in loops over the states
// of hidden Markov models or the components of mixtures. Written out, the scalars need not be put
// together, and the sum shares its exponentials with its derivative. In scans, the whole step
// becomes scalar code.
func shortSum(g *ad.Graph, n *ad.Node, x ad.Ref) ad.Ref {
	k := g.Type(x).Size()
	if n.Type.Size() != 1 || k < 2 || k > maxShort {
		return ad.None
	}
	each := opNS + ops.Of(ad.OpExp).Cost
	sum := bill{work: each * vectors(k), loops: 1, memory: float64(k)}
	written := bill{work: each * vectors(k), code: k} // consecutive calls of a function run as vectors
	if !written.beats(sum.plus(sum), maxCode) {
		return ad.None
	}
	terms := termsOf(g, x, k, 0)
	if terms == nil {
		return ad.None
	}
	return g.Reshape(sumOfTerms(g, terms), n.Type.Shape)
}

// termsOf returns the k numbers that r is made of, looking through arithmetic. It returns nil if
// there are not k, or if none was put together from parts.
func termsOf(g *ad.Graph, r ad.Ref, k, depth int) []ad.Ref {
	n := g.Nodes[r]
	switch {
	case depth > maxSumDepth:
	case n.Op == ad.OpConcat && len(n.Args) == k:
		terms := make([]ad.Ref, k)
		for i, a := range n.Args {
			terms[i] = g.Reshape(a, nil)
		}
		return terms
	case n.Op == ad.OpReshape:
		return termsOf(g, n.Args[0], k, depth+1)
	case n.Op == ad.OpNeg:
		terms := termsOf(g, n.Args[0], k, depth+1)
		for i, t := range terms {
			terms[i] = g.Neg(t)
		}
		return terms
	case n.Op == ad.OpAdd || n.Op == ad.OpSub || n.Op == ad.OpMul || n.Op == ad.OpDiv:
		of := [2][]ad.Ref{termsOf(g, n.Args[0], k, depth+1), termsOf(g, n.Args[1], k, depth+1)}
		if of[0] == nil && of[1] == nil {
			return nil
		}
		terms := make([]ad.Ref, k)
		for i := range of {
			if of[i] == nil {
				of[i] = split(g, n.Args[i], true)
			}
		}
		for i := range terms {
			terms[i] = g.Do(n.Op, nil, of[0][min(i, len(of[0])-1)], of[1][min(i, len(of[1])-1)])
		}
		return terms
	}
	return nil
}

// sumOfTerms returns log Σ exp(x). If all terms are -Inf, the derivative would be 0/0; it is
// replaced by 0.
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

// shiftOf returns the number that is subtracted from the terms, given the largest of them.
func shiftOf(g *ad.Graph, greatest ad.Ref) ad.Ref {
	greatest = g.Do(ad.OpDetach, nil, greatest)
	return g.Select(g.Do(ad.OpIsInf, nil, greatest), g.Const(0), greatest)
}

func logOfSum(g *ad.Graph, shift, sum ad.Ref) ad.Ref {
	return g.Select(g.Equal(sum, g.Const(0)), g.Const(math.Inf(-1)), g.Add(shift, g.Log(sum)))
}
