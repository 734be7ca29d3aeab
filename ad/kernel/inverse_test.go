package kernel

import (
	"testing"
	"time"
)

// TestStudentQuantileReturns checks that the search for a quantile ends even for tiny degrees of
// freedom, where the quantile is outside the range of numbers.
func TestStudentQuantileReturns(t *testing.T) {
	for _, nu := range []float64{1.5e-8, 1e-300, 5e-324, 1e-3, 0.02} {
		for _, p := range []float64{0.59, 0.5, 0.41, 1e-10, 1 - 1e-10} {
			done := make(chan float64, 1)
			go func() { done <- StudentQuantile(p, nu) }()
			select {
			case x := <-done:
				if p == 0.5 && x != 0 || p > 0.5 && !(x > 0) || p < 0.5 && !(x < 0) {
					t.Errorf("StudentQuantile(%v, %v) = %v", p, nu, x)
				}
			case <-time.After(20 * time.Second):
				t.Fatalf("StudentQuantile(%v, %v) does not return", p, nu)
			}
		}
	}
	if x := StudentQuantile(0.59, 1.5e-8); !(x > 1e300) {
		t.Errorf("StudentQuantile(0.59, 1.5e-8) = %v, though it is beyond all numbers", x)
	}
}
