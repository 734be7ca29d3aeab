package diagnose

import (
	"math"
	"slices"
	"sync"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mathext"

	"github.com/ppl-lang/ppl/infer/internal/quick"
)

// constantRange is the maximum range, relative to the largest magnitude, of a quantity that counts
// as constant: a few units in the last place.
const constantRange = 16 * 0x1p-52

// workspace has scratch memory and everything that depends only on the shape of a run (number of
// chains, draws per chain). With it, thousands of quantities are diagnosed without allocating. Each
// goroutine needs its own.
//
// The time of a summary depends on the work per draw. A simple implementation would take as long as
// sampling in a study of thousands of quick fits. So ranks, folded ranks, quantiles and tail
// indicators share one sort per quantity, sums use gonum's vector instructions, and autocovariances
// of indicators count bits.
type workspace struct {
	chains, length int // as given
	parts, half    int // after splitting: number of half-chains, their length
	lags           *autocovariances
	whole          *autocovariances // of chains that are not split; nil: not needed so far
	indicators     *indicators
	scores         *scoreTable
	places         []int32 // index in split of each pooled draw, -1: left out; nil: the same

	table   []float64 // neighbouring quantities, chain after chain, if they are read together
	starts  []int     // where each chain begins in table, and its end
	pooled  []float64 // the chains one after another, all draws
	split   []float64 // the half-chains one after another; pooled itself if places is nil
	sorted  []float64 // the pooled draws, ascending
	order   []int32   // index in split of each sorted draw, -1: left out
	ranks   []float64 // scratch: normal scores, powers
	folds   []float64 // scratch: folded draws, ascending
	folded  []int32   // index in split of each folded draw
	centred []float64 // scratch: pooled draws about their mean
	sorter  quick.Sorter

	usable  bool    // no NaN among the draws
	finite  bool    // usable and no infinity
	varying bool    // the range is larger than rounding errors, or infinite
	low     float64 // the range
	high    float64
	loaded  bool // sorted and order belong to pooled

	group   []int // by chain: group of chains that began at the same place; nil: no groups
	arrived int   // number of groups

	bulkESS, bulkRhat float64 // valid if bulkKnown
	bulkKnown         bool
	mean, variance    float64 // valid if momentsKnown
	deviate           bool    // centred has the draws minus their mean
	momentsKnown      bool
}

// newWorkspace prepares for chains of the given length. Workspaces of the same shape may share
// scores; nil makes new ones.
func newWorkspace(chains, length int, scores *scoreTable) *workspace {
	w := &workspace{chains: chains, length: length, parts: 2 * chains, half: length / 2}
	if length == 1 { // nothing to split
		w.parts, w.half = chains, 1
	}
	n := chains * length
	if scores == nil {
		scores = &scoreTable{n: w.parts * w.half}
	}
	w.scores = scores
	w.lags = newAutocovariances(w.half)
	w.indicators = newIndicators(w.parts, w.half)
	if w.parts*w.half != n { // the middle draws of an odd number are left out
		w.split = make([]float64, w.parts*w.half)
		w.places = make([]int32, n)
		for i := range w.places {
			chain, draw := i/length, i%length
			switch second := length - w.half; {
			case draw < w.half:
				w.places[i] = int32(2*chain*w.half + draw)
			case draw >= second:
				w.places[i] = int32((2*chain+1)*w.half + draw - second)
			default:
				w.places[i] = -1
			}
		}
	}
	w.pooled = make([]float64, 0, n)
	w.ranks = make([]float64, w.parts*w.half)
	w.sorted, w.order = make([]float64, n), make([]int32, n)
	w.folds, w.folded = make([]float64, n), make([]int32, n)
	return w
}

// scoreTable has the normal scores of ranks, computed when first needed.
type scoreTable struct {
	n     int // number of ranks
	once  sync.Once
	whole []float64 // by rank, from 0
	half  []float64 // by twice the rank, from 1
}

