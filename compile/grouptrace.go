package compile

import (
	"slices"

	"github.com/ppl-lang/ppl/ad"
)

// This file follows elements of the unconstrained point through a graph, for groups.go: it finds
// the values that are such an element, its exponential, or its product with a scale.

// maxTraced is the largest number of elements of a value that is traced.
const maxTraced = 1 << 21

// tracer follows elements of the point through a graph.
type tracer struct {
	g       *ad.Graph
	origins map[ad.Ref][]origin
	moves   map[ad.Ref]moves
	places  map[int]element // what is added to products with elements of the point, by element
	mixed   map[int]bool    // elements to whose products different values are added
	seen    map[int]origin  // products, by element of the point
	others  map[int][]term  // the other terms of sums of products
	sites   map[int]ad.Site
	zeros   func(r ad.Ref) []bool
}

// element is one element of a node.
type element struct {
	ref ad.Ref
	at  int
}

// origin describes an element of a value: it is element i of the point, or computed from it in a
// way that can be shifted and scaled.
type origin struct {
	i     int32 // -1: it is not
	how   manner
	scale element // the scale, if how is scaled
}

type manner uint8

const (
	asItIs      manner = iota
	exponential        // its exponential
	scaled             // its product with scale
)

// term is the product of a coefficient with element i of the point.
type term struct {
	by element
	i  int
}

// moves says for each element of a node which element of which argument it is.
type moves struct{ arg, from []int32 }

// trace fills in the origins of all live nodes. depends reports whether an element depends on
// parameters.
func (t *tracer) trace(x ad.Ref, live []bool, depends func(e element) bool) {
	g := t.g
	for i := range g.Nodes {
		n := &g.Nodes[i]
		r := ad.Ref(i)
		if !live[i] || n.Type.Total() > maxTraced {
			continue
		}
		if r == x {
			all := make([]origin, n.Type.Total())
			for e := range all {
				all[e] = origin{i: int32(e)}
			}
			t.origins[r] = all
			continue
		}
		if !slices.ContainsFunc(n.Args, func(a ad.Ref) bool { return t.origins[a] != nil }) {
			continue
		}
		of := func(k, e int) (origin, element) {
			a := n.Args[k]
			from := element{a, ad.Operand(g.Type(a), n.Type, e)}
			if all := t.origins[a]; all != nil {
				return all[from.at], from
			}
			return origin{i: -1}, from
		}
		out := make([]origin, n.Type.Total())
		any := false
		switch n.Op {
		case ad.OpExp:
			for e := range out {
				o, _ := of(0, e)
				if out[e] = (origin{i: -1}); o.i >= 0 && o.how == asItIs {
					out[e], any = origin{i: o.i, how: exponential}, true
				}
			}
		case ad.OpMul:
			for e := range out {
				out[e] = origin{i: -1}
				a, ea := of(0, e)
				b, eb := of(1, e)
				if b.i >= 0 && b.how == asItIs {
					a, ea, b, eb = b, eb, a, ea
				}
				if a.i < 0 || a.how != asItIs || b.i >= 0 && b.how == asItIs || !depends(eb) {
					continue
				}
				out[e], any = origin{i: a.i, how: scaled, scale: t.canonical(eb)}, true
				if _, ok := t.seen[int(a.i)]; !ok {
					t.seen[int(a.i)], t.sites[int(a.i)] = out[e], n.Site
				}
			}
		case ad.OpMatMul:
			any = t.sums(r, out, depends)
		case ad.OpAdd:
			for e := range out {
				out[e] = origin{i: -1}
				a, ea := of(0, e)
				b, eb := of(1, e)
				for range 2 {
					if a.i >= 0 && a.how == scaled && !(b.i >= 0 && b.how == scaled) {
						to, had := t.places[int(a.i)]
						if now := t.canonical(eb); !had {
							t.places[int(a.i)] = now
						} else if now != to {
							t.mixed[int(a.i)] = true
						}
					}
					a, ea, b, eb = b, eb, a, ea
				}
			}
		default:
			arg, from, ok := g.Origins(r)
			if !ok {
				continue
			}
			t.moves[r] = moves{arg, from}
			for e := range out {
				out[e] = origin{i: -1}
				if all := t.origins[n.Args[arg[e]]]; all != nil {
					out[e] = all[from[e]]
					any = any || out[e].i >= 0
				}
			}
		}
		if any {
			t.origins[r] = out
		}
	}
}

