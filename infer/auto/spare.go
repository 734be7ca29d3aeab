package auto

import (
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/mathext"

	"github.com/ppl-lang/ppl/infer/internal/quick"
)

// spend decides the number of transitions per draw. If one transition gives few effective
// draws, a draw takes enough transitions to be worth `wanted` effective draws, but at most
// maxPerDraw (thresholds.go). Four chains of 1000 draws then have several times the 400 effective
// draws that R-hat and quantiles need. The margin is for errors: the estimate comes from few
// transitions, many of them with another metric, and may be three times too large. Little is lost
// per gradient: if transitions are worth so little, a second one adds nearly as much as the first,
// and warm-up costs relatively less.
//
// More transitions do not help chains that are in different places; these get only the transitions
// that warm-up did not use. For a static kernel that won the race, the race measures what a
// transition is worth: a short trajectory may be the most efficient one per gradient, although its
// draws are worth little. If the user asked for a static kernel, and the target is not close to
// normal, it also gets only the transitions that warm-up did not use.
func (w *chain) spend(v *verdict) {
	if w.options.NoSpare || w.options.NoEarlyEnd {
		return
	}
	spared := 1 + float64(max(0, w.length-w.made))/float64(w.length)
	perDraw, why := 1.0, "The target is not quite normal"
	switch {
	case w.kernel.setting.Kind == NUTS:
		perDraw = w.at.transitionsFor(v.worth)
		if v.rhat >= w.at.apart {
			perDraw = min(perDraw, spared)
		}
		why = fmt.Sprintf("A transition is worth about %.2g effective draws", v.worth)
	case w.worth > 0:
		perDraw, why = w.at.transitionsFor(w.worth), fmt.Sprintf("A transition is worth about %.2g effective draws", w.worth)
	case !v.near():
		perDraw = spared
	}
	if perDraw == 1 {
		return
	}
	w.kernel.spare = perDraw - 1
	w.note(fmt.Sprintf("Thinning: one draw per %.2g transitions on average, to lower the autocorrelation. %s.", perDraw, why))
}

// transitionsFor returns the average number of transitions per draw, given the effective draws per
// transition.
func (at *limits) transitionsFor(worth float64) float64 {
	return min(max(at.wanted/worth, 1), at.maxPerDraw)
}

// worthOf estimates the effective draws per transition, on the assumption that autocorrelations
// decay geometrically. It is the smallest estimate over the coordinates, their distances from the
// median, and the log density. It is small if chains are in different places. Because of noise, the
// smallest of many estimates is too small; [noiseOf] corrects that.
func worthOf(recent []record) float64 {
	if len(recent) == 0 {
		return 0
	}
	least := 1.0
	chains := make([][]float64, len(recent))
	for i, r := range recent {
		chains[i] = make([]float64, len(r.draws))
	}
	noise := noiseOf(2*len(recent[0].draws[0]) + 2)
	var s folding
	for j := range recent[0].draws[0] {
		for i, r := range recent {
			for t, x := range r.draws {
				chains[i][t] = x[j]
			}
		}
		least = min(least, worthOfChains(chains, noise, &s))
	}
	for i, r := range recent {
		copy(chains[i], r.logDensity)
	}
	return min(least, worthOfChains(chains, noise, &s))
}

// fewQuantities is the number of estimates up to which the smallest is not corrected, because the
// thresholds were measured on targets with no more quantities.
const fewQuantities = 200

// noiseOf returns the number of standard errors by which the smallest of n estimates is too small,
// in excess of that for fewQuantities: about √(2 log(n/fewQuantities)). Without this correction, a
// hundred draws of a target of 10,000 dimensions seem to be worth 0.07 effective draws each instead
// of 0.4, and each draw would take the maximum number of transitions.
func noiseOf(n int) float64 {
	return math.Sqrt(2 * math.Log(max(1, float64(n)/fewQuantities)))
}

// worthOfChains is worthOf for one quantity. It replaces the values by their folded scores.
func worthOfChains(chains [][]float64, noise float64, s *folding) float64 {
	plain := worthOfValues(chains, noise)
	s.fold(chains)
	return min(plain, worthOfValues(chains, noise))
}

// worthOfValues returns (1-ρ)/(1+ρ), where ρ is the autocorrelation at lag 1. Its standard error
// from n pairs is √((1-ρ²)/n).
func worthOfValues(chains [][]float64, noise float64) float64 {
	mean, n := 0.0, 0.0
	for _, c := range chains {
		for _, v := range c {
			mean += v
			n++
		}
	}
	mean /= n
	variance, lag, pairs := 0.0, 0.0, 0.0
	for _, c := range chains {
		for t, v := range c {
			variance += (v - mean) * (v - mean) / n
			if t > 0 {
				lag += (v - c[t-1]) * (v - c[t-1])
				pairs++
			}
		}
	}
	if !(pairs > 0 && variance > 0) {
		return 1
	}
	moved := lag / pairs / (2 * variance) // 1 - ρ
	if noise > 0 {
		moved = min(1, moved+noise*math.Sqrt(max(0, moved*(2-moved))/pairs))
	}
	return min(1, moved/max(2-moved, 0.05))
}

// folding replaces draws by the normal scores of the ranks of their distances from the median, as
// Vehtari et al. (2021) do for the folded R-hat. These show how fast the scale of a quantity mixes.
// Squares also do, but a few values in a long tail would determine the result.
type folding struct {
	sorter                    quick.Sorter
	pooled, sorted, distances []float64
	order, folded             []int32 // indices in pooled of sorted and of distances
	scores                    []float64
}

// fold replaces the draws, unless one is NaN.
func (s *folding) fold(chains [][]float64) {
	s.pooled = s.pooled[:0]
	for _, c := range chains {
		s.pooled = append(s.pooled, c...)
	}
	n := len(s.pooled)
	if n == 0 {
		return
	}
	low, high := s.pooled[0], s.pooled[0]
	for _, v := range s.pooled {
		if math.IsNaN(v) {
			return
		}
		low, high = min(low, v), max(high, v)
	}
	if len(s.scores) != n {
		s.sorted, s.distances, s.scores = make([]float64, n), make([]float64, n), make([]float64, n)
		s.order, s.folded = make([]int32, n), make([]int32, n)
		for i := range s.scores {
			s.scores[i] = mathext.NormalQuantile((float64(i+1) - 0.375) / (float64(n) + 0.25))
		}
	}
	s.sorter.Sort(s.sorted, s.order, s.pooled, low, high)
	s.merge(s.sorted[n/2])
	for start := 0; start < n; {
		end := start + 1
		for end < n && s.distances[end] == s.distances[start] {
			end++
		}
		for _, at := range s.folded[start:end] { // equal distances get the score of their average rank
			s.pooled[at] = s.scores[(start+end-1)/2]
		}
		start = end
	}
	rest := s.pooled
	for _, c := range chains {
		rest = rest[copy(c, rest):]
	}
}

// merge writes the distances of the sorted draws from the median in ascending order, with their
// indices.
func (s *folding) merge(median float64) {
	n := len(s.sorted)
	above, _ := slices.BinarySearch(s.sorted, median)
	below := above - 1
	for k := range n {
		at := above
		if above == n || below >= 0 && median-s.sorted[below] < s.sorted[above]-median {
			at = below
			below--
		} else {
			above++
		}
		s.distances[k], s.folded[k] = math.Abs(s.sorted[at]-median), s.order[at]
	}
}
