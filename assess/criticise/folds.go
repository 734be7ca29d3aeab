package criticise

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"

	"github.com/ppl-lang/ppl/internal/sorting"
)

// Fold is a set of observations, Test, that are predicted from others, Train. Both are lists of
// indices from 0.
type Fold struct{ Train, Test []int }

// RandomFolds assigns n observations at random to k folds of nearly equal size.
func RandomFolds(n, k int, rng *rand.Rand) ([]Fold, error) {
	if k < 2 || k > n {
		return nil, fmt.Errorf("%d folds of %d observations: there must be at least 2, and at most one per observation", k, n)
	}
	tests := make([][]int, k)
	for i, row := range rng.Perm(n) {
		tests[i%k] = append(tests[i%k], row)
	}
	return others(tests, n), nil
}

// GroupedFolds makes folds that keep the observations of a group together. If k is 0, each group is
// a fold; otherwise groups are assigned at random to k folds.
func GroupedFolds(groups [][]int, k int, rng *rand.Rand) ([]Fold, error) {
	n := 0
	for _, g := range groups {
		n += len(g)
	}
	if k == 0 {
		k = len(groups)
	}
	if k < 2 || k > len(groups) {
		return nil, fmt.Errorf("%d folds of %d groups: there must be at least 2, and at most one per group", k, len(groups))
	}
	tests := make([][]int, k)
	if k == len(groups) {
		copy(tests, groups)
	} else {
		for i, g := range rng.Perm(len(groups)) {
			tests[i%k] = append(tests[i%k], groups[g]...)
		}
	}
	return others(tests, n), nil
}

func others(tests [][]int, n int) []Fold {
	folds := make([]Fold, len(tests))
	for f, test := range tests {
		test = slices.Clone(test)
		slices.Sort(test)
		folds[f].Test = test
		for i := range n {
			if _, in := slices.BinarySearch(test, i); !in {
				folds[f].Train = append(folds[f].Train, i)
			}
		}
	}
	return folds
}

// FutureFolds makes folds that predict later observations from earlier ones. Observations are
// ordered by time. The earliest, a share of at least first, only serve to predict others. The rest
// is divided into k blocks, each predicted from all observations before it. Observations of the
// same time are in the same block.
func FutureFolds(time []float64, k int, first float64) ([]Fold, error) {
	n := len(time)
	order := make([]int, n)
	for i := range order {
		order[i] = i
	}
	sorting.Stable(order, func(a, b int) int { return cmp.Compare(time[a], time[b]) })
	// Observations of the same time belong to the same block.
	next := func(at int) int {
		for at < n && at > 0 && time[order[at]] == time[order[at-1]] {
			at++
		}
		return at
	}
	start := next(max(1, int(first*float64(n)+0.5)))
	if k < 1 || start >= n {
		return nil, fmt.Errorf("%d blocks of the observations after the first %d of %d: there is nothing to predict", k, start, n)
	}
	var folds []Fold
	for b, at := 0, start; b < k && at < n; b++ {
		end := n
		if b < k-1 {
			end = next(max(at+1, start+(n-start)*(b+1)/k))
		}
		train, test := slices.Clone(order[:at]), slices.Clone(order[at:end])
		slices.Sort(train)
		slices.Sort(test)
		folds = append(folds, Fold{train, test})
		at = end
	}
	return folds, nil
}
