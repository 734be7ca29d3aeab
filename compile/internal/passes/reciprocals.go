package passes

import "github.com/ppl-lang/ppl/ad"

// shareReciprocals replaces several divisions of arrays by the same array by products with one
// reciprocal, and every division of an array by a number by a product. A density and its
// derivatives divide by a scale up to four times, and a division takes as long as three products.
func shareReciprocals(g *ad.Graph, o *Options) *ad.Graph {
	count := make([]int, len(g.Nodes)) // divisions, by denominator
	regions, shared := false, false
	for i, live := range g.Live(g.Outputs, true) {
		if n := &g.Nodes[i]; live {
			if d := denominator(g, n); d != ad.None {
				count[d]++
				shared = shared || count[d] > 1
			}
			shared = shared || byNumber(g, n)
			regions = regions || n.Op.Row().Class == ad.Region
		}
	}
	if !shared && !regions {
		return g
	}
	return rebuild(o, g, shareReciprocals, func(w *ad.Rewriter, _ ad.Ref, n *ad.Node, attr any, args []ad.Ref) ad.Ref {
		if d := denominator(g, n); n.Op == ad.OpDiv && (d != ad.None && count[d] > 1 || byNumber(g, n)) {
			return w.To.Mul(args[0], w.To.Do(ad.OpInv, nil, args[1]))
		}
		return w.Same(n, attr, args)
	})
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

// byNumber reports whether n divides an array by a number that is not constant.
func byNumber(g *ad.Graph, n *ad.Node) bool {
	return n.Op == ad.OpDiv && n.Type.Total() > 1 && g.Type(n.Args[1]).Total() == 1 && g.Nodes[n.Args[1]].Op != ad.OpConst
}
