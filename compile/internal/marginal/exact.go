package marginal

import (
	"math"
	"math/bits"
	"slices"

	"github.com/ppl-lang/ppl/internal/sorting"
)

// Min-fill does not know how many values elements have. In small components of the graph, the order
// with the fewest terms is found by trying all: dynamic programming over the sets of elements that
// are eliminated first.

const (
	maxExact  = 10         // elements of a component
	exactWork = 20_000_000 // steps of the search, for all components

	// The best order is used if it has so many times fewer terms: min-fill keeps sums alike.
	muchFewer = 2
)

// exact returns the ranks of all elements in an order whose terms are far fewer than total; nil if
// it finds none.
func (p *program) exact(patterns []*pattern, steps []*step, total float64) []int {
	near := make([]map[int]bool, len(p.elements))
	for e := range near {
		near[e] = map[int]bool{}
	}
	for _, pat := range patterns {
		for _, in := range pat.instances {
			if len(in.elements) > maxExact {
				return nil
			}
			for _, a := range in.elements {
				for _, b := range in.elements {
					if a != b {
						near[a][b] = true
					}
				}
			}
		}
	}
	rank := make([]int, len(p.elements))
	next, work, best := 0, 0, 0.0
	seen := make([]bool, len(p.elements))
	at := make([]int, len(p.elements)) // the position in min-fill's order
	for i, s := range steps {
		at[s.element] = i
	}
	cost := map[int]float64{}
	for _, s := range steps {
		cost[s.element] = p.volume(append([]int{s.element}, s.around...))
	}
	for first := range p.elements {
		if seen[first] {
			continue
		}
		seen[first] = true
		part := []int{first}
		for i := 0; i < len(part); i++ {
			from := len(part)
			for e := range near[part[i]] {
				if !seen[e] {
					seen[e] = true
					part = append(part, e)
				}
			}
			slices.Sort(part[from:])
			if len(part) > maxExact {
				return nil
			}
		}
		if work += len(part) * len(part) << len(part); work > exactWork {
			return nil
		}
		least, order := p.bestOrder(part, near)
		now := 0.0
		for _, e := range part {
			now += cost[e]
		}
		if !(least*muchFewer <= now) { // as min-fill has it
			sorting.Stable(part, func(a, b int) int { return at[a] - at[b] })
			least, order = now, part
		}
		best += least
		for _, e := range order {
			rank[e] = next
			next++
		}
	}
	if best*muchFewer > total {
		return nil
	}
	return rank
}

// bestOrder returns the order with the fewest terms of the elements of a component.
func (p *program) bestOrder(part []int, near []map[int]bool) (float64, []int) {
	n := len(part)
	next := make([]uint, n)
	for i, a := range part {
		for j, b := range part {
			if near[a][b] {
				next[i] |= 1 << j
			}
		}
	}
	// terms returns those of the sum over i if the elements of a set are eliminated before it.
	terms := func(i int, before uint) float64 {
		reached, todo := uint(1)<<i, next[i]
		for todo &^= reached; todo != 0; todo &^= reached {
			j := bits.TrailingZeros(todo)
			reached |= 1 << j
			if before&(1<<j) != 0 {
				todo |= next[j]
			}
		}
		out := 1.0
		for j := range n {
			if reached&^before&(1<<j) != 0 {
				out *= float64(p.elements[part[j]].size())
			}
		}
		return out
	}
	best, last := make([]float64, 1<<n), make([]int, 1<<n)
	for set := uint(1); set < 1<<n; set++ {
		best[set] = math.Inf(1)
		for i := range n {
			if before := set &^ (1 << i); before != set {
				if c := best[before] + terms(i, before); c < best[set] {
					best[set], last[set] = c, i
				}
			}
		}
	}
	order := make([]int, n)
	for set, k := uint(1)<<n-1, n-1; k >= 0; k-- {
		order[k] = part[last[set]]
		set &^= 1 << last[set]
	}
	return best[1<<n-1], order
}
