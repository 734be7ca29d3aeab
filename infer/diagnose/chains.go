package diagnose

import (
	"cmp"
	"math"
	"slices"

	"gonum.org/v1/gonum/mathext"
)

// constantRange is the range, relative to the largest magnitude, up to which
// a quantity counts as constant: a few units in the last place.
const constantRange = 16 * 0x1p-52

// workspace holds everything that depends only on the shape of a run (number
// of chains, draws per chain) plus scratch memory, so that thousands of
// quantities are diagnosed without allocating. One per goroutine.
type workspace struct {
	chains, length int // as given
	parts, half    int // after splitting: number of half-chains, their length
	lags           *autocovariances
	scores         []float64 // normal score by twice the average rank, see normalScores

	pooled  []float64 // the chains one after another, all draws
	split   []float64 // the half-chains one after another
	order   []ranked  // pooled draws, sorted
	sorted  []float64 // their values
	ranks   []float64 // scratch: normal scores, indicators, powers
	fold    []ranked  // scratch: folded draws, sorted
	usable  bool      // no NaN among the draws
	finite  bool      // usable and no infinity
	varying bool      // finite range beyond rounding, or infinite range
}

// ranked is a draw and its place in workspace.split (-1: left out by splitting).
type ranked struct {
	value float64
	place int
}

// newWorkspace prepares for chains of the given length. scores may be shared
// between workspaces of the same shape, nil to compute them.
func newWorkspace(chains, length int, scores []float64) *workspace {
	w := &workspace{chains: chains, length: length, parts: 2 * chains, half: length / 2}
	if length == 1 { // nothing to split
		w.parts, w.half = chains, 1
	}
	if scores == nil {
		scores = normalScores(w.parts * w.half)
	}
	w.scores = scores
	w.lags = newAutocovariances(w.half)
	w.split = make([]float64, w.parts*w.half)
	w.ranks = make([]float64, w.parts*w.half)
	w.sorted = make([]float64, chains*length)
	w.order = make([]ranked, chains*length)
	w.fold = make([]ranked, 0, w.parts*w.half)
	return w
}

// normalScores tabulates z = Phi^-1((r - 3/8)/(S + 1/4)) (Blom's scores,
// Vehtari et al. 2021, eq. 14) for ranks r = 1, 1½, 2, … S at index 2r: averaged
// ranks of ties are multiples of one half, so the table has all of them.
func normalScores(S int) []float64 {
	scores := make([]float64, 2*S+1)
	for twice := 2; twice <= 2*S; twice++ {
		scores[twice] = mathext.NormalQuantile((float64(twice)/2 - 0.375) / (float64(S) + 0.25))
	}
	return scores
}

// load takes one quantity's draws, chain after chain, in w.pooled (which the
// caller has filled) and derives the sorted and the split forms.
func (w *workspace) load() {
	w.usable, w.finite, w.varying = true, true, false
	low, high := math.Inf(1), math.Inf(-1)
	for _, v := range w.pooled {
		if math.IsNaN(v) {
			w.usable, w.finite = false, false
			return
		}
		low, high = min(low, v), max(high, v)
	}
	if len(w.pooled) == 0 {
		w.usable, w.finite = false, false
		return
	}
	w.finite = !math.IsInf(low, 0) && !math.IsInf(high, 0)
	if w.finite {
		// Halved, so that a range over the whole line does not overflow.
		w.varying = high/2-low/2 > constantRange*max(math.Abs(low), math.Abs(high))/2
	} else {
		w.varying = low != high
	}
	second := w.length - w.half // where the second half starts
	for i, v := range w.pooled {
		chain, draw := i/w.length, i%w.length
		place := -1
		switch {
		case w.length == 1:
			place = chain
		case draw < w.half:
			place = 2*chain*w.half + draw
		case draw >= second:
			place = (2*chain+1)*w.half + draw - second
		}
		w.order[i] = ranked{v, place}
		if place >= 0 {
			w.split[place] = v
		}
	}
	slices.SortFunc(w.order, func(a, b ranked) int { // no NaN here, so no cmp.Compare
		switch {
		case a.value < b.value:
			return -1
		case a.value > b.value:
			return 1
		}
		return 0
	})
	for i, r := range w.order {
		w.sorted[i] = r.value
	}
}

