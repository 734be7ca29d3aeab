package vm

import "github.com/ppl-lang/ppl/ad"

// Ops of the machine's own: two of the graph's at the cost of little more than
// one. (A pass over a strip costs 0.35 to 0.5 ns per element, most of it for
// loading and storing; an instruction of scalar code 3.4 ns, most of it for
// the jump and for waiting for the store of the operand.)
const (
	opMulAdd ad.OpCode = 1<<12 + iota // a·b + c
	opMulSub                          // a·b - c
	opSubMul                          // c - a·b
	opDot                             // sum of a·b, an accNode
)

// fuse joins a product with the sum or difference that alone reads it.
func (x *context) fuse() {
	uses := map[rootID]int{}
	for i := range x.nodes {
		for _, a := range x.nodes[i].args {
			uses[a.root]++
		}
	}
	dead := make([]bool, len(x.nodes))
	product := func(a val, n int) (a1, a2 val, p int32, ok bool) {
		r := &x.roots[a.root]
		if r.shared || r.in != none || uses[a.root] != 1 || len(r.makers) != 1 || r.ctx != x || a.off != 0 || a.n != r.n {
			return
		}
		p = r.makers[0]
		m := &x.nodes[p]
		if m.kind != elemNode || m.n != n {
			return
		}
		switch m.op {
		case ad.OpMul:
			a1, a2 = m.args[0], m.args[1]
			if a1.n < a2.n {
				a1, a2 = a2, a1
			}
			return a1, a2, p, true
		case ad.OpSquare:
			return m.args[0], m.args[0], p, true
		}
		return
	}
	for i := range x.nodes {
		n := &x.nodes[i]
		switch {
		case n.kind == elemNode && (n.op == ad.OpAdd || n.op == ad.OpSub):
			for k := 1; k >= 0; k-- {
				if n.args[k].n != n.n {
					continue
				}
				a, b, p, ok := product(n.args[k], n.n)
				if !ok {
					continue
				}
				switch {
				case n.op == ad.OpAdd:
					n.op = opMulAdd
				case k == 0:
					n.op = opMulSub
				default:
					n.op = opSubMul
				}
				n.args = []val{a, b, n.args[1-k]}
				dead[p] = true
				break
			}
		case n.kind == accNode && !n.store && n.n > 1 && n.m.uniform():
			if a, b, p, ok := product(n.args[0], n.n); ok && a.n == b.n {
				n.op = opDot
				n.args = []val{a, b}
				dead[p] = true
			}
		}
	}
	x.drop(dead)
}

// drop removes dead nodes.
func (x *context) drop(dead []bool) {
	to := make([]int32, len(x.nodes))
	nodes := x.nodes[:0]
	for i, n := range x.nodes {
		to[i] = int32(len(nodes))
		if dead[i] {
			continue
		}
		nodes = append(nodes, n)
	}
	if len(nodes) == len(to) {
		return
	}
	x.nodes = nodes
	for i := range nodes {
		if a := nodes[i].after; a >= 0 {
			nodes[i].after = to[a]
		}
	}
	for i := range x.roots {
		if r := &x.roots[i]; r.ctx == x {
			for k, m := range r.makers {
				r.makers[k] = to[m]
			}
		}
	}
}
