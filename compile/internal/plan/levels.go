package plan

import (
	"slices"

	"github.com/ppl-lang/ppl/internal/sorting"
)

// Levels assigns the iterations of a loop to levels (wavefronts) by their dependences. It is for
// iterations that read earlier iterations' values at irregular distances, such as products by
// index, or rows that read the row of their parent. Level 0 reads no values that the loop wrote,
// and is evaluated first, in lanes. Level 1 reads only values of level 0, and so on. The number of
// levels is the length of the longest chain of dependences. For 800 products with elements of a
// vector of 400, at most 8 with the same one, a gradient takes 4 µs in levels; carrying whole
// variables, it took 277.
//
// The result is the level of each iteration of the nest's loop, computed from the reads of the
// plan's tangled units. It is nil if there are no such reads, or too many to analyse.
func Levels(n *Nest, p *Plan) []int64 {
	if len(p.Tangled) == 0 {
		return nil
	}
	ax := n.Root.Axis
	tangled := slices.SortedFunc(slices.Values(p.Tangled), func(a, b *Unit) int { return a.ID - b.ID })
	elements := 0
	for _, u := range tangled {
		for _, t := range p.touches[u.ID] {
			if t.How == Reads {
				elements += Lanes(t.Axis) * len(t.Access.Offsets)
			}
		}
	}
	if elements > maxLevelled {
		return nil
	}
	defer p.used()()
	type edge struct{ from, to int32 } // iterations
	var edges []edge
	p.memory.Reserve(8, ax.N)
	ups := map[*Axis][]int32{} // from the domains of writes to ax
	for _, u := range tangled {
		for _, t := range p.touches[u.ID] {
			v := p.of(t)
			if t.How != Reads || len(v.Writes) == 0 || v.Sum || v.Private || t.Axis == nil || !ax.Within(t.Axis) {
				continue
			}
			up := UpTo(t.Axis, ax)
			from := v.Origins(u, t.Access, t.Axis, t.Access.outIn(t.Axis))
			p.memory.Reserve(8, len(from))
			in := v.Among(tangled)
			width := len(from) / max(1, t.Axis.N)
			for k, o := range from {
				if !in.Has(o) {
					continue
				}
				w := v.Source(o)
				e := edge{from: o.Pos / int32(len(w.Offsets)), to: int32(k / width)}
				if up != nil {
					e.to = up[e.to]
				}
				domain := w.Unit.Domain
				of, ok := ups[domain]
				if !ok {
					of = UpTo(domain, ax)
					ups[domain] = of
				}
				if of != nil {
					e.from = of[e.from]
				}
				if e.from < e.to {
					edges = append(edges, e)
				}
			}
		}
	}
	if len(edges) == 0 { // the dependences are within iterations
		return nil
	}
	sorting.Stable(edges, func(a, b edge) int { return int(a.to - b.to) })
	levels := make([]int64, ax.N)
	for _, e := range edges {
		levels[e.to] = max(levels[e.to], levels[e.from]+1)
	}
	return levels
}