// scoreRanks writes the normal scores of the split draws into w.ranks, given
// them in ascending order. Ties get the score of their average rank.
func (w *workspace) scoreRanks(order []ranked) {
	before := 0 // draws of the split chains with smaller values
	for start := 0; start < len(order); {
		end, members := start, 0
		for ; end < len(order) && order[end].value == order[start].value; end++ {
			if order[end].place >= 0 {
				members++
			}
		}
		if members > 0 {
			score := w.scores[2*before+members+1] // twice the average rank
			for _, r := range order[start:end] {
				if r.place >= 0 {
					w.ranks[r.place] = score
				}
			}
			before += members
		}
		start = end
	}
}

// bulkScores gives the rank-normalised split draws.
func (w *workspace) bulkScores() []float64 {
	w.scoreRanks(w.order)
	return w.ranks
}

// foldedScores gives the rank-normalised distances of the split draws from the
// median of all draws; ok is false if they are undefined (infinite median) or
// do not vary. The distances are sorted by merging the draws below the median,
// read backwards, with those above: no second sort.
func (w *workspace) foldedScores() (scores []float64, ok bool) {
	median := quantileSorted(w.sorted, 0.5)
	if math.IsInf(median, 0) || math.IsNaN(median) {
		return nil, false
	}
	w.fold = w.fold[:0]
	push := func(r ranked) {
		if r.place >= 0 {
			w.fold = append(w.fold, ranked{math.Abs(r.value - median), r.place})
		}
	}
	above, _ := slices.BinarySearchFunc(w.order, median, func(r ranked, m float64) int { return cmp.Compare(r.value, m) })
	below := above - 1
	for below >= 0 && above < len(w.order) {
		if median-w.order[below].value <= w.order[above].value-median {
			push(w.order[below])
			below--
		} else {
			push(w.order[above])
			above++
		}
	}
	for ; below >= 0; below-- {
		push(w.order[below])
	}
	for ; above < len(w.order); above++ {
		push(w.order[above])
	}
	if len(w.fold) == 0 || w.fold[len(w.fold)-1].value == w.fold[0].value {
		return nil, false
	}
	w.scoreRanks(w.fold)
	return w.ranks, true
}

// splitInto applies f to the split draws, into w.ranks.
func (w *workspace) splitInto(f func(float64) float64) []float64 {
	for i, v := range w.split {
		w.ranks[i] = f(v)
	}
	return w.ranks
}

// mean is the arithmetic mean, with one correction pass against rounding.
func mean(x []float64) float64 {
	sum := 0.0
	for _, v := range x {
		sum += v
	}
	centre := sum / float64(len(x))
	if math.IsInf(centre, 0) || math.IsNaN(centre) {
		return meanScaled(x, centre)
	}
	rest := 0.0
	for _, v := range x {
		rest += v - centre
	}
	return centre + rest/float64(len(x))
}

// meanScaled avoids overflow of the sum of huge finite values.
func meanScaled(x []float64, centre float64) float64 {
	scaled := 0.0
	for _, v := range x {
		if math.IsInf(v, 0) || math.IsNaN(v) {
			return centre
		}
		scaled += v / float64(len(x))
	}
	return scaled
}

// variance is the sample variance (divisor n-1); NaN for fewer than two values.
func variance(x []float64) float64 {
	if len(x) < 2 {
		return math.NaN()
	}
	centre := mean(x)
	sum := 0.0
	for _, v := range x {
		sum += (v - centre) * (v - centre)
	}
	return sum / float64(len(x)-1)
}

// quantileSorted is the quantile of definition 7 of Hyndman and Fan (R's
// default) of ascending values: linear between the order statistics around
// position 1 + (n-1)p. The explicit conversions forbid fused multiply-add, so
// that a quantile that is one of the draws compares equal to it on every CPU.
func quantileSorted(sorted []float64, p float64) float64 {
	if len(sorted) == 0 || math.IsNaN(p) || p < 0 || p > 1 {
		return math.NaN()
	}
	position := 1 + float64(float64(len(sorted)-1)*p)
	low := math.Floor(position)
	weight := position - low
	value := sorted[int(low)-1]
	if weight > 0 && int(low) < len(sorted) {
		if next := sorted[int(low)]; next != value {
			return float64((1-weight)*value) + float64(weight*next)
		}
	}
	return value
}
