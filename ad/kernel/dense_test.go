package kernel

import (
	"math"
	"math/rand/v2"
	"testing"
)

// denseSizes are sizes below and above those of tiles and blocks.
var denseSizes = []int{0, 1, 2, 3, 4, 5, 7, 8, 15, 16, 17, 33, 50}

func randomNumbers(rng *rand.Rand, n int) []float64 {
	x := make([]float64, n)
	for i := range x {
		x[i] = rng.NormFloat64()
	}
	return x
}

// near checks a sum of at most 50 products of standard normal numbers, up to rounding.
func near(t *testing.T, what string, got, want float64) {
	t.Helper()
	if !(math.Abs(got-want) <= 1e-12*(1+math.Abs(want))) {
		t.Errorf("%s: %v, want %v", what, got, want)
	}
}

// TestProducts compares sums of products with their definition, within larger matrices whose other
// elements must not change.
func TestProducts(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 3))
	for _, rows := range []int{0, 1, 2, 3, 4, 5, 9} {
		for _, cols := range []int{0, 1, 2, 3, 4, 7} {
			for _, n := range []int{0, 1, 3, 4, 6, 11} {
				sa, sb, sc := 12, 13, 8
				a, b := randomNumbers(rng, 12*12), randomNumbers(rng, 13*13)
				c := randomNumbers(rng, rows*sc+1)
				dots, plain, trans := append([]float64(nil), c...), append([]float64(nil), c...), append([]float64(nil), c...)
				AddDots(dots, sc, rows, cols, -2, a, sa, b, sb, n)
				AddRows(plain, sc, rows, cols, -2, a, sa, 1, b, sb, n)
				AddRows(trans, sc, rows, cols, -2, a, 1, sa, b, sb, n)
				for at, v := range c {
					d, p, q := v, v, v
					if i, j := at/sc, at%sc; i < rows && j < cols {
						for k := range n {
							d -= 2 * a[i*sa+k] * b[j*sb+k]
							p -= 2 * a[i*sa+k] * b[k*sb+j]
							q -= 2 * a[k*sa+i] * b[k*sb+j]
						}
					}
					near(t, "A Bᵀ", dots[at], d)
					near(t, "A B", plain[at], p)
					near(t, "Aᵀ B", trans[at], q)
				}
			}
		}
	}
}

// TestCholesky checks that the factor times its transpose is the matrix, and that the adjoint
// solves the equation that defines it, S L = L̄ in the lower triangle.
func TestCholesky(t *testing.T) {
	rng := rand.New(rand.NewPCG(2, 3))
	for _, n := range denseSizes {
		b, adj := randomNumbers(rng, n*n), randomNumbers(rng, n*n)
		a := make([]float64, n*n)
		AddDots(a, n, n, n, 1.0/float64(max(n, 1)), b, n, b, n, n)
		for i := range n {
			a[i*n+i]++
			for j := i + 1; j < n; j++ {
				a[i*n+j] = math.NaN() // not read
				adj[i*n+j] = math.NaN()
			}
		}
		l, s := make([]float64, n*n), make([]float64, n*n)
		if !Cholesky(l, a, n) {
			t.Fatalf("n = %d: no factor", n)
		}
		CholeskyAdjoint(s, l, adj, n, make([]float64, n*n))
		for i := range n {
			for j := range n {
				if j > i {
					if l[i*n+j] != 0 || s[i*n+j] != 0 {
						t.Fatalf("n = %d: %v and %v above the diagonal", n, l[i*n+j], s[i*n+j])
					}
					continue
				}
				near(t, "L Lᵀ", Dot(l[i*n:i*n+j+1], l[j*n:]), a[i*n+j])
				sum := 0.0
				for k := range n {
					v := s[max(i, k)*n+min(i, k)]
					if i == k {
						v *= 2
					}
					sum += v * l[k*n+j]
				}
				near(t, "S L", sum, adj[i*n+j])
			}
		}
		if n > 0 {
			a[n*n-1] = -1
			if Cholesky(l, a, n) {
				t.Errorf("n = %d: a factor of a matrix that is not positive definite", n)
			}
		}
	}
}
