package compile

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
)

// TestInsertionSort checks loops whose inner loop counts until parameters end it, with the counter
// read afterwards. Sizes are on both sides of where loops are unrolled. The work of a gradient,
// with one trip of each while loop, is bounded: versions with the right results took 15 times as
// long.
func TestInsertionSort(t *testing.T) {
	for _, c := range []struct {
		inner string
		most  float64 // numbers computed and copied, divided by n²
	}{
		{"while (j >= 1) { if (v[j] <= x) break; v[j + 1] = v[j]; j -= 1; }", 160},
		{"while (j >= 1 && v[j] > x) { v[j + 1] = v[j]; j -= 1; }", 45},
		{"for (k in 1:i - 1) { if (v[j] <= x) break; v[j + 1] = v[j]; j -= 1; }", 90},
	} {
		for _, n := range []int{1, 2, 5, 17, 40} {
			text := `data { int N; vector[N] y; } parameters { vector[N] th; }
model {
  vector[N] v = th;
  for (i in 2:N) {
    real x = v[i];
    int j = i - 1;
    ` + c.inner + `
    v[j + 1] = x;
  }
  target += dot_product(y, v);
}`
			x, y, words := make([]float64, n), make([]float64, n), make([]string, n)
			for i := range n {
				x[i], y[i] = math.Sin(float64(7*i)), float64(i*i%11)
				words[i] = fmt.Sprint(y[i])
			}
			if work := boundText(t, text, map[string]any{"N": n, "y": y}).density.Work() / float64(n*n); work > c.most {
				t.Errorf("%s, %d numbers: the work of a gradient is %.3g n², want at most %g", c.inner, n, work, c.most)
			}
			lp, grad, err := evaluate(t, text, fmt.Sprintf(`{"N": %d, "y": [%s]}`, n, strings.Join(words, ",")), x...)
			if err != nil {
				t.Fatal(err)
			}
			sorted, want := slices.Sorted(slices.Values(x)), 0.0
			for i, s := range sorted {
				want += y[i] * s
				if got := grad[slices.Index(x, s)]; got != y[i] {
					t.Errorf("%s, %d numbers: derivative %v, want %v", c.inner, n, got, y[i])
				}
			}
			if math.Abs(lp-want) > 1e-12*(1+math.Abs(want)) {
				t.Errorf("%s, %d numbers: %v, want %v", c.inner, n, lp, want)
			}
		}
	}
}
