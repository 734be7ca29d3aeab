package riemann

import (
	"math"
	"testing"
)

// TestContraction checks when iterations are given up: if they get no closer, or too slowly for the
// remaining iterations. Others must continue, such as geometric ones, even if they move away at
// first.
func TestContraction(t *testing.T) {
	const limit, iterations = 1e-6, 100
	ends := func(distance func(k int) float64) (at int, hopeless bool) {
		var c contraction
		for k := range iterations {
			r := distance(k)
			if r <= limit {
				return k, false
			}
			if c.hopeless(r, limit, iterations-1-k) {
				return k, true
			}
		}
		return iterations, true
	}
	for name, c := range map[string]struct {
		distance func(k int) float64
		hopeless bool
		before   int
	}{
		"fast":            {func(k int) float64 { return math.Pow(0.3, float64(k)) }, false, 20},
		"slow":            {func(k int) float64 { return math.Pow(0.86, float64(k)) }, false, iterations},
		"too slow":        {func(k int) float64 { return math.Pow(0.95, float64(k)) }, true, 14},
		"diverges":        {func(k int) float64 { return math.Pow(1.1, float64(k)) }, true, 14},
		"away at first":   {func(k int) float64 { return math.Pow(0.5, float64(k)) * math.Exp(-0.1*math.Pow(float64(k-4), 2)) }, false, 30},
		"between two":     {func(k int) float64 { return 1 + float64(k%2) }, true, 14},
		"is not a number": {func(k int) float64 { return math.NaN() }, true, 14},
	} {
		at, hopeless := ends(c.distance)
		if hopeless != c.hopeless || at > c.before {
			t.Errorf("%s: ends after %d iterations, hopeless %v", name, at, hopeless)
		}
	}
}
