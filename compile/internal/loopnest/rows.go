package loopnest

import (
	"cmp"
	"slices"

	"github.com/ppl-lang/ppl/ad"
)

// SortRows sorts the rows of the data by a group index. Gathers by that index then read the same
// element for runs of rows, and scatters become one sum per run. Rows are the elements of values of
// one size that are computed from each other element by element. They may be reordered if they come
// from constants and index tables and end only in sums, because then no reader selects one by its
// position (see reads). The order of the terms of sums changes, and with it their rounding. Sums by
// tables that stay unsorted and have few targets become a sum for each target.
func SortRows(p *Program) {
	p.Bodies(func(b *Body) {
		for _, rows := range b.rowSets() {
			if t := rows.key(b); t != nil {
				rows.sort(b, t)
			}
		}
	})
	sumFewTargets(p)
}

// rowSet is a set of nodes whose rows are the same.
type rowSet struct {
	n     int
	nodes []int32
}

// rowSets finds the sets whose rows may be permuted.
func (b *Body) rowSets() []*rowSet {
	size := len(b.Nodes)
	// A forest over nodes: nodes of one tree have the same rows (union–find).
	parent := make([]int32, size)
	for i := range parent {
		parent[i] = int32(i)
	}
	var find func(i int32) int32
	find = func(i int32) int32 {
		if parent[i] != i {
			parent[i] = find(parent[i])
		}
		return parent[i]
	}
	fixed := make([]bool, size) // nodes whose rows must keep their order
	// fixMakers keeps the order of rows for a reader that depends on positions. The order of a
	// sum's terms does not matter.
	fixMakers := func(id BufferID) {
		for _, m := range b.Buffers[id].Makers {
			if b.Buffers[id].Body == b && b.Nodes[m].Kind != Accumulate {
				fixed[m] = true
			}
		}
	}
	for i := range b.Nodes {
		n := &b.Nodes[i]
		row := n.Kind <= Accumulate && n.N >= minRows
		for k, a := range n.Args {
			r := &b.Buffers[a.Buf]
			switch b.reads(n, k) {
			case readsNumber:
			case readsElements:
				switch {
				case row && r.Data != nil: // sort makes a copy of these in the new order
				case row && r.Body == b && len(r.Makers) == 1 && b.Nodes[r.Makers[0]].Kind != Accumulate:
					parent[find(int32(i))] = find(r.Makers[0])
				default:
					fixed[i] = true
					fixMakers(a.Buf)
				}
			case readsPosition:
				// An element of an array is the same number for all rows of the reader; sort copies
				// a part of constants in the new order.
				fixed[i] = fixed[i] || n.Kind != Load && a.N != 1 && !a.Rep && r.Data == nil
				fixMakers(a.Buf)
			}
		}
		if !row { // the results of regions and of ops on arrays keep their order
			fixed[i] = true
			continue
		}
		if n.Op == ad.OpCheck {
			continue
		}
		if n.Kind != Elementwise {
			fixed[i] = fixed[i] || !rowMap(&n.Map)
		}
		if n.Kind != Accumulate {
			r := &b.Buffers[n.Dst]
			fixed[i] = fixed[i] || b.readElsewhere(n.Dst) || len(r.Makers) != 1
		}
	}
	// For each tree, by its root: whether its rows must keep their order.
	stays := make([]bool, size)
	for i := range b.Nodes {
		if fixed[i] {
			stays[find(int32(i))] = true
		}
	}
	sets := map[int32]*rowSet{}
	var order []*rowSet
	for i := range b.Nodes {
		n := &b.Nodes[i]
		if n.Kind > Accumulate || n.N < minRows {
			continue
		}
		root := find(int32(i))
		s := sets[root]
		if s == nil {
			s = &rowSet{n: n.N}
			sets[root] = s
			order = append(order, s)
		}
		s.nodes = append(s.nodes, int32(i))
	}
	return slices.DeleteFunc(order, func(s *rowSet) bool { return stays[find(s.nodes[0])] })
}

// rowMap reports whether a map still has the same form after its rows are permuted: it is a single
// element for all rows, or a table.
func rowMap(m *Map) bool { return m.Uniform() || len(m.Dims) == 1 && m.Dims[0].Table != nil }

// key returns the table to sort by: that by which most elements are gathered and scattered, where
// sums count most. It returns nil if sorting is not worth while, or the rows are sorted already.
func (s *rowSet) key(b *Body) []int32 {
	count := map[*int32]int{}
	var best []int32
	for _, i := range s.nodes {
		n := &b.Nodes[i]
		if n.Kind == Elementwise || n.Map.Uniform() {
			continue
		}
		t := n.Map.Dims[0].Table[:s.n]
		w := 1
		if n.Kind == Accumulate {
			w = sumWeight
		}
		if count[&t[0]] += w; best == nil || count[&t[0]] > count[&best[0]] {
			best = t
		}
	}
	if best == nil || slices.IsSorted(best) {
		return nil
	}
	groups := map[int32]bool{}
	for _, g := range best {
		groups[g] = true
	}
	if len(groups)*MinRun > s.n {
		return nil
	}
	return best
}

// sort sorts the rows by the table.
func (s *rowSet) sort(b *Body, table []int32) {
	perm := sortedBy(table)
	tables := map[*int32][]int32{}
	data := map[Value]Value{}
	for _, i := range s.nodes {
		n := &b.Nodes[i]
		if n.Kind != Elementwise && !n.Map.Uniform() {
			old := n.Map.Dims[0].Table
			t := tables[&old[0]]
			if t == nil {
				t = make([]int32, s.n)
				for k, j := range perm {
					t[k] = old[j]
				}
				tables[&old[0]] = t
			}
			n.Map.Dims = []ad.Dim{{N: s.n, Table: t}}
		}
		if n.Kind == Load {
			continue
		}
		if n.Op == ad.OpCheck {
			n.Perm = perm
		}
		n.Args = slices.Clone(n.Args)
		for k, a := range n.Args {
			old := b.Buffers[a.Buf].Data
			if old == nil || a.N == 1 || a.Rep {
				continue
			}
			v, ok := data[a]
			if !ok {
				d := make([]float64, s.n)
				for k, j := range perm {
					d[k] = old[a.Off+int(j)]
				}
				v = b.Whole(b.AddBuffer(Buffer{N: s.n, Data: d, Kept: true}))
				data[a] = v
			}
			n.Args[k] = v
		}
	}
}

// sortedBy returns the positions of a table, sorted by their entries. Positions of equal entries
// keep their order.
func sortedBy(table []int32) []int32 {
	perm := make([]int32, len(table))
	lo, hi := int(slices.Min(table)), int(slices.Max(table))
	if hi-lo > 4*len(table) {
		for i := range perm {
			perm[i] = int32(i)
		}
		slices.SortStableFunc(perm, func(i, j int32) int { return cmp.Compare(table[i], table[j]) })
		return perm
	}
	next := make([]int32, hi-lo+2) // for each entry, the place of its next position in the result
	for _, t := range table {
		next[int(t)-lo+1]++
	}
	for k := 1; k < len(next); k++ {
		next[k] += next[k-1]
	}
	for i, t := range table {
		k := int(t) - lo
		perm[next[k]] = int32(i)
		next[k]++
	}
	return perm
}
