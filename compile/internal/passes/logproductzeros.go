package passes

import (
	"math"
	"slices"

	"github.com/ppl-lang/ppl/ad"
)

// This file: matrices whose products are known to underflow.

// underflows reports whether scaled sums of a product are likely to underflow, so that the scan
// would run twice at every evaluation. There are two such cases.
//
//   - Elements of a row are known, finite, and too far apart, such as 0 and -1e10.
//   - Elements are known to be -Inf, and more than maxLogPath transitions lead from one state to
//     another, or none. Each transition in between multiplies the share of the other state by how
//     badly an observation fits. In a left-to-right model the share of early states falls in
//     every step.
func (x *logProducts) underflows(g *ad.Graph, args []ad.Ref) bool {
	known := &knownElements{x: x, g: g, args: args, outer: originTable{}}
	for _, p := range x.products {
		n, k := len(p.rows), len(p.vector)
		zero := make([]bool, n*k)
		for row := range n {
			most, least := math.Inf(-1), math.Inf(1)
			for e := row * k; e < (row+1)*k; e++ {
				sum := 0.0
				known.terms = 0
				for _, t := range p.matrix[e] {
					v, _ := known.inBody(t)
					sum += v
				}
				if zero[e] = math.IsInf(sum, -1); !zero[e] {
					most, least = max(most, sum), min(least, sum)
				}
			}
			if most-least > -math.Log(minLogProduct) {
				return true
			}
		}
		if slices.Contains(zero, true) && (n != k || !mixes(zero, n)) {
			return true
		}
	}
	return false
}

// mixes reports whether maxLogPath transitions lead from each of n states to every state. Element
// (i, j) of zero, row by row, forbids the transition between i and j.
func mixes(zero []bool, n int) bool {
	for state := range n {
		at := make([]bool, n)
		at[state] = true
		for range maxLogPath {
			next := make([]bool, n)
			for i := range n {
				for j := 0; j < n && at[i]; j++ {
					next[j] = next[j] || !zero[i*n+j]
				}
			}
			at = next
		}
		if slices.Contains(at, false) {
			return false
		}
	}
	return true
}

// knownElements finds what of elements does not depend on parameters.
type knownElements struct {
	x     *logProducts
	g     *ad.Graph
	args  []ad.Ref // of the scan, in g
	outer originTable
	terms int // examined of one element
}

// inBody returns the sum of the known terms of an element of the body that is the same in all
// steps. all reports whether every term is known.
func (v *knownElements) inBody(at place) (sum float64, all bool) {
	at = v.x.origins.first(v.x.b, at)
	if n := &v.x.b.Nodes[at.r]; n.Op == ad.OpInput {
		return v.in(v.g, v.outer, place{v.args[n.Attr.(int)], at.e})
	}
	return v.in(v.x.b, v.x.origins, at)
}

// in is inBody for an element of the body, which is no input, or of the graph around it.
func (v *knownElements) in(g *ad.Graph, origins originTable, at place) (sum float64, all bool) {
	at = origins.first(g, at)
	n := &g.Nodes[at.r]
	of := func(a ad.Ref) (float64, bool) {
		t := place{a, ad.Operand(g.Type(a), n.Type, at.e)}
		if g == v.x.b {
			return v.inBody(t)
		}
		return v.in(g, origins, t)
	}
	if v.terms++; v.terms > maxLogSum {
		return 0, false
	}
	switch n.Op {
	case ad.OpConst:
		return n.Data[at.e], true
	case ad.OpLog:
		if y, ok := of(n.Args[0]); ok {
			return math.Log(y), true
		}
	case ad.OpAdd:
		y, all1 := of(n.Args[0])
		z, all2 := of(n.Args[1])
		return y + z, all1 && all2
	}
	return 0, false
}
