package compile

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/ppl-lang/ppl/ad"
	"github.com/ppl-lang/ppl/compile/internal/loopnest"
)

// TestJoinFactors checks that several products with one data matrix become one product. Products
// are not joined if the vector of one depends on the other, or if a statement that may reject comes
// between them. Densities, gradients and messages must be the same as without the pass.
func TestJoinFactors(t *testing.T) {
	const head = `data { int N, K; matrix[N, K] X, Z, E, S; vector[N] y; }
parameters { vector[K] a, b, c; real s; matrix[K, 2] m; matrix[K, 3] o; matrix[K, 5] q; }
model { `
	const n, wide = 67, 35
	rng := rand.New(rand.NewPCG(3, 2))
	for _, k := range []int{9, wide} {
		matrix := func(share float64) [][]float64 {
			x := make([][]float64, n)
			for i := range x {
				x[i] = make([]float64, k)
				for j := range x[i] {
					if rng.Float64() < share {
						x[i][j] = rng.NormFloat64()
					}
				}
			}
			return x
		}
		y := make([]float64, n)
		for i := range y {
			y[i] = rng.NormFloat64()
		}
		values := map[string]any{"N": n, "K": k, "X": matrix(1), "Z": matrix(1), "E": matrix(0.1), "S": matrix(0.2), "y": y}
		apart := map[bool]int{true: 1, false: 2}[k == wide] // few rows of the narrow E differ
		for _, c := range []struct {
			spelling string
			products int // remaining products with data, before the density is differentiated
			joined   bool
		}{
			{"target += sum(sin(X * a) .* y);", 1, false},
			{"target += sum(sin(X * a) .* cos(X * b));", 1, true},
			{"y ~ normal(X * a, exp(X * b)); target += sum(tanh(X * (a .* c)));", 1, true},
			{"y ~ normal(X * a, exp(Z * b)); target += sum(tanh(X * (a .* c)) .* sin(Z * c));", 2, true},
			{"vector[N] e = sin(X * a); target += sum(cos(X * (b * e[1])) .* e);", 2, false},
			{"vector[N] e = sin(X * a); if (e[1] > 5) reject(\"large\"); target += sum(cos(X * (b .* c)) .* e);", 1, true},
			{"matrix[N, 2] e = X * m; target += sum(sin(e[, 1] + y) .* e[, 2]);", 1, true},
			{"matrix[N, 2] e = X * m; target += sum(sin(e[, 1] + y) .* e[, 2] .* cos(X * a));", 1, true},
			{"matrix[N, 3] e = X * o; matrix[N, 2] f = X * m; target += sum(sin(e[, 1] + y) .* e[, 2] .* f[, 2]);", 1, true},
			{"matrix[N, 5] e = X * q; target += sum(sin(e[, 1] + y) .* e[, 5]);", 1, k == wide},
			{"matrix[N, 5] e = X * q; matrix[N, 3] f = X * o; target += sum(sin(e[, 1]) .* f[, 2] .* (X * a));", 2, true},
			{"target += sum(sin(E * a) .* cos(E * b));", apart, apart == 1},
			{"target += sum(sin(S * a) .* cos(S * b));", 1, true}, // a fifth is not zero, as in a basis of splines
			{"for (i in 1:9) target += sum(sin(X * (a * i)) .* cos(X * (b + i)));", 2, true},
		} {
			// Pass layout may transpose a product that was joined.
			at := boundWith(t, head+c.spelling+" }", values, BindOptions{Without: []string{"layout"}})
			by := boundWith(t, head+c.spelling+" }", values, BindOptions{Without: []string{"batch-products"}})
			density := at.DensityGraph()
			if err := loopnest.VerifyGraph(density); err != nil {
				t.Error(c.spelling, err)
			}
			products, joined := 0, false
			for i, live := range density.Live(density.Outputs[:1], true) {
				p := &density.Nodes[i]
				if !live || p.Op != ad.OpMatMul {
					continue
				}
				products++
				joined = joined || p.Attr.(ad.MatMulAttr).TransB
			}
			if products != c.products || joined != c.joined {
				t.Errorf("%s with %d columns: %d products, joined %v; want %d and %v", c.spelling, k, products, joined, c.products, c.joined)
			}
			x, got, want := make([]float64, 13*k+1), make([]float64, 13*k+1), make([]float64, 13*k+1)
			for p := range 4 {
				for i := range x {
					x[i] = 0.3 * rng.NormFloat64()
				}
				if p > 1 {
					x[rng.IntN(3*k)] = []float64{math.Inf(1), math.NaN()}[p-2]
				}
				lp, err := at.LogDensityGrad(x, got)
				lpWant, errWant := by.LogDensityGrad(x, want)
				if fmt.Sprint(err) != fmt.Sprint(errWant) {
					t.Errorf("%s: %v, want %v", c.spelling, err, errWant)
				}
				for i, v := range append(got, lp) {
					w := append(want, lpWant)[i]
					if err == nil && !(math.Abs(v-w) <= 1e-11*(n+math.Abs(w))) && !(math.IsNaN(v) && math.IsNaN(w)) && v != w {
						t.Errorf("%s, point %d: figure %d is %.17g, want %.17g", c.spelling, p, i, v, w)
					}
				}
			}
		}
	}
}