// at returns tables of z = Phi^-1((r - 3/8)/(S + 1/4)) (Blom's scores, Vehtari et al. 2021, eq.
// 14). half has them for ranks r = 1, 1½, 2, … S at index 2r, since average ranks of ties are
// multiples of one half. Its upper half mirrors the lower one. whole has the integer ranks only.
func (t *scoreTable) at() (whole, half []float64) {
	t.once.Do(func() {
		t.half = make([]float64, 2*t.n+1)
		for twice := 2; twice <= t.n+1; twice++ {
			z := mathext.NormalQuantile((float64(twice)/2 - 0.375) / (float64(t.n) + 0.25))
			t.half[twice] = z
			if mirror := 2*t.n + 2 - twice; mirror > twice {
				t.half[mirror] = -z
			}
		}
		for twice := 2; twice <= 2*t.n; twice += 2 {
			t.whole = append(t.whole, t.half[twice])
		}
	})
	return t.whole, t.half
}

// load prepares for one quantity, whose draws the caller has put in w.pooled, chain after chain. It
// computes their range.
func (w *workspace) load() {
	w.usable, w.finite, w.varying, w.loaded, w.bulkKnown, w.momentsKnown = false, false, false, false, false, false
	if len(w.pooled) == 0 {
		return
	}
	low, high := w.pooled[0], w.pooled[0]
	for _, v := range w.pooled {
		if v >= low && v <= high {
			continue
		}
		if math.IsNaN(v) || math.IsNaN(low) {
			return
		}
		low, high = min(low, v), max(high, v)
	}
	w.usable, w.low, w.high = true, low, high
	w.finite = !math.IsInf(low, 0) && !math.IsInf(high, 0)
	if w.finite {
		// Halved, so that the range of huge values does not overflow.
		w.varying = high/2-low/2 > constantRange*max(math.Abs(low), math.Abs(high))/2
	} else {
		w.varying = low != high
	}
	if w.places == nil {
		w.split = w.pooled
		return
	}
	for i, place := range w.places {
		if place >= 0 {
			w.split[place] = w.pooled[i]
		}
	}
}

// sort fills w.sorted and w.order, unless that is already done. The draws must not have a NaN.
func (w *workspace) sort() {
	if w.loaded {
		return
	}
	w.loaded = true
	w.sorter.Sort(w.sorted, w.order, w.pooled, w.low, w.high)
	if w.places != nil {
		for i, at := range w.order {
			w.order[i] = w.places[at]
		}
	}
}

// scoreRanks writes the normal scores of the split draws into w.ranks. values are in ascending
// order, and places are their indices in w.split. Ties get the score of their average rank.
func (w *workspace) scoreRanks(values []float64, places []int32) {
	whole, half := w.scores.at()
	ranks := w.ranks
	before := 0 // draws of the split chains with smaller values
	places = places[:len(values)]
	for start := 0; start < len(values); {
		v, place := values[start], places[start]
		if start+1 == len(values) || values[start+1] != v {
			if place >= 0 {
				ranks[place] = whole[before]
				before++
			}
			start++
			continue
		}
		end, members := start, 0
		for ; end < len(values) && values[end] == v; end++ {
			if places[end] >= 0 {
				members++
			}
		}
		if members > 0 {
			score := half[2*before+members+1] // twice the average rank
			for _, place := range places[start:end] {
				if place >= 0 {
					ranks[place] = score
				}
			}
			before += members
		}
		start = end
	}
}

// foldedScores returns the rank-normalised distances of the split draws from the median of all
// draws. If they are undefined (infinite median) or constant, ok is false. To avoid a second sort,
// it merges the draws below the median, read backwards, with those above.
func (w *workspace) foldedScores() (scores []float64, ok bool) {
	w.sort()
	median := quantileSorted(w.sorted, 0.5)
	if math.IsInf(median, 0) || math.IsNaN(median) {
		return nil, false
	}
	w.fold(median)
	folds, folded := w.folds, w.folded
	if w.places != nil {
		n := 0
		for i, place := range folded {
			if place >= 0 {
				folds[n], folded[n] = folds[i], place
				n++
			}
		}
		folds, folded = folds[:n], folded[:n]
	}
	if len(folds) == 0 || folds[len(folds)-1] == folds[0] {
		return nil, false
	}
	w.scoreRanks(folds, folded)
	return w.ranks, true
}

