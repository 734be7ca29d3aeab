package passes

import "github.com/ppl-lang/ppl/ad"

// This file: single elements of arrays, followed to where they are moved from.

// place is an element of a node.
type place struct {
	r ad.Ref
	e int
}

func cmpPlaces(a, b place) int {
	if a.r != b.r {
		return int(a.r - b.r)
	}
	return a.e - b.e
}

// originTable has the origins of elements that nodes only move.
type originTable map[ad.Ref][2][]int32

// of returns where an element is moved from.
func (o originTable) of(g *ad.Graph, at place) (place, bool) {
	n := &g.Nodes[at.r]
	known, ok := o[at.r]
	if !ok {
		size := n.Type.Total()
		for _, a := range n.Args {
			size = max(size, g.Type(a).Total())
		}
		if size <= maxMovedTable && n.Type.Lanes == 0 {
			known[0], known[1], _ = g.Origins(at.r)
		}
		o[at.r] = known
	}
	if known[0] == nil {
		return at, false
	}
	to := place{n.Args[known[0][at.e]], int(known[1][at.e])}
	if g.Type(to.r).Lanes > 0 {
		return at, false
	}
	return to, true
}

// first returns where an element is moved from in the end.
func (o originTable) first(g *ad.Graph, at place) place {
	for ok := true; ok; {
		at, ok = o.of(g, at)
	}
	return at
}

// gatherPlaces returns a vector of elements of nodes.
func gatherPlaces(g *ad.Graph, at []place) ad.Ref {
	if len(at) == 0 {
		return g.ConstArray(ad.Type{Shape: []int{0}}, nil)
	}
	first := map[ad.Ref]int{}
	var parts []ad.Ref
	size := 0
	table := make([]int32, len(at))
	same := true
	for i, t := range at {
		if _, ok := first[t.r]; !ok {
			first[t.r] = size
			n := g.Type(t.r).Size()
			parts = append(parts, g.Reshape(t.r, []int{n}))
			size += n
		}
		table[i] = int32(first[t.r] + t.e)
		same = same && table[i] == int32(i)
	}
	all := parts[0]
	if len(parts) > 1 {
		all = g.Concat(parts...)
	}
	if same && size == len(at) {
		return all
	}
	return g.Gather(all, ad.Index{Dims: []ad.Dim{{N: len(at), Table: table}}})
}
