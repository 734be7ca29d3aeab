package ad

import "math/bits"

// A pattern says for every element of a value, over all lanes, on which of the n
// elements of a vector it may depend: row e of n bits. A single row stands for
// all elements.
type pattern struct {
	words int
	rows  []uint64
}

func newPattern(elements, words int) pattern { return pattern{words, make([]uint64, elements*words)} }

// row is that of element e.
func (p pattern) row(e int) []uint64 {
	if len(p.rows) == p.words {
		return p.rows
	}
	return p.rows[e*p.words : (e+1)*p.words]
}

func (p pattern) add(e int, row []uint64) {
	to := p.rows[e*p.words : (e+1)*p.words]
	for i, w := range row {
		to[i] |= w
	}
}

// all is the union of the rows, as a pattern for all elements.
func (p pattern) all() pattern {
	u := newPattern(1, p.words)
	for e := 0; e < len(p.rows); e += p.words {
		u.add(0, p.rows[e:e+p.words])
	}
	return u
}

// each calls f with the numbers of the bits that are set.
func eachBit(row []uint64, f func(int)) {
	for i, w := range row {
		for ; w != 0; w &= w - 1 {
			f(64*i + bits.TrailingZeros64(w))
		}
	}
}

// patterns finds how nodes depend on the elements of wrt, as far as their ops
// tell; what they do not tell counts as dependence. Missing are nodes that do not
// depend on wrt.
func (g *Graph) patterns(outs []Ref, wrt Ref) map[Ref]pattern {
	last := wrt
	for _, r := range outs {
		last = max(last, r)
	}
	active, live := g.dependents([]Ref{wrt}, int(last)+1), g.Live(outs, false)
	n := g.Type(wrt).Size()
	words := (n + 63) / 64
	found := map[Ref]pattern{}
	eye := newPattern(n, words)
	for i := range n {
		eye.rows[i*words+i/64] |= 1 << (i % 64)
	}
	found[wrt] = eye
	for i := int(wrt) + 1; i <= int(last); i++ {
		if active[i] && live[i] && Ref(i) != wrt {
			found[Ref(i)] = g.patternOf(&g.Nodes[i], words, found)
		}
	}
	return found
}

// patternOf is that of a node, from those of its arguments.
func (g *Graph) patternOf(n *Node, words int, found map[Ref]pattern) pattern {
	total := n.Type.Total()
	union := func() pattern { // all elements depend on what any argument depends on
		u := newPattern(1, words)
		for _, a := range n.Args {
			if p, ok := found[a]; ok {
				u.add(0, p.all().rows)
			}
		}
		return u
	}
	if total*words > maxPattern || total == 0 {
		return union()
	}
	lanes, size := max(n.Type.Lanes, 1), n.Type.Size()
	out := newPattern(total, words)
	// from calls f with every lane of the result and the first element of the
	// same lane of an argument.
	from := func(a Ref, f func(lane, first int)) {
		t := g.Type(a)
		for l := range lanes {
			if t.Lanes == 0 {
				f(l, 0)
			} else {
				f(l, l*t.Size())
			}
		}
	}
	switch {
	case table[n.Op].Class == Elementwise:
		for _, a := range n.Args {
			p, ok := found[a]
			if !ok {
				continue
			}
			one := g.Type(a).Size() == 1
			from(a, func(l, first int) {
				for e := range size {
					if one {
						out.add(l*size+e, p.row(first))
					} else {
						out.add(l*size+e, p.row(first+e))
					}
				}
			})
		}
	case n.Op == OpGather:
		p, ix := found[n.Args[0]], n.Attr.(Index)
		from(n.Args[0], func(l, first int) {
			ix.Each(func(pos, elem int) { out.add(l*size+pos, p.row(first+elem)) })
		})
	case n.Op == OpScatter:
		p, ix := found[n.Args[0]], n.Attr.(scatterAttr).Index
		from(n.Args[0], func(l, first int) {
			ix.Each(func(pos, elem int) { out.add(l*size+elem, p.row(first+pos)) })
		})
	case n.Op == OpReshape || n.Op == OpLane || n.Op == OpUnlane:
		return found[n.Args[0]]
	case n.Op == OpConcat:
		offset := 0
		for _, a := range n.Args {
			k := g.Type(a).Size()
			if p, ok := found[a]; ok {
				from(a, func(l, first int) {
					for e := range k {
						out.add(l*size+offset+e, p.row(first+e))
					}
				})
			}
			offset += k
		}
	case n.Op == OpMatMul:
		g.patternOfProduct(n, out, found, from)
	default:
		return union()
	}
	return out
}

// patternOfProduct is that of a matrix product; factors that are known to be 0
// do not count.
func (g *Graph) patternOfProduct(n *Node, out pattern, found map[Ref]pattern, from func(a Ref, f func(lane, first int))) {
	m := n.Attr.(MatMulAttr)
	a, b := n.Args[0], n.Args[1]
	A, B := g.Type(a).Shape, g.Type(b).Shape
	rows, cols, inner, _ := m.dims(A, B)
	at := func(shape []int, trans bool, i, j int) int {
		if trans {
			i, j = j, i
		}
		return i*shape[1] + j
	}
	// factor takes one argument's rows along the products with the other.
	factor := func(r, other Ref, element, otherElement func(i, j, k int) int) {
		p, ok := found[r]
		if !ok {
			return
		}
		known, isKnown := g.Value(other)
		starts := make([]int, max(n.Type.Lanes, 1))
		from(other, func(l, first int) { starts[l] = first })
		from(r, func(l, first int) {
			for i := range rows {
				for k := range inner {
					for j := range cols {
						if isKnown && known[starts[l]+otherElement(i, j, k)] == 0 {
							continue
						}
						out.add((l*rows+i)*cols+j, p.row(first+element(i, j, k)))
					}
				}
			}
		})
	}
	left := func(i, _, k int) int { return at(A, m.TransA, i, k) }
	right := func(_, j, k int) int { return at(B, m.TransB, k, j) }
	factor(a, b, left, right)
	factor(b, a, right, left)
}
