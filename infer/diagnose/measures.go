package diagnose

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mathext"
)

// Rhat is the rank-normalised split R-hat of one quantity, chains[chain][draw]. It is the larger of
// two values, for the draws and for the folded draws (distances from the median), which detect
// chains of unequal spread. It is 1 at convergence, and NaN for constant quantities. If only the
// folded draws are constant, such as for an evenly split binary quantity, the first value counts.
// Vehtari et al. (2021), sections 3.1, 4.1 and 4.2.
func Rhat(chains [][]float64) float64 { return measure(chains, (*workspace).rhat) }

// NestedRhat is R-hat for chains some of which began at the same place. Chains that share a place
// are a group. The variance of the groups' means is compared with the variance within groups, both
// between and within their chains (Margossian, Hoffman, Sountsov, Riou-Durand, Vehtari and Gelman
// 2024, "Nested R-hat: assessing the convergence of Markov chain Monte Carlo when running many
// short chains", eqs. 5 to 8). As in [Rhat], draws are split, rank-normalised and folded.
//
// arrivals has a number per chain, as [Arrived] describes. The result is NaN for fewer than two
// places, and for constant quantities.
func NestedRhat(chains [][]float64, arrivals []int) float64 {
	var with []int
	for chain, draws := range chains {
		if len(draws) > 0 {
			with = append(with, chain)
		}
	}
	group, places, _ := groups(arrivals, with)
	return measure(chains, func(w *workspace) float64 {
		w.group, w.arrived = group, places
		return w.nestedRhat()
	})
}

// ESSBulk is the effective sample size of the rank-normalised draws: the number of independent
// draws that would locate the bulk of the distribution equally well. For S draws it is at most
// S·log10(S), which antithetic chains reach.
func ESSBulk(chains [][]float64) float64 { return measure(chains, (*workspace).essBulk) }

// ESSTail is the smaller effective sample size of the 5 % and 95 % quantiles.
func ESSTail(chains [][]float64) float64 { return measure(chains, (*workspace).essTail) }

// ESSMean is the effective sample size for the mean, computed from the draws themselves.
func ESSMean(chains [][]float64) float64 { return measure(chains, (*workspace).essMean) }

// ESSSD is the effective sample size for the standard deviation, computed from the distances from
// the mean.
func ESSSD(chains [][]float64) float64 { return measure(chains, (*workspace).essSD) }

// ESSSquares is the effective sample size for the variance, computed from the squared distances
// from the mean.
func ESSSquares(chains [][]float64) float64 { return measure(chains, (*workspace).essSquares) }

// ESSQuantile is the effective sample size for the quantile of probability p, computed from the
// indicator whether a draw is at most that quantile.
func ESSQuantile(chains [][]float64, p float64) float64 {
	return measure(chains, func(w *workspace) float64 { return w.essQuantile(p) })
}

// MCSEMean is the Monte Carlo standard error of the mean: the standard deviation divided by the
// square root of [ESSMean].
func MCSEMean(chains [][]float64) float64 { return measure(chains, (*workspace).mcseMean) }

// MCSESD is the Monte Carlo standard error of the standard deviation, by the delta method from the
// error of the variance (Kenney and Keeping 1951, 7.9).
func MCSESD(chains [][]float64) float64 { return measure(chains, (*workspace).mcseSD) }

// MCSEQuantile is the Monte Carlo standard error of the quantile of
// probability p: half the width of a 68 % interval of order statistics,
// Vehtari et al. (2021), section 4.4.
func MCSEQuantile(chains [][]float64, p float64) float64 {
	return measure(chains, func(w *workspace) float64 { return w.mcseQuantile(p) })
}

// Quantile is the sample quantile (R's type 7) of probability p in [0, 1]. It is NaN if there are
// no draws, or one of them is NaN.
func Quantile(draws []float64, p float64) float64 { return Quantiles(draws, p)[0] }

// Quantiles computes [Quantile] at several probabilities, and sorts the draws only once.
func Quantiles(draws []float64, probabilities ...float64) []float64 {
	sorted := slices.Clone(draws)
	slices.Sort(sorted) // NaN first
	out := make([]float64, len(probabilities))
	for i, p := range probabilities {
		if out[i] = math.NaN(); len(sorted) > 0 && !math.IsNaN(sorted[0]) {
			out[i] = quantileSorted(sorted, p)
		}
	}
	return out
}

// measure evaluates f on one quantity, with all chains cut to the length of the shortest that is
// not empty.
func measure(chains [][]float64, f func(*workspace) float64) float64 {
	count, length := 0, 0
	for _, chain := range chains {
		if len(chain) == 0 {
			continue
		}
		if count == 0 || len(chain) < length {
			length = len(chain)
		}
		count++
	}
	if count == 0 {
		return math.NaN()
	}
	w := newWorkspace(count, length, nil)
	for _, chain := range chains {
		if len(chain) > 0 {
			w.pooled = append(w.pooled, chain[:length]...)
		}
	}
	w.load()
	return f(w)
}

