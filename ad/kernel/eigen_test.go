package kernel

import (
	"math"
	"math/rand/v2"
	"testing"
)

// symmetricMatrices returns matrices of order n. The eigenvectors of some are difficult to compute.
func symmetricMatrices(n int) map[string][]float64 {
	r := rand.New(rand.NewPCG(uint64(n), 5))
	make := func(f func(i, j int) float64) []float64 {
		a := make([]float64, n*n)
		for i := range n {
			for j := range i + 1 {
				a[i*n+j] = f(i, j)
				a[j*n+i] = a[i*n+j]
			}
		}
		return a
	}
	return map[string][]float64{
		"random":    make(func(i, j int) float64 { return r.NormFloat64() }),
		"smooth":    make(func(i, j int) float64 { return math.Exp(-float64((i-j)*(i-j)) / 50) }),
		"graded":    make(func(i, j int) float64 { return r.NormFloat64() * math.Exp(-float64(i+j)) }),
		"ungraded":  make(func(i, j int) float64 { return r.NormFloat64() * math.Exp(-float64(2*n-i-j)) }),
		"large":     make(func(i, j int) float64 { return 1e300 * r.NormFloat64() }),
		"subnormal": make(func(i, j int) float64 { return 1e-310 * r.NormFloat64() }),
		"ones":      make(func(i, j int) float64 { return 1 }),
		"zero":      make(func(i, j int) float64 { return 0 }),
		"tiny beside": make(func(i, j int) float64 {
			if i == j {
				return float64(i % 3)
			}
			return 1e-200 * r.NormFloat64()
		}),
		"identity": make(func(i, j int) float64 {
			if i == j {
				return 1
			}
			return 0
		}),
		"anti": make(func(i, j int) float64 {
			if i+j == n-1 {
				return 1
			}
			return 0
		}),
	}
}

// TestEigenSym checks that eigenvectors are orthonormal, that eigenvalues are in order, and that
// together they reproduce the matrix.
func TestEigenSym(t *testing.T) {
	for _, n := range []int{0, 1, 2, 3, 4, 5, 8, 13, 30, 61} {
		for name, a := range symmetricMatrices(n) {
			values, vectors := make([]float64, n), make([]float64, n*n)
			work := make([]float64, EigenWork(n))
			lower := append([]float64(nil), a...)
			for i := range n {
				for j := i + 1; j < n; j++ {
					lower[i*n+j] = math.NaN() // must not be read
				}
			}
			if !EigenSym(values, vectors, lower, n, PortableEigenLoops{}, work) {
				t.Errorf("%s, order %d: no convergence", name, n)
				continue
			}
			if n == 0 {
				continue
			}
			greatest := 0.0
			for _, x := range a {
				greatest = max(greatest, math.Abs(x))
			}
			tolerance := 1e-15 * float64(n+8)
			for i := range n {
				if i > 0 && values[i] < values[i-1] {
					t.Errorf("%s, order %d: %v are not in order", name, n, values)
				}
				for j := range n {
					dot, back := 0.0, 0.0
					for k := range n {
						dot += vectors[k*n+i] * vectors[k*n+j]
						back += vectors[i*n+k] * (values[k] / greatest) * vectors[j*n+k]
					}
					one := 0.0
					if i == j {
						one = 1
					}
					if !(math.Abs(dot-one) <= tolerance) {
						t.Errorf("%s, order %d: vectors %d and %d have the product %v", name, n, i, j, dot)
					}
					if greatest > 0 && !(math.Abs(back-a[i*n+j]/greatest) <= tolerance*math.Sqrt(float64(n))) {
						t.Errorf("%s, order %d: element %d, %d becomes %v of %v", name, n, i, j, back*greatest, a[i*n+j])
					}
				}
			}
		}
	}
}