// fold writes the distances from the median into w.folds, ascending, and their indices into
// w.folded. The merge selects its next side without a branch, since the processor would mispredict
// half of the branches. It also proceeds from both ends at once, since each step depends on the one
// before.
func (w *workspace) fold(median float64) {
	sorted := w.sorted
	n := len(sorted)
	order, folds, folded := w.order[:n], w.folds[:n], w.folded[:n]
	above, _ := slices.BinarySearch(sorted, median)
	below := above - 1
	near, far := 0, n // written so far: folds[:near] and folds[far:]
	if 2*above == n { // neither side ends before the other half is merged
		first, last := 0, n-1
		for near < n/2 {
			left := 0
			if median-sorted[below] <= sorted[above]-median {
				left = 1
			}
			at := above ^ ((above ^ below) & -left)
			folds[near], folded[near] = math.Abs(sorted[at]-median), order[at]
			below -= left
			above += 1 - left
			near++

			right := 0
			if median-sorted[first] <= sorted[last]-median {
				right = 1
			}
			at = first ^ ((first ^ last) & -right)
			far--
			folds[far], folded[far] = math.Abs(sorted[at]-median), order[at]
			last -= right
			first += 1 - right
		}
		return
	}
	for ; near < n; near++ {
		at := above
		if above == n || below >= 0 && median-sorted[below] <= sorted[above]-median {
			at = below
			below--
		} else {
			above++
		}
		folds[near], folded[near] = math.Abs(sorted[at]-median), order[at]
	}
}

// splitInto applies f to the split draws and stores the results in w.ranks.
func (w *workspace) splitInto(f func(float64) float64) []float64 {
	for i, v := range w.split {
		w.ranks[i] = f(v)
	}
	return w.ranks
}

// moments returns the mean and the sample variance of all draws. It leaves the draws minus their
// mean in w.centred.
func (w *workspace) moments() (centre, spread float64) {
	if w.momentsKnown {
		return w.mean, w.variance
	}
	w.momentsKnown = true
	defer func() { w.mean, w.variance = centre, spread }()
	w.centred = append(w.centred[:0], w.pooled...)
	centre, w.deviate = centreAt(w.centred)
	if !w.deviate || len(w.pooled) < 2 {
		return mean(w.pooled), variance(w.pooled)
	}
	return centre, floats.Dot(w.centred, w.centred) / float64(len(w.centred)-1)
}

// deviations returns the draws minus their mean. They must be finite.
func (w *workspace) deviations() []float64 {
	w.moments()
	if w.deviate {
		return w.centred
	}
	centre := mean(w.pooled)
	for i, v := range w.pooled {
		w.centred[i] = v - centre
	}
	w.deviate = true
	return w.centred
}

// centreAt subtracts the mean from x and returns it, corrected for rounding. Constant values become
// zero. If sums overflow or values are not finite, ok is false and x is meaningless.
func centreAt(x []float64) (centre float64, ok bool) {
	n := float64(len(x))
	centre = sum(x) / n
	if math.IsInf(centre, 0) || math.IsNaN(centre) {
		return centre, false
	}
	floats.AddConst(-centre, x)
	rest := sum(x) / n
	// The correction matters only if the mean is large or x is constant.
	if math.Abs(rest) > 1e-14*math.Abs(x[0]) {
		floats.AddConst(-rest, x)
	}
	return centre + rest, true
}

// sum adds in eight partial sums, which is faster and more accurate than one. gonum's sum depends
// on the alignment of x, but results must be reproducible.
func sum(x []float64) float64 {
	var s0, s1, s2, s3, s4, s5, s6, s7 float64
	for ; len(x) >= 8; x = x[8:] {
		s0 += x[0]
		s1 += x[1]
		s2 += x[2]
		s3 += x[3]
		s4 += x[4]
		s5 += x[5]
		s6 += x[6]
		s7 += x[7]
	}
	for _, v := range x {
		s0 += v
	}
	return ((s0 + s1) + (s2 + s3)) + ((s4 + s5) + (s6 + s7))
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

// quantileSorted is the quantile of sorted values by definition 7 of Hyndman and Fan, R's default:
// linear between the order statistics around position 1 + (n-1)p. The explicit conversions forbid
// fused multiply-add, so that a quantile that is one of the draws equals it exactly on every CPU.
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
