package passes

import (
	"github.com/ppl-lang/ppl/ad"
	"github.com/ppl-lang/ppl/compile/internal/loopnest"
)

// rebuilder makes a copy of a graph, node by node, in which a pass may put other
// expressions in the place of nodes. What nobody needs is left out.
type rebuilder struct {
	old, g *ad.Graph
	to     []ad.Ref // counterparts in g
	large  bool
}

// largeGraph is the number of nodes from which nodes that a pass leaves as they
// are are copied without looking for equal ones among the new: ten times as
// fast, which counts where a loop was unrolled to a million ops.
const largeGraph = 50_000

// copy is the counterpart of a node that the pass leaves as it is.
func (b *rebuilder) copy(n *ad.Node, attr any, args []ad.Ref) ad.Ref {
	if !b.large {
		return b.g.Do(n.Op, attr, args...)
	}
	b.g.Nodes = append(b.g.Nodes, ad.Node{Op: n.Op, Type: n.Type, Args: args, Attr: attr, Site: n.Site})
	r := ad.Ref(len(b.g.Nodes) - 1)
	if n.Op.Row().Class == ad.Effect {
		b.g.Effects = append(b.g.Effects, r)
	}
	return r
}

// rebuild copies g; node makes the counterpart of a node that is neither input
// nor constant, from the counterparts of its arguments. Bodies of regions are
// rebuilt by inner, on their own.
func rebuild(g *ad.Graph, inner func(*ad.Graph) *ad.Graph, node func(b *rebuilder, r ad.Ref, n *ad.Node, attr any, args []ad.Ref) ad.Ref) *ad.Graph {
	b := &rebuilder{old: g, g: ad.NewGraph(), to: make([]ad.Ref, len(g.Nodes)), large: len(g.Nodes) > largeGraph}
	for i := range b.to {
		b.to[i] = ad.None
	}
	b.g.Nodes = make([]ad.Node, 0, len(g.Nodes)+len(g.Nodes)/8)
	var slab []ad.Ref // of which arguments are cut
	for _, r := range g.Inputs {
		b.g.SetSite(g.Nodes[r].Site)
		b.to[r] = b.g.Input(g.Nodes[r].Type)
	}
	for i, live := range g.Live(g.Outputs, true) {
		n := &g.Nodes[i]
		if !live || b.to[i] != ad.None {
			continue
		}
		b.g.SetSite(n.Site)
		if n.Op == ad.OpConst {
			b.to[i] = b.g.ConstArray(n.Type, n.Data)
			continue
		}
		attr := n.Attr
		switch a := n.Attr.(type) {
		case *ad.Scan:
			s := *a
			s.Body = inner(a.Body)
			attr = &s
		case *ad.If:
			attr = &ad.If{Then: inner(a.Then), Else: inner(a.Else)}
		case *ad.While:
			w := *a
			w.Cond, w.Body = inner(a.Cond), inner(a.Body)
			attr = &w
		}
		k := len(n.Args)
		if len(slab) < k {
			slab = make([]ad.Ref, max(k, min(1<<14, len(g.Nodes))))
		}
		args := slab[:k:k]
		slab = slab[k:]
		for k, a := range n.Args {
			args[k] = b.to[a]
		}
		b.to[i] = node(b, ad.Ref(i), n, attr, args)
		keepLive(b.g, n, b.to[i])
	}
	for _, r := range g.Outputs {
		b.g.Output(b.to[r])
	}
	return b.g
}

// keepLive makes r, the counterpart of n, run even if nobody reads its value
// any more, where that would be missed: numbers drawn, possible errors.
func keepLive(g *ad.Graph, n *ad.Node, r ad.Ref) {
	if loopnest.MayFail(n) && n.Op.Row().Class != ad.Effect {
		g.Effects = append(g.Effects, r)
	}
}

// uniform finds the single number that all elements of r are.
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
