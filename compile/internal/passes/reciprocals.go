package passes

import "github.com/ppl-lang/ppl/ad"

// shareReciprocals replaces several divisions of arrays by the same array by products with one
// reciprocal. It also replaces every division of an array by a number, or by fewer numbers than it
// has elements, such as the scales of groups. A density and its derivatives divide by a scale up to
// four times, and a division takes as long as three products.
func shareReciprocals(g *ad.Graph, o *Options) *ad.Graph {
	count := make([]int, len(g.Nodes)) // divisions, by denominator
	regions, shared := false, false
	for i, live := range g.Live(g.Outputs, true) {
		if n := &g.Nodes[i]; live {
			if d := denominator(g, n); d != ad.None {
				count[d]++
				shared = shared || count[d] > 1
			}
			shared = shared || byFew(g, n) != ad.None
			regions = regions || n.Op.Row().Class == ad.Region
		}
	}
	if !shared && !regions {
		return g
	}
	return rebuild(o, g, shareReciprocals, func(w *ad.Rewriter, _ ad.Ref, n *ad.Node, attr any, args []ad.Ref) ad.Ref {
		if few := byFew(g, n); few != ad.None {
			return w.To.Mul(args[0], inverseOf(w, n.Args[1], few))
		}
		if d := denominator(g, n); n.Op == ad.OpDiv && d != ad.None && count[d] > 1 {
			return w.To.Mul(args[0], w.To.Do(ad.OpInv, nil, args[1]))
		}
		return w.Same(n, attr, args)
	})
}

// inverseOf returns the reciprocals of d, whose elements are those of few.
func inverseOf(w *ad.Rewriter, d, few ad.Ref) ad.Ref {
	if d == few {
		return w.To.Do(ad.OpInv, nil, w.At(d))
	}
	n := &w.From.Nodes[d]
	return w.To.Do(n.Op, n.Attr, inverseOf(w, n.Args[0], few))
}

// denominator returns the divisor of n, if it is an array of the size of n's value.
func denominator(g *ad.Graph, n *ad.Node) ad.Ref {
	d := ad.Ref(ad.None)
	switch n.Op {
	case ad.OpDiv:
		d = n.Args[1]
	case ad.OpInv:
		d = n.Args[0]
	default:
		return d
	}
	if total := n.Type.Total(); total <= 1 || g.Type(d).Total() != total || g.Nodes[d].Op == ad.OpConst {
		return ad.None
	}
	return d
}

// byFew returns the value that has all denominators of n, if n divides an array by values that are
// not constant and at most half as many as n has elements. Otherwise it returns ad.None.
func byFew(g *ad.Graph, n *ad.Node) ad.Ref {
	if n.Op != ad.OpDiv || n.Type.Total() <= 1 {
		return ad.None
	}
	for d := n.Args[1]; g.Nodes[d].Op != ad.OpConst; d = g.Nodes[d].Args[0] {
		if 2*g.Type(d).Total() <= n.Type.Total() {
			return d
		}
		switch g.Nodes[d].Op {
		case ad.OpGather, ad.OpReshape, ad.OpLane, ad.OpUnlane:
		default:
			return ad.None
		}
	}
	return ad.None
}
