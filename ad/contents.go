package ad

import (
	"slices"
	"sync"
)

// This file: what a graph consists of, with the regions in it. Passes ask this of bodies at every
// level of nesting. A body is complete when it becomes part of a region, so the answer is computed
// then, from those of the regions in it. Without this, each question would walk all levels below,
// and binding deeply nested conditionals would take time that grows with the square of the depth.

// contents says what a graph and the regions in it consist of.
type contents struct {
	ops     [(numOps + 63) / 64]uint64 // the ops of all nodes
	acts    bool                       // there are side effects
	mayFail bool                       // a node that is needed may fail, or keeps its order among side effects
	loops   int                        // depth of nested while loops, without those built by derivatives

	mu    sync.Mutex        // bodies are shared by graphs that are built at the same time
	reach map[string][]bool // by marked inputs: the outputs that depend on them
}

// contents returns what the graph consists of. It does not walk into regions, whose contents are
// known.
func (g *Graph) contents() *contents {
	if g.known != nil {
		return g.known
	}
	c := &contents{acts: len(g.SideEffects) > 0}
	live := g.Live(g.Outputs, true)
	for i := range g.Nodes {
		n := &g.Nodes[i]
		c.ops[n.Op/64] |= 1 << (n.Op % 64)
		c.mayFail = c.mayFail || live[i] && n.MayFail()
		loops := 0
		for _, b := range n.Bodies() {
			inner := b.contents()
			for k, ops := range inner.ops {
				c.ops[k] |= ops
			}
			c.acts = c.acts || inner.acts
			loops = max(loops, inner.loops)
		}
		if w, ok := n.Attr.(*While); ok && !w.derived {
			loops++
		}
		c.loops = max(c.loops, loops)
	}
	return c
}

// complete notes the contents of the bodies of a region, which do not change any more.
func complete(attr any) {
	if a, ok := attr.(RegionAttr); ok {
		for _, b := range a.Layout().Bodies {
			if b.known == nil {
				b.known = b.contents()
			}
		}
	}
}

// reached returns the outputs that depend on the marked inputs, as find finds them. A body of a
// region keeps them; nobody changes them.
func (g *Graph) reached(marked []bool, find func() []bool) []bool {
	c := g.known
	if c == nil {
		return find()
	}
	key := make([]byte, len(marked))
	for i, m := range marked {
		if m {
			key[i] = 1
		}
	}
	c.mu.Lock()
	out, ok := c.reach[string(key)]
	c.mu.Unlock()
	if !ok {
		out = find()
		c.mu.Lock()
		if c.reach == nil {
			c.reach = map[string][]bool{}
		}
		c.reach[string(key)] = out
		c.mu.Unlock()
	}
	return out
}

// Has reports whether the graph or a region in it has a node with this op.
func (g *Graph) Has(op OpCode) bool { return g.contents().has(op) }

func (c *contents) has(op OpCode) bool { return c.ops[op/64]&(1<<(op%64)) != 0 }

// MayFail reports whether the node must keep its order among side effects: it has some, draws
// random numbers or may fail.
func (n *Node) MayFail() bool {
	row := &table[n.Op]
	switch row.Class {
	case Effect, Random:
		return true
	case Array:
		return !row.Total
	case Region:
		return slices.ContainsFunc(n.Bodies(), func(b *Graph) bool { return b.contents().mayFail })
	}
	return false
}

// Draws reports whether the node or one of its sub-graphs draws random numbers.
func (n *Node) Draws() bool {
	return table[n.Op].Class == Random || slices.ContainsFunc(n.Bodies(), func(b *Graph) bool {
		for op := OpInvalid; op < numOps; op++ {
			if table[op].Class == Random && b.Has(op) {
				return true
			}
		}
		return false
	})
}
