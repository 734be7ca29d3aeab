package auto

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// TestFoldingMerge compares merged distances from the median with sorted ones.
func TestFoldingMerge(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	special := []float64{math.NaN(), math.Inf(-1), math.Inf(1), 0}
	for n := range 40 {
		for range 50 {
			var s folding
			for range n {
				v := rng.NormFloat64()
				switch rng.IntN(4) {
				case 0:
					v = math.Round(v) // ties
				case 1:
					if rng.IntN(4) == 0 {
						v = special[rng.IntN(len(special))]
					}
				}
				s.sorted = append(s.sorted, v)
			}
			slices.Sort(s.sorted)
			if n == 0 {
				s.merge(0)
				continue
			}
			median := s.sorted[n/2]
			var want []float64
			for _, v := range s.sorted {
				want = append(want, math.Abs(v-median))
			}
			slices.Sort(want)
			s.merge(median)
			if fmt.Sprint(s.distances) != fmt.Sprint(want) {
				t.Fatalf("%v\ngot  %v\nwant %v", s.sorted, s.distances, want)
			}
		}
	}
}
