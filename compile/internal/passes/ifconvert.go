package passes

import (
	"github.com/ppl-lang/ppl/ad"
	"github.com/ppl-lang/ppl/compile/internal/ops"
)

// ifConvert is if-conversion (choose). It makes selections of conditionals in lanes with short
// sides: both sides are computed in all lanes, and the one that counts is taken. A conditional
// sorts its lanes and goes through Go's loops, at about 1.8 ns for each op and lane, while
// selections are machine code with what stands around them. A density of 500 rows with a
// conditional in a conditional, a generalised extreme value distribution, took 43 µs and takes 8.
//
// It runs before the density is differentiated, so that derivatives are selections
// too. What a side computes where it does not count need not be finite: see
// OpMulGuarded.
//
// So it does with conditionals in the steps of scans, of fewer operations: the lags that the
// first outcomes of a series, or of each of its groups, do not have. A body that is nothing but
// scalar code has what it carries in registers (vm/nativescan.go); with a conditional, a step
// moves its numbers through memory, about 5 ns for each conditional.
func ifConvert(g *ad.Graph) *ad.Graph { return ifConvertIn(g, false) }

// ifConvertIn is ifConvert for a graph that is the body of a scan, or part of one, if step is set.
func ifConvertIn(g *ad.Graph, step bool) *ad.Graph {
	for {
		chosen := map[ad.Ref]bool{}
		bodies := false
		for i, live := range g.Live(g.Outputs, true) {
			n := &g.Nodes[i]
			if !live {
				continue
			}
			if f, ok := n.Attr.(*ad.If); ok {
				most := -1.0
				switch {
				case n.Type.Lanes > 1:
					most = maxIfConverted
				case step && n.Type.Lanes == 0:
					most = maxIfConvertedInStep
				}
				if left := sideCost(f.Then, most); left >= 0 && sideCost(f.Else, left) >= 0 {
					chosen[ad.Ref(i)] = true
					continue
				}
			}
			bodies = bodies || len(n.Bodies()) > 0
		}
		if len(chosen) == 0 && !bodies {
			return g
		}
		// Conditionals in the sides get their lanes by this, or become part of the step; hence the
		// next round.
		results := map[ad.Ref][]ad.Ref{}
		changed := len(chosen) > 0
		within := func(b *ad.Graph, step bool) *ad.Graph {
			c := ifConvertIn(b, step)
			changed = changed || c != b
			return c
		}
		inner := func(b *ad.Graph) *ad.Graph { return within(b, step) }
		to := rebuildTo(g.Sibling(), g, inner, func(w *ad.Rewriter, r ad.Ref, n *ad.Node, attr any, args []ad.Ref) ad.Ref {
			if n.Op == ad.OpResult && chosen[n.Args[0]] {
				return results[n.Args[0]][n.ResultIndex()]
			}
			if !chosen[r] {
				if s, ok := attr.(*ad.Scan); ok && !step {
					c := *s
					c.Body = within(s.Body, true)
					attr = &c
				}
				return w.Same(n, attr, args)
			}
			f := n.Attr.(*ad.If)
			then, otherwise := w.To.Inline(f.Then, args[1:], true), w.To.Inline(f.Else, args[1:], true)
			for k := range then {
				// What reads no lanes has none of itself.
				chosen := w.To.Select(args[0], then[k], otherwise[k])
				if n.Type.Lanes > 0 {
					chosen = w.To.Spread(chosen, n.Type.Lanes)
				}
				results[r] = append(results[r], chosen)
			}
			return args[0]
		})
		if !changed {
			return g
		}
		if g = to; len(chosen) == 0 {
			return g
		}
	}
}

// sideCost is what is left of the cost that a side of a conditional may have in each
// lane, in nanoseconds; negative if that is exceeded, or if the side is more than
// elementwise ops that have machine code.
func sideCost(g *ad.Graph, left float64) float64 {
	if len(g.SideEffects) > 0 {
		return -1
	}
	for i := range g.Nodes {
		n := &g.Nodes[i]
		switch n.Op {
		case ad.OpConst, ad.OpInput, ad.OpResult:
			continue
		case ad.OpIf:
			f := n.Attr.(*ad.If)
			if left = sideCost(f.Then, left); left >= 0 {
				left = sideCost(f.Else, left)
			}
		default:
			row := ops.Of(n.Op)
			if n.Type.Total() != 1 || row.Text == nil || n.Op == ad.OpCheck {
				return -1
			}
			left -= 0.3 + row.Cost
		}
		if left < 0 {
			return left
		}
	}
	return left
}