func (w *workspace) rhat() float64 {
	if !w.usable || !w.varying {
		return math.NaN()
	}
	w.bulk()
	rhat := w.bulkRhat
	if scores, ok := w.foldedScores(); ok {
		w.lags.reset(scores)
		// A comparison instead of max: if one is NaN, the other counts.
		if folded := w.splitRhat(w.lags); folded > rhat || math.IsNaN(rhat) {
			rhat = folded
		}
	}
	if w.group != nil {
		if nested := w.nestedRhat(); nested > rhat {
			rhat = nested
		}
	}
	return rhat
}

// nestedRhat is [NestedRhat] for w.group and the loaded chains.
func (w *workspace) nestedRhat() float64 {
	if !w.usable || !w.varying || w.arrived < 2 {
		return math.NaN()
	}
	w.sort()
	w.scoreRanks(w.sorted, w.order)
	w.lags.reset(w.ranks)
	rhat := w.groupRhat(w.lags)
	if scores, ok := w.foldedScores(); ok {
		w.lags.reset(scores)
		if folded := w.groupRhat(w.lags); folded > rhat || math.IsNaN(rhat) {
			rhat = folded
		}
	}
	return rhat
}

// groupRhat is the square root of 1 + B/W. B is the variance of the groups' means. W is the mean
// over groups of two terms: the variance of the means of their half-chains, and the mean variance
// within these.
func (w *workspace) groupRhat(x *autocovariances) float64 {
	if w.half < 2 {
		return math.NaN()
	}
	halves := w.parts / w.chains // of a chain
	centres, within := make([]float64, w.arrived), 0.0
	for g := range centres {
		var means []float64
		inside := 0.0
		for part, m := range x.means {
			if w.group[part/halves] != g {
				continue
			}
			means = append(means, m)
			centred := x.centred[part*w.half : (part+1)*w.half]
			inside += floats.Dot(centred, centred) / float64(w.half-1)
		}
		centres[g] = mean(means)
		within += (inside/float64(len(means)) + variance(means)) / float64(w.arrived)
	}
	return math.Sqrt(1 + variance(centres)/within)
}

// bulk computes R-hat and ESS from the normal scores of the draws.
func (w *workspace) bulk() {
	if w.bulkKnown {
		return
	}
	w.bulkKnown = true
	w.sort()
	w.scoreRanks(w.sorted, w.order)
	w.bulkRhat, w.bulkESS = math.NaN(), math.NaN()
	w.lags.reset(w.ranks)
	w.bulkRhat = w.splitRhat(w.lags)
	if w.half >= 3 && !constant(w.ranks) {
		w.bulkESS = w.essOf(w.lags.at, w.lags.means)
	}
}

// splitRhat is the potential scale reduction of half-chains: the square root of the pooled variance
// divided by the mean within-chain variance, Vehtari et al. (2021), eqs. 1 to 4. It is +Inf for
// chains that are constant but different.
func (w *workspace) splitRhat(x *autocovariances) float64 {
	n := float64(w.half)
	if w.half < 2 {
		return math.NaN()
	}
	within := x.at(0) * n / (n - 1)
	between := n * variance(x.means)
	return math.Sqrt((between/within + n - 1) / n)
}

func (w *workspace) essBulk() float64 {
	if !w.usable || !w.varying {
		return math.NaN()
	}
	w.bulk()
	return w.bulkESS
}

func (w *workspace) essTail() float64 {
	low, high := w.essQuantile(0.05), w.essQuantile(0.95)
	if math.IsNaN(low) || math.IsNaN(high) {
		return math.NaN()
	}
	return min(low, high)
}

func (w *workspace) essMean() float64 {
	if !w.finite || !w.varying {
		return math.NaN()
	}
	// Subtract the mean of all draws first. Otherwise the means of half-chains lose digits to
	// rounding: seven for draws of 1e6 ± 1e-3.
	if _, spread := w.moments(); math.IsNaN(spread) || math.IsInf(spread, 0) {
		return w.ess(w.split)
	}
	if w.places == nil {
		return w.ess(w.centred)
	}
	for i, place := range w.places {
		if place >= 0 {
			w.ranks[place] = w.centred[i]
		}
	}
	return w.ess(w.ranks)
}

func (w *workspace) essSD() float64 {
	if !w.finite || !w.varying {
		return math.NaN()
	}
	centre := mean(w.pooled)
	return w.ess(w.splitInto(func(v float64) float64 { return math.Abs(v - centre) }))
}

func (w *workspace) essSquares() float64 {
	if !w.finite || !w.varying {
		return math.NaN()
	}
	deviations := w.deviations()
	if w.places == nil {
		floats.MulTo(w.ranks, deviations, deviations)
		return w.ess(w.ranks)
	}
	for i, place := range w.places {
		if place >= 0 {
			w.ranks[place] = deviations[i] * deviations[i]
		}
	}
	return w.ess(w.ranks)
}

