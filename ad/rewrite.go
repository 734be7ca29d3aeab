package ad

import (
	"maps"
	"slices"
)

// Rewriter copies nodes of one graph to another, in order, with their sites. Inlining and passes
// that rebuild graphs or extract parts of them use it. Hooks may replace nodes by other
// expressions, and sub-graphs by other graphs. The counterpart of a node is the node that takes its
// place.
type Rewriter struct {
	From, To *Graph

	// Node returns the counterpart of node r, which is n and not a constant. attr is its attribute,
	// in which Body has replaced sub-graphs; args are the counterparts of its arguments, which it
	// may keep. The default is Same. It may return None if the counterpart is not needed, or Put it
	// itself.
	Node func(r Ref, n *Node, attr any, args []Ref) Ref

	// Body returns the replacement of a sub-graph of a region. Without it, copies share their
	// sub-graphs.
	Body func(g *Graph) *Graph

	// Outside returns the counterpart of a node that is read but not copied.
	Outside func(r Ref) Ref

	// Keep reports whether the counterpart of a node must run even if nothing reads it, because it
	// has side effects. By default these are the counterparts of From.SideEffects.
	Keep func(n *Node) bool

	to   []Ref
	acts map[Ref]bool
	slab []Ref // memory for arguments of copies
}

// NewRewriter returns a Rewriter without counterparts.
func NewRewriter(from, to *Graph) *Rewriter {
	n := len(from.Nodes)
	room := make([]Ref, n+min(1<<14, n))
	w := &Rewriter{From: from, To: to, to: room[:n:n], slab: room[n:]}
	for i := range w.to {
		w.to[i] = None
	}
	if to.tables.known == nil {
		to.tables = from.tables.clone() // so that equal tables are found by their address
	}
	return w
}

// Put sets x as the counterpart of r.
func (w *Rewriter) Put(r, x Ref) { w.to[r] = x }

// PutAll sets xs as the counterparts of rs.
func (w *Rewriter) PutAll(rs, xs []Ref) {
	for k, r := range rs {
		w.to[r] = xs[k]
	}
}

// Inputs adds copies of the graph's inputs.
func (w *Rewriter) Inputs() {
	for _, r := range w.From.Inputs {
		w.Input(r)
	}
}

// Input adds an input with the type of r.
func (w *Rewriter) Input(r Ref) {
	w.To.site = w.From.Nodes[r].Site
	w.to[r] = w.To.Input(w.From.Nodes[r].Type)
}

// At returns the counterpart of r. If there is none yet, it asks Outside. None: there is none.
func (w *Rewriter) At(r Ref) Ref {
	if w.to[r] == None && w.Outside != nil {
		w.to[r] = w.Outside(r)
	}
	return w.to[r]
}

// All returns the counterparts of a list of nodes.
func (w *Rewriter) All(rs []Ref) []Ref {
	out := make([]Ref, len(rs))
	for k, r := range rs {
		out[k] = w.At(r)
	}
	return out
}

// Run copies those marked nodes that have no counterpart yet.
func (w *Rewriter) Run(marked []bool) {
	old := w.To.site
	defer func() { w.To.site = old }()
	for i, m := range marked {
		if m && w.to[i] == None {
			w.copy(Ref(i))
		}
	}
}

// Reach returns the counterpart of r. First it copies r, and the nodes that r depends on, as far as
// they have no counterpart yet.
func (w *Rewriter) Reach(r Ref) Ref {
	if w.to[r] != None {
		return w.to[r]
	}
	n := &w.From.Nodes[r]
	old := w.To.site
	w.To.site = n.Site
	if w.At(r) == None {
		for _, a := range n.Args {
			w.Reach(a)
		}
		w.copy(r)
	}
	w.To.site = old
	return w.to[r]
}

func (w *Rewriter) copy(r Ref) {
	n := &w.From.Nodes[r]
	w.To.site = n.Site
	if n.Op == OpConst {
		w.to[r] = w.To.ConstArray(n.Type, n.Data)
		return
	}
	k := len(n.Args)
	if len(w.slab) < k {
		w.slab = make([]Ref, max(k, min(1<<14, len(w.to))))
	}
	args := w.slab[:k:k]
	w.slab = w.slab[k:]
	for i, a := range n.Args {
		args[i] = w.At(a)
	}
	attr := n.Attr
	if w.Body != nil {
		attr = withBodies(attr, w.Body)
	}
	var x Ref
	if w.Node != nil {
		x = w.Node(r, n, attr, args)
	} else {
		x = w.Same(n, attr, args)
	}
	if x == None {
		return
	}
	w.to[r] = x
	if table[n.Op].Class != Effect && w.keeps(r, n) {
		w.To.SideEffects = append(w.To.SideEffects, x)
	}
}

