package compile

import (
	"math"
	"strings"
	"testing"
)

// TestTanhSlope checks the derivative of tanh, also where the square of cosh overflows, and that
// it is one op, which machine code computes together with tanh.
func TestTanhSlope(t *testing.T) {
	for _, n := range []int{1, 2, 9, 70} {
		m := boundText(t, "data { int n; } parameters { vector[n] x; } model { target += sum(tanh(x)); }", map[string]any{"n": n})
		text, err := m.Listing()
		if err != nil {
			t.Fatal(err)
		}
		if strings.Count(text, "tanh_slope") != 1 || strings.Contains(text, "exp") {
			t.Errorf("%d numbers: the derivative of tanh is not one op:\n%s", n, text)
		}
		x, grad := make([]float64, n), make([]float64, n)
		for _, v := range []float64{0, 1e-300, 1e-9, 0.3, 1, 5, 20, 300, 350, 360, 372, 800, math.Inf(1)} {
			for _, v := range []float64{v, -v} {
				for i := range x {
					x[i] = v
				}
				if _, err := m.LogDensityGrad(x, grad); err != nil {
					t.Fatal(err)
				}
				e := math.Exp(-2 * math.Abs(v))
				want := 4 * e / ((1 + e) * (1 + e))
				for i, d := range grad {
					if !(math.Abs(d-want) <= 4e-15*want+1e-307) {
						t.Errorf("slope of tanh at %v, element %d of %d: %v, want %v", v, i, n, d, want)
						break
					}
				}
			}
		}
	}
}
