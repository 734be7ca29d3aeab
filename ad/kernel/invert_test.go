package kernel

import (
	"math"
	"math/rand/v2"
	"testing"
)

// TestInvert checks that products with the inverse are the identity, whichever pivots are chosen,
// that the distance of rows does not affect the result, and that a singular matrix has no finite
// inverse.
func TestInvert(t *testing.T) {
	for _, n := range []int{0, 1, 2, 3, 5, 8, 15, 30, 61} {
		r := rand.New(rand.NewPCG(uint64(n), 9))
		random, rotated, small := make([]float64, n*n), make([]float64, n*n), make([]float64, n*n)
		for i := range random {
			random[i] = r.NormFloat64()
			small[i] = 1e-20 * r.NormFloat64() // so that pivots are not on the diagonal
		}
		for i := range n {
			rotated[i*n+(i+1)%n] = float64(1 + i)
			small[i*n+n-1-i] += 1
		}
		for name, a := range map[string][]float64{"random": random, "rotated": rotated, "small": small} {
			got := inverse(a, n, n)
			for i := range n {
				for j := range n {
					sum, size := 0.0, 0.0
					for k := range n {
						sum += a[i*n+k] * got[k*n+j]
						size += math.Abs(a[i*n+k] * got[k*n+j])
					}
					if i == j {
						sum--
					}
					if !(math.Abs(sum) <= 1e-14*float64(n)*(1+size)) {
						t.Fatalf("%s, order %d: element (%d, %d) of the product is off by %v", name, n, i, j, sum)
					}
				}
			}
			for k, x := range inverse(a, n, n+5) {
				if math.Float64bits(x) != math.Float64bits(got[k]) {
					t.Fatalf("%s, order %d: element %d is %v with rows apart, want %v", name, n, k, x, got[k])
				}
			}
		}
		if n < 2 {
			continue
		}
		copy(random[n:], random[:n])
		finite := true
		for _, x := range inverse(random, n, n) {
			finite = finite && !math.IsInf(x, 0) && !math.IsNaN(x)
		}
		if finite && n == 2 { // in larger matrices, rounding may make the last pivot differ from 0
			t.Errorf("order %d: a singular matrix has an inverse", n)
		}
	}
}

func inverse(a []float64, n, stride int) []float64 {
	work := make([]float64, InvertWork(n, stride))
	for i := range work {
		work[i] = math.NaN()
	}
	dst := make([]float64, n*n)
	Invert(dst, a, n, stride, PortableEigenLoops{}, work)
	return dst
}
