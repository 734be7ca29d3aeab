package kernel_test

import (
	"math"
	"testing"

	"github.com/ppl-lang/ppl/ad/kernel"
)

// TestLogBesselIv compares the derivative with respect to the order with differences of the
// function, in the range of each formula and where they meet.
func TestLogBesselIv(t *testing.T) {
	for _, v := range []float64{0.01, 0.3, 1, 2.5, 4, 12, 80, 999, 9000, 2e4, 1e6} {
		for _, x := range []float64{1e-3, 0.1, 1, 3, 39, 45, 73, 330, 1e4, 1e6} {
			h := 1e-3 * math.Max(v, 0.1)
			if v < 1 {
				h = 1e-3 * v
			}
			f := func(d float64) float64 { return kernel.LogBesselI(v+d*h, x) }
			want := (8*(f(1)-f(-1)) - (f(2) - f(-2))) / (12 * h)
			rounding := 2e-15 * (1 + math.Abs(f(0))) / h
			if got := kernel.LogBesselIv(v, x); !(math.Abs(got-want) <= 1e-9*math.Abs(want)+4*rounding) {
				t.Errorf("v %v x %v: %v, differences say %v", v, x, got, want)
			}
		}
	}
	// At order 0 the derivative is -K₀/I₀ (DLMF 10.38.4).
	for _, x := range []float64{0.1, 1, 10} {
		want := -math.Exp(kernel.LogBesselK(0, x) - kernel.LogBesselI(0, x) - 2*x)
		if got := kernel.LogBesselIv(0, x); math.Abs(got-want) > 1e-14 {
			t.Errorf("v 0 x %v: %v, want %v", x, got, want)
		}
	}
}
