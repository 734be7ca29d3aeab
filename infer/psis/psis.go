// Package psis smooths importance weights: Pareto smoothed importance sampling.
//
// Unstable: versions do not promise to keep this package, see doc/how-to/go-library.md.
//
// An importance sampling estimate depends most on the largest importance ratios, which are too
// noisy to be used as they are. They are replaced by the expected order statistics of a generalised
// Pareto distribution fitted to them. Its estimated shape k says whether the estimate is reliable.
//
//	psis.go    Smoother: log ratios to log weights, and k
//	pareto.go  FitPareto: the generalised Pareto distribution
//
// Source: Vehtari, Simpson, Gelman, Yao and Gabry (2024), "Pareto smoothed importance sampling",
// Journal of Machine Learning Research 25(72). Results equal those of R's package loo (checked
// against 2.5.1, see testdata).
package psis

import (
	"cmp"
	"math"
	"slices"
)

// minTail is the minimum number of ratios to which a distribution is fitted.
const minTail = 5

// sameTail is the range of log ratios below which a tail counts as constant, as in package loo.
const sameTail = 0x1p-52 / 100

// Limit returns the shape k above which an estimate from this number of draws is not reliable:
// min(1 − 1/log₁₀ draws, 0.7).
func Limit(draws int) float64 {
	return min(1-1/math.Log10(float64(draws)), 0.7)
}

// TailLength returns the number of ratios that are smoothed: the minimum of a fifth of the draws
// and 3·√(draws/efficiency), rounded up. efficiency is the effective sample size divided by the
// number of draws, 1 for independent draws; NaN counts as 1.
func TailLength(draws int, efficiency float64) int {
	if math.IsNaN(efficiency) {
		efficiency = 1
	}
	s := float64(draws)
	return int(math.Ceil(min(0.2*s, 3*math.Sqrt(s/efficiency))))
}

// Smoother is work space for smoothing. The zero value is ready; it is not safe for concurrent use.
type Smoother struct {
	tail   []ratio
	excess []float64
	sorted []float64
}

// ratio is a log ratio with its index.
type ratio struct {
	value float64
	place int
}

// Smooth replaces log importance ratios by smoothed log weights and returns the shape k of their
// tail. Both are known up to the same constant. tail is the number of ratios in the tail, see
// [TailLength]. If the tail is too short or constant, k is +Inf and the ratios do not change.
func (s *Smoother) Smooth(ratios []float64, tail int) (k float64) {
	k = math.Inf(1)
	if len(ratios) == 0 {
		return k
	}
	top := slices.Max(ratios)
	if math.IsNaN(top) || math.IsInf(top, 0) {
		return k
	}
	for i := range ratios {
		ratios[i] -= top
	}
	if tail >= minTail && tail < len(ratios) {
		cutoff := s.largest(ratios, tail)
		lo, hi := s.tail[0].value, s.tail[len(s.tail)-1].value
		if hi-lo >= sameTail {
			base := math.Exp(cutoff)
			s.excess = s.excess[:0]
			for _, r := range s.tail {
				s.excess = append(s.excess, math.Exp(r.value)-base)
			}
			var sigma float64
			if k, sigma = FitPareto(s.excess); !math.IsInf(k, 1) {
				for i, r := range s.tail {
					p := (float64(i) + 0.5) / float64(len(s.tail))
					ratios[r.place] = math.Log(paretoQuantile(p, k, sigma) + base)
				}
			}
		}
	}
	for i, v := range ratios {
		ratios[i] = min(v, 0) + top // no weight exceeds the largest ratio
	}
	return k
}

// largest writes the n largest values to s.tail in ascending order, and returns the largest of the
// other values.
func (s *Smoother) largest(values []float64, n int) (cutoff float64) {
	s.sorted = append(s.sorted[:0], values...)
	first := len(values) - n
	selectOrder(s.sorted, first)
	threshold := s.sorted[first]
	cutoff = slices.Max(s.sorted[:first])
	s.tail = s.tail[:0]
	for i, v := range values {
		if v > threshold {
			s.tail = append(s.tail, ratio{v, i})
		}
	}
	// If values are equal, the last ones belong to the tail.
	for i := len(values) - 1; len(s.tail) < n; i-- {
		if values[i] == threshold {
			s.tail = append(s.tail, ratio{threshold, i})
		}
	}
	slices.SortFunc(s.tail, func(a, b ratio) int {
		if c := cmp.Compare(a.value, b.value); c != 0 {
			return c
		}
		return a.place - b.place
	})
	return cutoff
}

// selectOrder reorders x so that x[k] has the element of rank k (from 0), with smaller elements
// before it and larger ones after it (Hoare's algorithm FIND). Only a few per cent of the draws
// belong to the tail; sorting all would take most of the time of a smoothing.
func selectOrder(x []float64, k int) {
	for lo, hi := 0, len(x)-1; lo < hi; {
		mid := lo + (hi-lo)/2
		// The pivot is the median of three elements, so that sorted input is not slow.
		if x[mid] < x[lo] {
			x[mid], x[lo] = x[lo], x[mid]
		}
		if x[hi] < x[lo] {
			x[hi], x[lo] = x[lo], x[hi]
		}
		if x[hi] < x[mid] {
			x[hi], x[mid] = x[mid], x[hi]
		}
		pivot := x[mid]
		i, j := lo, hi
		for i <= j {
			for x[i] < pivot {
				i++
			}
			for x[j] > pivot {
				j--
			}
			if i <= j {
				x[i], x[j] = x[j], x[i]
				i, j = i+1, j-1
			}
		}
		switch {
		case k <= j:
			hi = j
		case k >= i:
			lo = i
		default:
			return
		}
	}
}

// Normalize turns log weights into weights that sum to one, in place.
func Normalize(logWeights []float64) {
	if len(logWeights) == 0 {
		return
	}
	top := slices.Max(logWeights)
	sum := 0.0
	for i, v := range logWeights {
		logWeights[i] = math.Exp(v - top)
		sum += logWeights[i]
	}
	for i := range logWeights {
		logWeights[i] /= sum
	}
}
