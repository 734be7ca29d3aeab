package loopnest

import (
	"slices"

	"github.com/ppl-lang/ppl/ad"
)

// FormBlocks puts every node into a block, in an order that computes every node after its operands.
// Without fuse, every node gets its own block.
//
// Nodes of n elements that read each other element by element may share a block of n lanes; scalar
// nodes may share a block of scalar code. Larger blocks move less data through memory. So a block
// takes every node whose operands are known, or are computed by the block itself. Nodes that run
// alone and scalars go first, because others may wait for them. Among maps, the size on the longest
// path to the end goes first.
//
// A buffer that is read only by nodes of the block that writes it, element by element, is Local.
func FormBlocks(p *Program, fuse bool) {
	p.Bodies(func(b *Body) {
		s := &scheduler{Body: b, fuse: fuse, state: make([]nodeState, len(b.Nodes))}
		b.Blocks = nil
		s.link()
		s.schedule()
		s.locals()
	})
}

type nodeState struct {
	block   int32 // the block in which it runs
	barrier int32 // the block in which it cannot run, because a node before it does
	height  int32
	deps    int32   // number of nodes that must run before and have not run yet
	succs   []int32 // indices of dependent nodes, times two, plus 1 if the node may be in the same block
}

type scheduler struct {
	*Body
	fuse    bool
	state   []nodeState
	updates bool // readBeforeUpdates has added dependences
}

// block appends a block of nodes.
func (s *scheduler) block(nodes []int32) {
	n := &s.Nodes[nodes[0]]
	k := Block{Kind: MapBlock, N: n.N, Nodes: nodes}
	switch {
	case n.Kind > Accumulate:
		k.Kind = SingleBlock
	case n.N == 1:
		k.Kind = ScalarBlock
	}
	s.Blocks = append(s.Blocks, k)
}

func (s *scheduler) schedule() {
	done := 0
	var single, scalar, maps []int32
	ready := func(i int32) {
		switch n := &s.Nodes[i]; {
		case n.Kind > Accumulate:
			single = append(single, i)
		case n.N == 1:
			scalar = append(scalar, i)
		default:
			maps = append(maps, i)
		}
	}
	for i := range s.Nodes {
		if s.state[i].deps == 0 {
			ready(int32(i))
		}
	}
	count := int32(0)
	run := func(first []int32, same func(n *Node) bool) {
		nodes := first
		for k := 0; k < len(nodes); k++ {
			s.state[nodes[k]].block = count
			for _, to := range s.state[nodes[k]].succs {
				q := &s.state[to>>1]
				q.deps--
				if to&1 == 0 {
					q.barrier = count
				}
				if q.deps > 0 {
					continue
				}
				if same(&s.Nodes[to>>1]) && q.barrier != count {
					nodes = append(nodes, to>>1)
				} else {
					ready(to >> 1)
				}
			}
		}
		slices.Sort(nodes)
		done += len(nodes)
		s.block(nodes)
		count++
	}
	never := func(*Node) bool { return false }
	for {
		switch {
		case !s.fuse && len(scalar)+len(single)+len(maps) > 0:
			all := slices.Concat(scalar, single, maps)
			scalar, single, maps = nil, nil, nil
			for _, i := range all {
				run([]int32{i}, never)
			}
		case len(scalar) > 0:
			first := scalar
			scalar = nil
			run(first, func(n *Node) bool { return n.Kind <= Accumulate && n.N == 1 })
		case len(single) > 0:
			first := single[0]
			single = single[1:]
			run([]int32{first}, never)
		case len(maps) > 0:
			best := maps[0]
			for _, i := range maps {
				if a, b := s.state[i].height, s.state[best].height; a > b || a == b && s.Nodes[i].N > s.Nodes[best].N {
					best = i
				}
			}
			size := s.Nodes[best].N
			var first, rest []int32
			for _, i := range maps {
				if s.Nodes[i].N == size {
					first = append(first, i)
				} else {
					rest = append(rest, i)
				}
			}
			maps = rest
			run(first, func(n *Node) bool { return n.Kind <= Accumulate && n.N == size })
		default:
			if done < len(s.Nodes) {
				faultf("%d of %d nodes scheduled", done, len(s.Nodes))
			}
			return
		}
	}
}

