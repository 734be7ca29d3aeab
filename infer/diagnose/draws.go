package diagnose

import "math"

// Draws is a run to be diagnosed: several chains, each a sequence of draws of
// the same named quantities. draws.Store satisfies it.
//
// A Draws may also offer the sampler's per-draw statistics, see [Statistics].
type Draws interface {
	// Names gives the quantities' names in column order. The caller must not
	// modify the slice.
	Names() []string
	// Chains gives the number of chains.
	Chains() int
	// Len gives the number of draws (warm-up excluded) of one chain.
	Len(chain int) int
	// Column appends one quantity's draws of one chain to dst and returns the
	// extended slice. It must be safe for concurrent use.
	Column(dst []float64, chain, quantity int) []float64
}

// Statistics is implemented by a [Draws] that keeps the sampler's statistics.
type Statistics interface {
	// Statistic appends the named statistic (CmdStan's names: "divergent__",
	// "treedepth__", "energy__", "accept_stat__", …) of one chain's draws to
	// dst; ok is false, and dst unchanged, where the sampler has none of that
	// name.
	Statistic(dst []float64, chain int, name string) (column []float64, ok bool)
}

// Arrived is implemented by a [Draws] that knows which chains began at the same place. Chains
// that did so agree on more than their target: R-hat then compares the places too, see
// [NestedRhat].
type Arrived interface {
	// Arrivals gives a number for each chain: the same, above 0, for those that began at the
	// same place; 0 for one that began at a place that is its alone. nil: all did.
	Arrivals() []int
}

// Thinned is implemented by a [Draws] that knows of transitions whose draws were not kept.
type Thinned interface {
	// Diverged gives the number of divergent transitions of a chain after warm-up, and of all, the
	// draws of which were kept or not; ok is false where only those of the draws are known.
	Diverged(chain int) (divergent, transitions int, ok bool)
}

// divergedOf counts the divergent transitions of a chain, and all of them; ok is false if the
// sampler reports none.
func divergedOf(d Draws, chain int) (divergent, transitions int, ok bool) {
	s, ok := d.(Statistics)
	if !ok {
		return 0, 0, false
	}
	column, ok := s.Statistic(nil, chain, "divergent__")
	if !ok {
		return 0, 0, false
	}
	if t, thins := d.(Thinned); thins {
		if divergent, transitions, ok := t.Diverged(chain); ok {
			return divergent, transitions, true
		}
	}
	for _, v := range column {
		if v != 0 {
			divergent++
		}
	}
	return divergent, len(column), true
}

// groups numbers the places where chains began from 0, in the order of chains, and counts
// them. shared is false if each chain has its own.
func groups(arrivals, chains []int) (group []int, places int, shared bool) {
	at := map[int]int{}
	for _, chain := range chains {
		number := 0
		if chain < len(arrivals) {
			number = arrivals[chain]
		}
		g, ok := at[number]
		switch {
		case number > 0 && ok:
			shared = true
		default:
			g = places
			at[number] = g
			places++
		}
		group = append(group, g)
	}
	return group, places, shared
}

// arrivalsOf is groups of the chains of d that have draws.
func arrivalsOf(d Draws, chains []int) (group []int, places int, shared bool) {
	var arrivals []int
	if a, ok := d.(Arrived); ok {
		arrivals = a.Arrivals()
	}
	return groups(arrivals, chains)
}

// Slices wraps draws indexed [chain][draw][quantity]. A draw with fewer values
// than there are names reads as NaN there.
func Slices(names []string, draws [][][]float64) Draws {
	return nested{names, draws}
}

type nested struct {
	names []string
	draws [][][]float64
}

func (s nested) Names() []string   { return s.names }
func (s nested) Chains() int       { return len(s.draws) }
func (s nested) Len(chain int) int { return len(s.draws[chain]) }

func (s nested) Column(dst []float64, chain, quantity int) []float64 {
	for _, draw := range s.draws[chain] {
		if quantity < len(draw) {
			dst = append(dst, draw[quantity])
		} else {
			dst = append(dst, math.NaN())
		}
	}
	return dst
}

// comparableChains lists the chains that can be compared and the number of draws to
// take from each. R-hat and ESS need chains of equal length: an interrupted
// run is cut to its shortest chain, and a chain without draws (one that never
// found a starting point) is left out rather than wiping out the others.
func comparableChains(d Draws) (chains []int, length int) {
	for chain := range d.Chains() {
		n := d.Len(chain)
		if n == 0 {
			continue
		}
		if len(chains) == 0 || n < length {
			length = n
		}
		chains = append(chains, chain)
	}
	return chains, length
}
