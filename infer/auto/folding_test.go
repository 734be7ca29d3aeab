package auto

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// TestFold compares scores with those of the average rank of each distance, found by counting, on
// both sides of the length from which draws are sorted by digits.
func TestFold(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	special := []float64{math.Inf(-1), math.Inf(1), 0}
	var s folding
	for _, n := range []int{0, 1, 2, 3, 4, 5, 7, 40, 511, 512, 513, 900} {
		for trial := range 20 {
			chains := make([][]float64, 1+trial%3)
			var all []float64
			for i := range chains {
				for range (n + i) / len(chains) {
					v := rng.NormFloat64()
					switch rng.IntN(4) {
					case 0:
						v = math.Round(v) // ties
					case 1:
						if rng.IntN(4) == 0 && trial%2 == 0 {
							v = special[rng.IntN(len(special))]
						}
					}
					chains[i] = append(chains[i], v)
				}
				all = append(all, chains[i]...)
			}
			s.fold(chains)
			if len(all) == 0 {
				continue
			}
			sorted := slices.Sorted(slices.Values(all))
			median := sorted[len(all)/2]
			distances := make([]float64, len(all))
			for i, v := range all {
				if distances[i] = math.Abs(v - median); v == median { // also where it is infinite
					distances[i] = 0
				}
			}
			if math.IsInf(median, 0) {
				continue // the order of NaNs does not matter
			}
			got := slices.Concat(chains...)
			for i, d := range distances {
				less, equal := 0, 0
				for _, other := range distances {
					if other < d {
						less++
					} else if other == d {
						equal++
					}
				}
				if want := s.scores[less+(equal-1)/2]; got[i] != want {
					t.Fatalf("%d draws: draw %v at the distance %v has the score %v, not %v", len(all), all[i], d, got[i], want)
				}
			}
		}
	}
	chains := [][]float64{{1, math.NaN(), 3}, {2, 5}}
	if s.fold(chains); chains[0][0] != 1 || chains[1][1] != 5 {
		t.Errorf("draws with a NaN became %v", chains)
	}
}