// sameBlock reports whether node q may be in the block of p. p computes argument k of q; if k is
// negative, both are checks, of which p must run first.
func (b *Body) sameBlock(p, q *Node, k int) bool {
	if p.Kind > Accumulate || q.Kind > Accumulate {
		return false
	}
	return p.N == 1 && q.N == 1 || k < 0 && p.N == q.N ||
		k >= 0 && b.perElement(q, k) && p.N == q.N && p.Kind <= Load && p.Dst == q.Args[k].Buf
}

// link finds the nodes that must run before others, and the height of each node: the number of
// blocks that must follow it.
//
// Sums into slices of one array that are a few elements apart, as in the derivative of a difference
// x[2:n] - x[1:n-1], get separate blocks. In one loop, a vector would be loaded from the bytes of
// two recent stores, and the processor waits until both have left its store buffer.
func (s *scheduler) link() {
	added := map[BufferID][]int32{} // for each buffer, the sums into slices of it
	const some = 3                  // most nodes have no more successors than this
	room := make([]int32, some*len(s.Nodes))
	for i := range s.state {
		s.state[i].succs = room[some*i : some*i : some*(i+1)]
	}
	for i := range s.Nodes {
		n, st := &s.Nodes[i], &s.state[i]
		st.barrier = -1
		edge := func(from int32, k int) {
			to := int32(i) << 1
			if s.sameBlock(&s.Nodes[from], n, k) {
				to |= 1
			}
			s.state[from].succs = append(s.state[from].succs, to)
			st.deps++
		}
		for k, a := range n.Args {
			if r := &s.Buffers[a.Buf]; r.Body == s.Body {
				for _, m := range r.Makers {
					edge(m, k)
				}
			}
		}
		if n.After >= 0 {
			edge(n.After, -1)
		}
		if n.Kind == Accumulate && n.N >= shortShift && n.Map.Contiguous() {
			for _, m := range added[n.Dst] {
				if d := n.Map.Off - s.Nodes[m].Map.Off; d != 0 && max(d, -d) < farShift {
					s.state[m].succs = append(s.state[m].succs, int32(i)<<1)
					st.deps++
				}
			}
			added[n.Dst] = append(added[n.Dst], int32(i))
		}
	}
	s.readBeforeUpdates()
	order := make([]int32, len(s.Nodes))
	for i := range order {
		order[i] = int32(i)
	}
	if s.updates {
		order = s.topological()
	}
	for _, i := range slices.Backward(order) {
		st := &s.state[i]
		for _, to := range st.succs {
			st.height = max(st.height, s.state[to>>1].height+1-to&1)
		}
	}
}

// maxUpdateVisits bounds the nodes that readBeforeUpdates visits in a body.
const maxUpdateVisits = 1 << 16

// readBeforeUpdates makes steps of a region read an array before a node changes elements of it,
// where that is possible. Otherwise the node would have to change a copy of the array.
func (s *scheduler) readBeforeUpdates() {
	if s.Region == nil {
		return
	}
	readers := map[BufferID][]int32{}
	var updates []int32
	for i := range s.Nodes {
		n := &s.Nodes[i]
		update := n.Kind == Array && (n.Op == ad.OpReplace || n.Op == ad.OpAddAt)
		if update {
			updates = append(updates, int32(i))
		}
		for k, a := range n.Args {
			if !update || k > 0 {
				readers[a.Buf] = append(readers[a.Buf], int32(i))
			}
		}
	}
	left := maxUpdateVisits
	for _, u := range updates {
		for _, r := range readers[s.Nodes[u].Args[0].Buf] {
			if r != u && !slices.Contains(s.state[r].succs, u<<1) && !s.reaches(u, r, &left) {
				s.state[r].succs = append(s.state[r].succs, u<<1)
				s.state[u].deps++
				s.updates = true
			}
		}
	}
}

// reaches reports whether a node must run before another one. It also returns true if it would have
// to visit too many nodes to know.
func (s *scheduler) reaches(from, to int32, left *int) bool {
	seen := map[int32]bool{from: true}
	for list := []int32{from}; len(list) > 0; {
		i := list[len(list)-1]
		list = list[:len(list)-1]
		if *left--; i == to || *left < 0 {
			return true
		}
		for _, next := range s.state[i].succs {
			if !seen[next>>1] {
				seen[next>>1] = true
				list = append(list, next>>1)
			}
		}
	}
	return false
}

