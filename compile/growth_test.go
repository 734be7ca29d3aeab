package compile

import (
	"os"
	"path/filepath"
	"testing"
)

// TestCarriedArraysGrow checks that the cost of loops that carry arrays is proportional to their
// iterations. If the length of the loop doubles, the work of a gradient grows like the number of
// iterations, counting the innermost ones. Most lengths are too large for unrolling.
func TestCarriedArraysGrow(t *testing.T) {
	for _, c := range []struct {
		name  string
		n     int
		grows float64 // iterations at 2n over those at n
	}{
		{"moving_average", 400, 2},
		{"two_arrays", 800, 2},
		{"accumulated", 400, 2},
		{"renewal", 300, 4},
		{"convolution", 130, 4},
		{"triangle", 260, 4},
		{"successes", 100, 4},
		{"backwards", 100, 4},
		{"alignment", 100, 4},
	} {
		text, err := os.ReadFile(filepath.Join("testdata", "carried", c.name+".model"))
		if err != nil {
			t.Fatal(err)
		}
		work := func(n int) float64 {
			y, g := make([]float64, n), make([]int, n)
			for i := range y {
				y[i], g[i] = float64(i%7)/7, 1+i*i%5
			}
			return boundText(t, string(text), map[string]any{"n": n, "y": y, "g": g}).density.Work()
		}
		small, large := work(c.n), work(2*c.n)
		if large > 1.1*c.grows*small {
			t.Errorf("%s: the work of a gradient grows from %.3g to %.3g, %.2f times; the iterations grow %g times", c.name, small, large, large/small, c.grows)
		}
	}
}
