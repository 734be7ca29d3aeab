package whiten

import (
	"math"
	"math/rand/v2"
	"testing"
)

// TestInner compares products with the vectors of a metric with their formula, on both sides of the
// dimension and of the numbers of vectors from which four are taken at a time.
func TestInner(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	for _, d := range []int{fewRows - 1, fewRows, fewRows + 1, 100} {
		v := make([]float64, d) // I - 2vvᵀ/v·v has orthogonal rows
		squares := 0.0
		for i := range v {
			v[i] = rng.NormFloat64()
			squares += v[i] * v[i]
		}
		for rank := range 10 {
			l := LowRank{}
			f, x, want := make([]float64, rank), make([]float64, d), make([]float64, d)
			for i := range x {
				x[i] = rng.NormFloat64()
				want[i] = x[i]
			}
			for k := range f {
				f[k] = rng.NormFloat64()
				u, along := make([]float64, d), 0.0
				for i := range u {
					u[i] = -2 * v[k] * v[i] / squares
					if i == k {
						u[i]++
					}
					along += u[i] * x[i]
				}
				for i := range u {
					want[i] += f[k] * along * u[i]
				}
				l.vectors = append(l.vectors, u)
			}
			l.inner(f, x)
			for i := range x {
				if math.Abs(x[i]-want[i]) > 1e-13*float64(1+rank) {
					t.Fatalf("%d dimensions, %d vectors: element %d is %v, not %v", d, rank, i, x[i], want[i])
				}
			}
		}
	}
}