// topological returns the nodes in topological order: each comes before those that depend on it.
func (s *scheduler) topological() []int32 {
	deps := make([]int32, len(s.Nodes))
	order := make([]int32, 0, len(s.Nodes))
	for i := range s.Nodes {
		if deps[i] = s.state[i].deps; deps[i] == 0 {
			order = append(order, int32(i))
		}
	}
	for k := 0; k < len(order); k++ {
		for _, to := range s.state[order[k]].succs {
			if deps[to>>1]--; deps[to>>1] == 0 {
				order = append(order, to>>1)
			}
		}
	}
	return order
}

// locals marks the buffers that are read only by the block that writes them.
func (s *scheduler) locals() {
	for i := range s.Nodes {
		if n := &s.Nodes[i]; n.Kind <= Load && n.N > 1 && n.Dst != None {
			r := &s.Buffers[n.Dst]
			r.Local = !s.readElsewhere(n.Dst) && len(r.Makers) == 1
		}
	}
	for i := range s.Nodes {
		n := &s.Nodes[i]
		for k, a := range n.Args {
			if r := &s.Buffers[a.Buf]; r.Local && (r.Body != s.Body || s.reads(n, k) != readsElements || s.state[i].block != s.state[r.Makers[0]].block) {
				r.Local = false
			}
		}
	}
}

// ScheduleScalars is instruction scheduling: it orders the nodes of scalar blocks so that equal ops
// follow each other, because a processor predicts the next jump of an interpreter from the last
// ones.
func ScheduleScalars(p *Program) {
	p.Bodies(func(b *Body) {
		var o orderer
		for i := range b.Blocks {
			if k := &b.Blocks[i]; k.Kind == ScalarBlock && len(k.Nodes) > 2 {
				if o.at == nil {
					o = orderer{Body: b, at: make([]int32, len(b.Nodes))}
				}
				k.Nodes = o.order(k.Nodes)
			}
		}
	})
}

// orderer schedules the scalar blocks of a body.
type orderer struct {
	*Body
	at []int32 // for each node, its index in the block being scheduled, from 1; 0: it is in another block
}

func (o *orderer) order(nodes []int32) []int32 {
	for k, i := range nodes {
		o.at[i] = int32(k + 1)
	}
	// The dependences within the block, in lists by the node that they come from.
	type edge struct{ next, to int32 }
	edges := make([]edge, 1, 2*len(nodes))
	heads, deps := make([]int32, len(nodes)), make([]int32, len(nodes))
	each := func(n *Node, f func(m int32)) {
		for _, a := range n.Args {
			if r := &o.Buffers[a.Buf]; r.Body == o.Body {
				for _, m := range r.Makers {
					f(m)
				}
			}
		}
		if n.After >= 0 {
			f(n.After)
		}
	}
	for k, i := range nodes {
		each(&o.Nodes[i], func(m int32) {
			if from := o.at[m]; from > 0 {
				edges = append(edges, edge{heads[from-1], int32(k)})
				heads[from-1] = int32(len(edges) - 1)
				deps[k]++
			}
		})
	}
	ready := map[ad.OpCode][]int32{}
	add := func(k int32) {
		n := &o.Nodes[nodes[k]]
		op := n.Op
		if n.Kind == Accumulate && !n.Store {
			op = ad.OpAdd
		}
		ready[op] = append(ready[op], k)
	}
	for k := range nodes {
		if deps[k] == 0 {
			add(int32(k))
		}
	}
	out := make([]int32, 0, len(nodes))
	for len(out) < len(nodes) {
		var best ad.OpCode
		most := 0
		for op, ks := range ready {
			if len(ks) > most || len(ks) == most && op < best {
				best, most = op, len(ks)
			}
		}
		for len(ready[best]) > 0 {
			ks := ready[best]
			ready[best] = nil
			for _, k := range ks {
				out = append(out, nodes[k])
				for e := heads[k]; e > 0; e = edges[e].next {
					to := edges[e].to
					if deps[to]--; deps[to] == 0 {
						add(to)
					}
				}
			}
		}
		delete(ready, best)
	}
	for _, i := range nodes {
		o.at[i] = 0
	}
	return out
}