func (w *Rewriter) keeps(r Ref, n *Node) bool {
	if w.Keep != nil {
		return w.Keep(n)
	}
	if w.acts == nil {
		w.acts = make(map[Ref]bool, len(w.From.SideEffects))
		for _, e := range w.From.SideEffects {
			w.acts[e] = true
		}
	}
	return w.acts[r]
}

// Same adds a copy of node n to To, with the given attribute and arguments.
func (w *Rewriter) Same(n *Node, attr any, args []Ref) Ref {
	if len(w.to) <= largeGraph {
		return w.To.Do(n.Op, attr, args...)
	}
	r := w.To.push(Node{Op: n.Op, Type: n.Type, Args: args, Attr: attr})
	if table[n.Op].Class == Effect {
		w.To.SideEffects = append(w.To.SideEffects, r)
	}
	return r
}

// Bodies returns the sub-graphs of a region.
func (n *Node) Bodies() []*Graph {
	if a, ok := n.Attr.(RegionAttr); ok {
		return a.Layout().Bodies
	}
	return nil
}

// withBodies returns the attribute of a region with each sub-graph b replaced by f(b). It returns
// attr itself if that changes nothing, or if it is not the attribute of a region.
func withBodies(attr any, f func(*Graph) *Graph) any {
	a, ok := attr.(RegionAttr)
	if !ok {
		return attr
	}
	l := a.Layout()
	bodies := make([]*Graph, len(l.Bodies))
	for i, b := range l.Bodies {
		bodies[i] = f(b)
	}
	if slices.Equal(bodies, l.Bodies) {
		return attr
	}
	l.Bodies = bodies
	return a.With(l)
}

// Fork returns a copy of g that can grow independently; the budget is charged for its memory. Refs
// remain valid in the copy.
func (g *Graph) Fork() *Graph {
	h := g.clone()
	if h.budget != nil {
		h.taken = new(int64)
		for i := range h.Nodes {
			h.take(int64(nodeBytes + 4*len(h.Nodes[i].Args)))
		}
	}
	return h
}

// clone returns a copy of g that can grow independently. Refs remain valid in the copy.
func (g *Graph) clone() *Graph {
	h := *g
	h.Nodes = append([]Node(nil), g.Nodes...)
	h.Inputs, h.Outputs, h.SideEffects = append([]Ref(nil), g.Inputs...), append([]Ref(nil), g.Outputs...), append([]Ref(nil), g.SideEffects...)
	h.kept = append([]any(nil), g.kept...)
	h.cse, h.keys, h.lower = g.cse.clone(), g.keys.clone(), maps.Clone(g.lower)
	h.scratch, h.room, h.small = nil, nil, nil
	h.tables = g.tables.clone()
	return &h
}

// Inline adds a copy of body to g with its inputs replaced, and returns the counterparts of its
// outputs. Because every op maps over lanes, inputs may have lanes even if body's do not. Side
// effects, including those of regions within, are copied only if effects is set.
func (g *Graph) Inline(body *Graph, inputs []Ref, effects bool) []Ref {
	return g.inline(body, inputs, body.Outputs, effects)
}

func (g *Graph) inline(body *Graph, inputs, outputs []Ref, effects bool) []Ref {
	w := NewRewriter(body, g)
	w.PutAll(body.Inputs[:len(inputs)], inputs) // nodes that depend on no input get no lanes
	w.Node = func(_ Ref, n *Node, attr any, args []Ref) Ref {
		if n.Op == OpMatMul {
			m := attr.(MatMulAttr)
			// If an operand has lanes now, matMul may turn them into rows.
			return g.matMul(args[0], args[1], m.TransA, m.TransB)
		}
		return g.Do(n.Op, attr, args...)
	}
	if !effects {
		w.Body = (*Graph).withoutSideEffects
		w.Keep = func(*Node) bool { return false }
	}
	w.Run(body.Live(outputs, effects))
	return w.All(outputs)
}

// withoutSideEffects returns a graph that computes the same again, without carrying out the side
// effects again.
func (g *Graph) withoutSideEffects() *Graph {
	changed := len(g.SideEffects) > 0
	var nodes []Node
	for i := range g.Nodes {
		n := &g.Nodes[i]
		if table[n.Op].Class != Region {
			continue
		}
		if a := withBodies(n.Attr, (*Graph).withoutSideEffects); a != n.Attr {
			if nodes == nil {
				nodes = append(nodes, g.Nodes...)
			}
			nodes[i].Attr, changed = a, true
		}
	}
	if !changed {
		return g
	}
	h := *g
	h.SideEffects, h.scratch, h.room, h.small = nil, nil, nil, nil
	if nodes != nil {
		h.Nodes = nodes
	}
	return &h
}
