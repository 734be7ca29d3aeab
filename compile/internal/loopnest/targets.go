package loopnest

import (
	"slices"

	"github.com/ppl-lang/ppl/ad"
)

// sumFewTargets writes a sum by an unsorted table that has only a few targets as one sum for each
// target, of the terms that belong to it. By the table, a term would wait for the one before it,
// because that has probably just changed the same number in memory.
func sumFewTargets(p *Program) {
	known := map[*int32]Value{} // tables as numbers
	p.Bodies(func(b *Body) {
		var nodes []Node
		var from []int32
		for i := range b.Nodes {
			n := &b.Nodes[i]
			targets := n.fewTargets()
			if targets == nil {
				if nodes != nil {
					nodes, from = append(nodes, *n), append(from, int32(i))
				}
				continue
			}
			if nodes == nil {
				nodes = slices.Clone(b.Nodes[:i])
				for k := range nodes {
					from = append(from, int32(k))
				}
			}
			emit := func(m Node) {
				m.N, m.Src, m.Site, m.After = n.N, n.Src, n.Site, -1
				nodes, from = append(nodes, m), append(from, -1)
			}
			table := n.Map.Dims[0].Table[:n.N]
			entries, ok := known[&table[0]]
			if !ok {
				d := make([]float64, n.N)
				for k, t := range table {
					d[k] = float64(t)
				}
				entries = p.Whole(p.AddBuffer(Buffer{N: n.N, Data: d, Kept: true}))
				known[&table[0]] = entries
			}
			for _, t := range targets {
				mine, term := b.newBuffer(n.N), b.newBuffer(n.N)
				emit(Node{Kind: Elementwise, Op: ad.OpEqual, Args: []Value{entries, p.Constant(float64(t))}, Dst: mine})
				emit(Node{Kind: Elementwise, Op: ad.OpSelect, Args: []Value{b.Whole(mine), n.Args[0], p.Constant(0)}, Dst: term})
				emit(Node{Kind: Accumulate, Op: n.Op, Args: []Value{b.Whole(term)}, Dst: n.Dst,
					Map: Map{Off: n.Map.Off + int(t), Dims: []ad.Dim{{N: n.N}}, N: n.N}})
			}
		}
		if nodes != nil {
			b.setNodes(nodes, from)
		}
	})
}

// fewTargets returns the different entries of the table of a sum by an unsorted table; nil for
// other nodes, and if the entries are many or the terms few.
func (n *Node) fewTargets() []int32 {
	if n.Kind != Accumulate || n.Op != ad.OpScatter || n.Store || n.N < minRows || len(n.Map.Dims) != 1 || n.Map.Dims[0].Table == nil || n.Args[0].Rep || n.Args[0].N != n.N {
		return nil
	}
	targets := make([]int32, 0, maxTargets+1)
	runs := 0
	table := n.Map.Dims[0].Table[:n.N]
	for i, t := range table {
		if i > 0 && t == table[i-1] {
			continue
		}
		runs++
		if at, ok := slices.BinarySearch(targets, t); !ok {
			if len(targets) == maxTargets {
				return nil
			}
			targets = slices.Insert(targets, at, t)
		}
	}
	if runs*MinRun <= n.N {
		return nil // runs get their own loop
	}
	return targets
}
