package loopnest

import (
	"slices"

	"github.com/ppl-lang/ppl/ad"
	"github.com/ppl-lang/ppl/compile/internal/ops"
)

// JoinProducts joins a product with the sum or difference that is its only reader. It also joins
// logarithms with their sum, which then takes one logarithm of a product.
func JoinProducts(p *Program) {
	uses := p.uses()
	p.Bodies(func(b *Body) { b.joinProducts(uses) })
}

func (b *Body) joinProducts(uses []int32) {
	dead, moved := make([]bool, len(b.Nodes)), false
	product := func(a Value, n int) (a1, a2 Value, p int32, ok bool) {
		r := &b.Buffers[a.Buf]
		if r.Shared || r.In != None || uses[a.Buf] != 1 || b.maker(a) == nil {
			return
		}
		p = r.Makers[0]
		m := &b.Nodes[p]
		if m.N != n {
			return
		}
		switch m.Op {
		case ad.OpMul:
			a1, a2 = m.Args[0], m.Args[1]
			if a1.N < a2.N {
				a1, a2 = a2, a1
			}
			return a1, a2, p, true
		case ad.OpSquare:
			return m.Args[0], m.Args[0], p, true
		}
		return
	}
	for i := range b.Nodes {
		if b.joinSums(int32(i), uses) {
			dead[i], moved = true, true
		}
	}
	for i := range b.Nodes {
		n := &b.Nodes[i]
		if dead[i] {
			continue
		}
		switch {
		case n.Kind == Elementwise && (n.Op == ad.OpAdd || n.Op == ad.OpSub):
			for k := 1; k >= 0; k-- {
				if n.Args[k].N != n.N {
					continue
				}
				x, y, p, ok := product(n.Args[k], n.N)
				if !ok {
					continue
				}
				switch {
				case n.Op == ad.OpAdd:
					n.Op = ops.MulAdd
				case k == 0:
					n.Op = ops.MulSub
				default:
					n.Op = ops.SubMul
				}
				n.Args = append(b.operands(3), x, y, n.Args[1-k])
				dead[p] = true
				break
			}
		case n.Kind == Elementwise && n.Op == ad.OpNot && n.N > 1 && n.Args[0].N == n.N:
			a := n.Args[0]
			if m := b.maker(a); m != nil && m.Op == ad.OpLessEqual && uses[a.Buf] == 1 && !b.Buffers[a.Buf].Shared && b.Buffers[a.Buf].In == None {
				dead[b.Buffers[a.Buf].Makers[0]] = true
				n.Op, n.Args = ops.NotLessEqual, m.Args
			}
		case n.Kind == Accumulate && !n.Store && n.N > 1 && n.Map.Uniform():
			if a := n.Args[0]; n.Op == ad.OpScatter && uses[a.Buf] == 1 && !b.Buffers[a.Buf].Shared && b.Buffers[a.Buf].In == None {
				if m := b.maker(a); m != nil && m.Op == ad.OpLog && m.N == n.N && m.Args[0].N == n.N {
					dead[b.Buffers[a.Buf].Makers[0]] = true
					n.Op, n.Args = ops.SumLog, m.Args
					continue
				}
				if b.splitLogistic(n, uses) {
					moved = true
					continue
				}
			}
			if x, y, p, ok := product(n.Args[0], n.N); ok && x.N == y.N {
				n.Op = ops.Dot
				n.Args = append(b.operands(2), x, y)
				dead[p] = true
			}
		}
	}
	if moved {
		b.renumber()
	}
	b.drop(dead)
}

// joinSums replaces node k by one sum over all elements, if it only adds up several sums, such as
// those of groups. The nodes that make these sums then make the sum that k made. That may be one of
// several that another node adds up.
func (b *Body) joinSums(k int32, uses []int32) bool {
	n := &b.Nodes[k]
	plain := func(n *Node) bool { return n.Kind == Accumulate && n.Op == ad.OpScatter && !n.Store && n.N > 1 }
	if !plain(n) || !n.Map.Uniform() {
		return false
	}
	a := n.Args[0]
	d := &b.Buffers[a.Buf]
	if d.Body != b || d.Kept || d.Shared || d.In != None || uses[a.Buf] != 1 || a.N != d.N || a.Rep || len(d.Makers) == 0 {
		return false
	}
	for _, i := range d.Makers {
		if m := &b.Nodes[i]; !plain(m) || m.Dst != a.Buf {
			return false
		}
	}
	for _, i := range d.Makers {
		m := &b.Nodes[i]
		m.Dst, m.Map = n.Dst, Map{Off: n.Map.Off, Dims: []ad.Dim{{N: m.N}}, N: m.N}
	}
	if total := &b.Buffers[n.Dst]; total.Body == b {
		others := slices.DeleteFunc(slices.Clone(total.Makers), func(i int32) bool { return i == k })
		total.Makers = append(others, d.Makers...)
	}
	d.Makers = nil
	return true
}

// splitLogistic splits the sum of max(x, y) + log1p(e), for e = exp(-|x-y|), into two sums; the
// second takes one logarithm of a product.
func (b *Body) splitLogistic(n *Node, uses []int32) bool {
	alone := func(v Value, what ...ad.OpCode) *Node {
		m := b.maker(v)
		if r := &b.Buffers[v.Buf]; m == nil || uses[v.Buf] != 1 || r.Shared || r.In != None || m.N != n.N || !slices.Contains(what, m.Op) {
			return nil
		}
		return m
	}
	m := alone(n.Args[0], ops.MaxPlus0, ops.MaxPlus)
	if m == nil {
		return false
	}
	last := len(m.Args) - 1
	l := alone(m.Args[last], ad.OpLog1p)
	if l == nil {
		return false
	}
	if e := b.maker(l.Args[0]); e == nil || e.N != n.N || e.Op != ops.ExpNegAbs && e.Op != ops.ExpNegDiff {
		return false
	}
	l.Kind, l.Op, l.Dst, l.Map = Accumulate, ops.SumLog1p, n.Dst, n.Map
	m.Args = append([]Value(nil), m.Args[:last]...)
	if m.Op == ops.MaxPlus0 {
		m.Args = append(m.Args, b.Constant(0))
	}
	m.Op = ops.MaxOf
	return true
}

// PlaceParts is buffer placement: if a value is computed only to be stored in a part of an array,
// it is computed there.
func PlaceParts(p *Program) { p.Bodies((*Body).placeParts) }

func (b *Body) placeParts() {
	dead := make([]bool, len(b.Nodes))
	for i := range b.Nodes {
		n := &b.Nodes[i]
		if n.Kind != Accumulate || !n.Store || !n.Map.Contiguous() || b.Buffers[n.Dst].Body != b {
			continue
		}
		v := n.Args[0]
		r := &b.Buffers[v.Buf]
		if r.Body == b && !r.Kept && r.In == None && r.Data == nil && v.Off == 0 && v.N == r.N && len(r.Makers) > 0 {
			r.In, r.At = n.Dst, n.Map.Off
			dead[i] = true
		}
	}
	b.drop(dead)
}
