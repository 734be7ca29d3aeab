package vm

import (
	"slices"

	"github.com/ppl-lang/ppl/ad"
)

// schedule calls block with the nodes of one block after another, in an order
// that computes every node after what it depends on.
//
// Nodes of n elements that read each other element by element may stand in one
// block of strips, and scalar nodes in one block of scalar code. The more a
// block holds the less goes through memory, so a block takes every node that is
// ready or becomes so by the block's own nodes, and what runs alone and scalars
// go first, because they may make more nodes ready. Among strips, the size on
// the longest way to the end goes first and the others wait.
func (x *context) schedule(block func(nodes []int32)) {
	done := 0
	x.link()
	var single, scalar, strips []int32
	ready := func(i int32) {
		switch n := &x.nodes[i]; {
		case n.kind > accNode:
			single = append(single, i)
		case n.n == 1:
			scalar = append(scalar, i)
		default:
			strips = append(strips, i)
		}
	}
	for i := range x.nodes {
		if x.nodes[i].deps == 0 {
			ready(int32(i))
		}
	}
	count := int32(0)
	run := func(first []int32, same func(n *node) bool) {
		nodes := first
		for k := 0; k < len(nodes); k++ {
			x.nodes[nodes[k]].block = count
			for _, s := range x.nodes[nodes[k]].succs {
				q := &x.nodes[s>>1]
				q.deps--
				if s&1 == 0 {
					q.barrier = count
				}
				if q.deps > 0 {
					continue
				}
				if same(q) && q.barrier != count {
					nodes = append(nodes, s>>1)
				} else {
					ready(s >> 1)
				}
			}
		}
		slices.Sort(nodes)
		done += len(nodes)
		block(nodes)
		count++
	}
	never := func(*node) bool { return false }
	for {
		switch {
		case len(scalar) > 0:
			first := scalar
			scalar = nil
			run(first, func(n *node) bool { return n.kind <= accNode && n.n == 1 })
		case len(single) > 0:
			first := single[0]
			single = single[1:]
			run([]int32{first}, never)
		case len(strips) > 0:
			best := strips[0]
			for _, i := range strips {
				if a, b := &x.nodes[i], &x.nodes[best]; a.height > b.height || a.height == b.height && a.n > b.n {
					best = i
				}
			}
			size := x.nodes[best].n
			var first, rest []int32
			for _, i := range strips {
				if x.nodes[i].n == size {
					first = append(first, i)
				} else {
					rest = append(rest, i)
				}
			}
			strips = rest
			run(first, func(n *node) bool { return n.kind <= accNode && n.n == size })
		default:
			if done < len(x.nodes) {
				x.fault("%d of %d nodes scheduled", done, len(x.nodes))
			}
			return
		}
	}
}

// elementwiseUse reports whether node q reads its argument k element by
// element, all of the root.
func (x *context) elementwiseUse(q *node, k int) bool {
	a := q.args[k]
	return (q.kind == elemNode || q.kind == accNode) && q.n > 1 && a.n == q.n && a.off == 0 && x.roots[a.root].n == q.n
}

// link finds what depends on what, who reads which root, and heights: the
// number of blocks that must follow.
func (x *context) link() {
	for i := range x.nodes {
		n := &x.nodes[i]
		n.barrier = -1
		edge := func(from int32, fuse int32) {
			p := &x.nodes[from]
			p.succs = append(p.succs, int32(i)<<1|fuse)
			n.deps++
		}
		for k, a := range n.args {
			r := &x.roots[a.root]
			if r.ctx != x {
				r.shared = true
				continue
			}
			whole := x.elementwiseUse(n, k)
			if whole {
				r.users = append(r.users, int32(i))
			} else {
				r.shared = true
			}
			for _, m := range r.makers {
				p := &x.nodes[m]
				fuse := int32(0)
				if n.n == 1 && n.kind <= accNode && p.n == 1 && p.kind <= accNode ||
					whole && p.n == n.n && p.kind <= loadNode && p.dst == a.root {
					fuse = 1
				}
				edge(m, fuse)
			}
		}
		if n.after >= 0 {
			p := &x.nodes[n.after]
			if n.n == 1 && n.kind <= accNode && p.n == 1 && p.kind <= accNode {
				edge(n.after, 1)
			} else {
				edge(n.after, 0)
			}
		}
	}
	for i := len(x.nodes) - 1; i >= 0; i-- {
		n := &x.nodes[i]
		for _, s := range n.succs {
			n.height = max(n.height, x.nodes[s>>1].height+1-s&1)
		}
	}
}

// group orders the nodes of a block of scalar code so that equal ops follow
// each other: the processor guesses the next jump of the interpreter from the
// last ones.
func (x *context) group(nodes []int32) []int32 {
	if len(nodes) < 3 {
		return nodes
	}
	id := x.nodes[nodes[0]].block
	deps := map[int32]int32{}
	for _, i := range nodes {
		for _, s := range x.nodes[i].succs {
			if x.nodes[s>>1].block == id {
				deps[s>>1]++
			}
		}
	}
	ready := map[ad.OpCode][]int32{}
	key := func(i int32) ad.OpCode {
		n := &x.nodes[i]
		if n.kind == accNode && !n.store {
			return ad.OpAdd
		}
		return n.op
	}
	for _, i := range nodes {
		if deps[i] == 0 {
			ready[key(i)] = append(ready[key(i)], i)
		}
	}
	out := make([]int32, 0, len(nodes))
	for len(out) < len(nodes) {
		var best ad.OpCode
		most := 0
		for op, is := range ready {
			if len(is) > most || len(is) == most && op < best {
				best, most = op, len(is)
			}
		}
		for len(ready[best]) > 0 {
			is := ready[best]
			ready[best] = nil
			out = append(out, is...)
			for _, i := range is {
				for _, s := range x.nodes[i].succs {
					q := s >> 1
					if x.nodes[q].block != id {
						continue
					}
					if deps[q]--; deps[q] == 0 {
						ready[key(q)] = append(ready[key(q)], q)
					}
				}
			}
		}
		delete(ready, best)
	}
	return out
}
