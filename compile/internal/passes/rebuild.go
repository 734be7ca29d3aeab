package passes

import (
	"slices"

	"github.com/ppl-lang/ppl/ad"
	"github.com/ppl-lang/ppl/compile/internal/loopnest"
)

// replaceRegions copies g. replace may write a region out in another way. It returns the new node
// and its results, None for those that nothing reads. With nil results, the node is copied, with
// the attributes same. used says which results are read. inner is as in rebuild.
func replaceRegions(g *ad.Graph, inner func(*ad.Graph) *ad.Graph,
	replace func(to *ad.Graph, n *ad.Node, attr any, args []ad.Ref, used []bool) (made ad.Ref, results []ad.Ref, same any)) *ad.Graph {
	used := loopnest.UsedResults(g, g.Live(g.Outputs, true))
	replaced := map[ad.Ref][]ad.Ref{}
	return rebuildTo(g.Sibling(), g, inner, func(w *ad.Rewriter, r ad.Ref, n *ad.Node, attr any, args []ad.Ref) ad.Ref {
		if n.Op == ad.OpResult && replaced[n.Args[0]] != nil {
			return replaced[n.Args[0]][n.ResultIndex()]
		}
		made, results, same := replace(w.To, n, attr, args, used[r])
		if results == nil {
			return w.Same(n, same, args)
		}
		replaced[r] = results
		return made
	})
}

// rebuild copies g. node makes the counterpart of a node, from the counterparts of its arguments;
// inputs and constants are copied. inner rebuilds bodies of regions; nil copies them unchanged.
// Unneeded nodes are dropped.
func rebuild(o *Options, g *ad.Graph, inner func(*ad.Graph, *Options) *ad.Graph, node func(w *ad.Rewriter, r ad.Ref, n *ad.Node, attr any, args []ad.Ref) ad.Ref) *ad.Graph {
	var body func(*ad.Graph) *ad.Graph
	if inner != nil {
		body = func(g *ad.Graph) *ad.Graph { return inner(g, o) }
	}
	return rebuildTo(o.empty(), g, body, node)
}

// empty returns a graph with the budget of the options. It is not a sibling of the rebuilt graph:
// bodies are shared by graphs made at other times, with other budgets.
func (o *Options) empty() *ad.Graph {
	g := ad.NewGraph()
	g.Use(o.Budget)
	return g
}

// rebuildTo is rebuild, into an empty graph.
func rebuildTo(to, g *ad.Graph, inner func(*ad.Graph) *ad.Graph, node func(w *ad.Rewriter, r ad.Ref, n *ad.Node, attr any, args []ad.Ref) ad.Ref) *ad.Graph {
	w := ad.NewRewriter(g, to)
	w.Body, w.Keep = inner, mustRun
	w.Node = func(r ad.Ref, n *ad.Node, attr any, args []ad.Ref) ad.Ref { return node(w, r, n, attr, args) }
	w.To.Expect(len(g.Nodes) + len(g.Nodes)/8)
	w.Inputs()
	w.Run(g.Live(g.Outputs, true))
	for _, r := range g.Outputs {
		w.To.Output(w.At(r))
	}
	return w.To
}

// mustRun reports whether a node without side effects must run even if nothing reads its value: it
// draws random numbers, or may fail.
func mustRun(n *ad.Node) bool { return loopnest.MayFail(n) }

// has reports whether the graph or a region in it has a node with this op.
func has(g *ad.Graph, op ad.OpCode) bool {
	return slices.ContainsFunc(g.Nodes, func(n ad.Node) bool {
		return n.Op == op || slices.ContainsFunc(n.Bodies(), func(b *ad.Graph) bool { return has(b, op) })
	})
}

// uniform returns the single number that all elements of r equal, if there is one.
func uniform(g *ad.Graph, r ad.Ref) (ad.Ref, bool) {
	n := &g.Nodes[r]
	if n.Type.Total() == 1 {
		if n.Type.Lanes > 0 {
			return ad.None, false
		}
		return g.Reshape(r, nil), true
	}
	switch n.Op {
	case ad.OpConst:
		for _, v := range n.Data {
			if v != n.Data[0] {
				return ad.None, false
			}
		}
		return g.Const(n.Data[0]), len(n.Data) > 0
	case ad.OpReshape, ad.OpLane, ad.OpUnlane, ad.OpGather:
		return uniform(g, n.Args[0])
	}
	return ad.None, false
}