// sums fills in the origins of a product of a matrix with elements of the point. Correlated effects
// are written so: diag_pre_multiply(τ, L) * z. If the matrix is triangular, each element of the
// product contains one element of the point that none before it contains. The rest of its sum is a
// location.
func (t *tracer) sums(r ad.Ref, out []origin, depends func(e element) bool) (any bool) {
	n := &t.g.Nodes[r]
	attr := n.Attr.(ad.MatMulAttr)
	rows, columns := n.Type.Shape[0], n.Type.Shape[1]
	inner := t.g.Type(n.Args[0]).Shape[1]
	if attr.TransA {
		inner = t.g.Type(n.Args[0]).Shape[0]
	}
	for e := range out {
		out[e] = origin{i: -1}
	}
	if t.g.Type(n.Args[0]).Lanes > 0 || t.g.Type(n.Args[1]).Lanes > 0 || len(out)*inner > maxTraced {
		return false
	}
	factor := t.origins[n.Args[0]] == nil // the matrix is on the left
	points, zero := t.origins[n.Args[1]], t.zeros(n.Args[0])
	if !factor {
		points, zero = t.origins[n.Args[0]], t.zeros(n.Args[1])
	}
	at := func(side, row, column, inRow, inColumn int, transposed bool) element {
		if transposed {
			return element{n.Args[side], column*inRow + row}
		}
		return element{n.Args[side], row*inColumn + column}
	}
	terms := make([][]term, len(out)) // without terms that are 0; nil: sums of another form
	for e := range out {
		sum := make([]term, 0, min(inner, maxLevels+1))
		for l := 0; l < inner && len(sum) <= maxLevels; l++ {
			a, b := at(0, e/columns, l, rows, inner, attr.TransA), at(1, l, e%columns, inner, columns, attr.TransB)
			if !factor {
				a, b = b, a
			}
			if zero != nil && zero[a.at] {
				continue
			}
			o := points[b.at]
			if o.i < 0 || o.how != asItIs {
				sum = nil
				break
			}
			sum = append(sum, term{t.canonical(a), int(o.i)})
		}
		if len(sum) <= maxLevels {
			terms[e] = sum
		}
	}
	owned := map[int]bool{}
	for known := 0; known < maxLevels; known++ {
		var now []int
		for e, sum := range terms {
			if len(sum) != known+1 {
				continue
			}
			own := -1
			for k, s := range sum {
				if !owned[s.i] {
					if own >= 0 {
						own = -1
						break
					}
					own = k
				}
			}
			if own < 0 || !depends(sum[own].by) {
				continue
			}
			i := sum[own].i
			out[e], any = origin{i: int32(i), how: scaled, scale: sum[own].by}, true
			now = append(now, i)
			if _, ok := t.seen[i]; !ok {
				t.seen[i], t.sites[i] = out[e], n.Site
				t.others[i] = slices.Delete(slices.Clone(sum), own, own+1)
			}
		}
		for _, i := range now {
			owned[i] = true
		}
	}
	return any
}

// canonical follows copies and moves of an element back to the element that was computed.
func (t *tracer) canonical(e element) element {
	for {
		m, ok := t.moves[e.ref]
		if !ok {
			arg, from, moved := t.g.Origins(e.ref)
			if !moved {
				return e
			}
			m = moves{arg, from}
			t.moves[e.ref] = m
		}
		e = element{t.g.Nodes[e.ref].Args[m.arg[e.at]], int(m.from[e.at])}
	}
}