func (w *workspace) essQuantile(p float64) float64 {
	if !w.finite || !w.varying || math.IsNaN(p) || p < 0 || p > 1 {
		return math.NaN()
	}
	if p == 1 { // every draw is at most the maximum: step just below it
		p = (float64(len(w.pooled)) - 0.5) / float64(len(w.pooled))
	}
	w.sort()
	threshold := quantileSorted(w.sorted, p)
	ones, _ := slices.BinarySearchFunc(w.sorted, threshold, func(v, t float64) int {
		if v <= t {
			return -1
		}
		return 1
	})
	// The indicator of the other side has the same autocovariances.
	places := w.order[:ones]
	if 2*ones > len(w.order) {
		places = w.order[ones:]
	}
	if !w.indicators.reset(places) || w.half < 3 {
		return math.NaN()
	}
	return w.essOf(w.indicators.at, w.indicators.means)
}

func (w *workspace) mcseMean() float64 {
	_, spread := w.moments()
	return math.Sqrt(spread) / math.Sqrt(w.essMean())
}

func (w *workspace) mcseSD() float64 { return w.mcseSDOf(w.essSquares()) }

// mcseSDOf is mcseSD, given the effective sample size of the squared deviations.
func (w *workspace) mcseSDOf(essSquares float64) float64 {
	if !w.finite || !w.varying {
		return math.NaN()
	}
	deviations := w.deviations()
	n := float64(len(deviations))
	squares := w.folds[:len(deviations)]
	floats.MulTo(squares, deviations, deviations)
	second, fourth := sum(squares)/n, floats.Dot(squares, squares)/n
	return math.Sqrt((fourth - second*second) / essSquares / second / 4)
}

func (w *workspace) mcseQuantile(p float64) float64 {
	ess := w.essQuantile(p)
	if !(ess > 0) {
		return math.NaN()
	}
	// Phi(-1) and Phi(1), to the seven digits that posterior uses.
	const lowProbability, highProbability = 0.1586553, 0.8413447
	a, b := ess*p+1, ess*(1-p)+1
	n := len(w.sorted) // sorted for ess
	low := int(math.Floor(mathext.InvRegIncBeta(a, b, lowProbability) * float64(n)))
	high := int(math.Ceil(mathext.InvRegIncBeta(a, b, highProbability) * float64(n)))
	low, high = min(max(low, 1), n), max(min(high, n), 1)
	return (w.sorted[high-1] - w.sorted[low-1]) / 2
}

// ess is the effective sample size of half-chains x, by Geyer's initial monotone sequence over all
// chains (Vehtari et al. 2021, section 3.2, with the truncation that their software uses for
// antithetic chains). It is NaN for fewer than three draws per half-chain or constant x.
func (w *workspace) ess(x []float64) float64 {
	if w.half < 3 || constant(x) {
		return math.NaN()
	}
	w.lags.reset(x)
	return w.essOf(w.lags.at, w.lags.means)
}

// essOf computes ess from the autocovariance at each lag and the means of the half-chains.
func (w *workspace) essOf(at func(lag int) float64, means []float64) float64 {
	n := float64(w.half)
	pooled := at(0)
	within := pooled * n / (n - 1)
	if w.parts > 1 {
		pooled += variance(means)
	}
	rho := func(lag int) float64 { return 1 - (within-at(lag))/pooled }
	tau := integratedTime(rho, w.half)
	S := float64(w.parts * w.half)
	return S / max(tau, 1/math.Log10(S))
}

// integratedTime is the integrated autocorrelation time, -1 + 2 Σ rho. In theory the sums of pairs
// P_k = rho(2k) + rho(2k+1) are positive and decreasing. So each is limited to its predecessor, and
// the sum stops at the first that is not positive, or where fewer than four of the n lags are left.
// The even member of that last pair is added once, which lowers the variance for antithetic chains.
func integratedTime(rho func(lag int) float64, n int) float64 {
	even, pair := 1.0, 1+rho(1)
	previous, sum := math.Inf(1), 0.0
	k := 0
	for ; 2*k < n-5 && pair > 0; k++ {
		previous = min(pair, previous)
		sum += previous
		even = rho(2*k + 2)
		pair = even + rho(2*k+3)
	}
	if k == 0 {
		// There is no second pair, or the draws alternate perfectly. posterior counts the first
		// even member twice here.
		return 2
	}
	last := even
	if pair < 0 {
		last = max(even, 0)
	}
	return -1 + 2*sum + last
}

// constant reports whether all values are the same up to rounding.
func constant(x []float64) bool {
	low, high := x[0], x[0]
	for _, v := range x {
		if v != v {
			return false
		}
		if v < low {
			low = v
		} else if v > high {
			high = v
		} else {
			continue
		}
		// A few values usually suffice. The factor 4 makes sure that later values, which may have a
		// larger magnitude, cannot change the result.
		if high/2-low/2 > 4*constantRange*max(math.Abs(low), math.Abs(high))/2 {
			return false
		}
	}
	return high/2-low/2 <= constantRange*max(math.Abs(low), math.Abs(high))/2
}
