package passes

import "github.com/ppl-lang/ppl/ad"

// nestConcats rewrites a concatenation that begins like another one as that one followed by the
// rest. So the versions of an array that grows with every step of an unrolled loop share one array,
// of which each is a prefix. Otherwise each would be put together from all earlier steps, and its
// derivative taken apart again.
func nestConcats(g *ad.Graph) *ad.Graph {
	found := 0
	for i := range g.Nodes {
		if n := &g.Nodes[i]; n.Op == ad.OpConcat && n.Type.Lanes == 0 && len(n.Args) > 2 {
			found++
		}
	}
	if found < 2 {
		return g
	}
	// A trie of the parts of concatenations. next maps a node and a part to the next node; whole
	// has, for each node, the concatenation of the parts on its path.
	type step struct {
		at   int
		part ad.Ref
	}
	next, whole := map[step]int{}, []ad.Ref{ad.None}
	return rebuildTo(g.Sibling(), g, nestConcats, func(w *ad.Rewriter, _ ad.Ref, n *ad.Node, attr any, args []ad.Ref) ad.Ref {
		if n.Op != ad.OpConcat || n.Type.Lanes > 0 {
			return w.Same(n, attr, args)
		}
		at, known := 0, 0
		prefix := ad.Ref(ad.None)
		for k, a := range args {
			for w.To.Nodes[a].Op == ad.OpReshape && w.To.Nodes[a].Type.Lanes == 0 {
				a = w.To.Nodes[a].Args[0]
			}
			to, ok := next[step{at, a}]
			if !ok {
				to = len(whole)
				next[step{at, a}] = to
				whole = append(whole, ad.None)
			}
			if at = to; whole[at] != ad.None {
				known, prefix = k+1, whole[at]
			}
		}
		switch {
		case known == len(args):
			return prefix
		case known > 1:
			args = append([]ad.Ref{prefix}, args[known:]...)
		}
		r := w.To.Concat(args...)
		whole[at] = r
		return r
	})
}
