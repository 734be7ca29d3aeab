package diagnose

import "math"

// Draws is a run to be diagnosed: several chains, each a sequence of draws of
// the same named quantities. draws.Store satisfies it.
//
// A Draws may also offer the sampler's per-draw statistics, see [Statistics].
type Draws interface {
	// Names returns the quantities' names in column order. The caller must not modify the slice.
	Names() []string
	// Chains returns the number of chains.
	Chains() int
	// Len returns the number of draws of one chain, without warm-up.
	Len(chain int) int
	// Column appends one quantity's draws of one chain to dst and returns the
	// extended slice. It must be safe for concurrent use.
	Column(dst []float64, chain, quantity int) []float64
}

// Tabular is implemented by a [Draws] that reads neighbouring quantities faster together than one
// by one. It is for draws that are stored one after another, where a column has one number per line
// of the processor's cache.
type Tabular interface {
	// Table appends the draws of one chain of the quantities first, first+1, … last−1 to dst, one
	// quantity after another. It must be safe for concurrent use.
	Table(dst []float64, chain, first, last int) []float64
}

// Statistics is implemented by a [Draws] that keeps the sampler's statistics.
type Statistics interface {
	// Statistic appends the named statistic (CmdStan's names: "divergent__", "treedepth__",
	// "energy__", "accept_stat__", …) of one chain's draws to dst. If the sampler has no such
	// statistic, ok is false and dst unchanged.
	Statistic(dst []float64, chain int, name string) (column []float64, ok bool)
}

// Arrived is implemented by a [Draws] that knows which chains began at the same place. Such chains
// agree more than independent ones, so R-hat then compares the places too, see [NestedRhat].
type Arrived interface {
	// Arrivals returns a number per chain. Chains that began at the same place have the same
	// positive number; a chain that shares its place with no other has 0. If it is nil, no chains
	// share a place.
	Arrivals() []int
}

// Thinned is implemented by a [Draws] that also counts transitions whose draws were not kept.
type Thinned interface {
	// Diverged returns the number of divergent transitions of a chain after warm-up, and of all its
	// transitions, including those whose draws were not kept. If these are unknown, ok is false.
	Diverged(chain int) (divergent, transitions int, ok bool)
}

// divergedOf counts the divergent transitions of a chain, and all its transitions. If the sampler
// does not report divergences, ok is false.
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

// groups numbers from 0 the places where chains began, in the order of chains, and counts the
// places. shared says that some chains began at the same place.
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

// arrivalsOf calls groups for the given chains of d.
func arrivalsOf(d Draws, chains []int) (group []int, places int, shared bool) {
	var arrivals []int
	if a, ok := d.(Arrived); ok {
		arrivals = a.Arrivals()
	}
	return groups(arrivals, chains)
}

// Slices wraps draws indexed [chain][draw][quantity]. Missing values at the end of a draw read as
// NaN.
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

// comparableChains lists the chains that can be compared, and the number of draws to take from
// each. R-hat and ESS need chains of equal length, so an interrupted run is cut to its shortest
// chain. A chain without draws, because it found no starting point, is left out.
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
