package compile

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// TestLogProductEnds compares forward algorithms with and without products where terms are +Inf, as
// data or because an exponential overflows. The value is then infinite, and derivatives with
// respect to terms of an infinite sum are 0, as those of log_sum_exp are. Package contest does not
// compare derivatives of infinite values.
func TestLogProductEnds(t *testing.T) {
	const head = `data { int K, T; matrix[T, K] e; matrix[K, K] jump; }
parameters { matrix[K, K] A; real s; }
model {
  array[T] vector[K] g;
  vector[K] acc;
  for (k in 1:K) g[1, k] = e[1, k] + s;
  for (t in 2:T) for (j in 1:K) {
`
	const tail = `
    g[t, j] = log_sum_exp(acc);
  }
  target += log_sum_exp(g[T]) + 0.1 * g[T %/% 2, 1] + std_normal_lpdf(to_vector(A)) + std_normal_lpdf(s);
}`
	const overflows = 1000
	infinite := math.Inf(1)
	compared := 0
	for _, c := range []struct {
		name, terms string
		e, jump     float64 // one element; 0: none is special
		gone        bool    // one state cannot be reached or left
	}{
		{name: "data, of the state before", terms: "for (k in 1:K) acc[k] = g[t - 1, k] + A[k, j] + e[t, k];", e: infinite},
		{name: "data, of the state after", terms: "for (k in 1:K) acc[k] = g[t - 1, k] + A[k, j] + e[t, j];", e: infinite},
		{name: "overflow before", terms: "for (k in 1:K) acc[k] = g[t - 1, k] + A[k, j] + exp(e[t, k] + s);", e: overflows},
		{name: "overflow after", terms: "for (k in 1:K) acc[k] = g[t - 1, k] + A[k, j] + exp(e[t, j] + s);", e: overflows},
		{name: "transition", terms: "for (k in 1:K) acc[k] = g[t - 1, k] + A[k, j] + jump[k, j] + e[t, j];", jump: infinite},
		{name: "overflowing transition", terms: "for (k in 1:K) acc[k] = g[t - 1, k] + exp(A[k, j] + jump[k, j]) + e[t, j];", jump: overflows},
		{name: "data, and a state that is gone", terms: "for (k in 1:K) acc[k] = g[t - 1, k] + A[k, j] + jump[k, j] + e[t, k];", e: infinite, gone: true},
	} {
		for _, size := range [][2]int{{3, 9}, {4, 9}, {5, 2}, {5, 9}, {6, 9}, {17, 4}} {
			k, n := size[0], size[1]
			for _, at := range []int{0, n / 2, n - 1} {
				rng := rand.New(rand.NewPCG(uint64(k), uint64(at)))
				e, jump := make([][]any, n), make([][]any, k)
				for i := range e {
					for range k {
						e[i] = append(e[i], rng.NormFloat64())
					}
				}
				for i := range jump {
					for range k {
						jump[i] = append(jump[i], 0.1*rng.NormFloat64())
					}
				}
				text := func(x float64) any {
					if math.IsInf(x, 0) {
						return fmt.Sprint(x)
					}
					return x
				}
				if c.e != 0 {
					e[at][2] = text(c.e)
				}
				if c.jump != 0 {
					jump[1][at%k] = text(c.jump)
				}
				for i := range jump {
					if c.gone {
						jump[2][i] = "-Inf"
					}
				}
				values := map[string]any{"K": k, "T": n, "e": e, "jump": jump}
				of := [2]*Model{
					boundWith(t, head+c.terms+tail, values, BindOptions{}),
					boundWith(t, head+c.terms+tail, values, BindOptions{Without: []string{"log-products"}}),
				}
				x := make([]float64, of[0].Dim())
				for i := range x {
					x[i] = 0.3 * rng.NormFloat64()
				}
				var lp [2]float64
				var grad [2][]float64
				for i, m := range of {
					grad[i] = make([]float64, len(x))
					var err error
					if lp[i], err = m.LogDensityGrad(x, grad[i]); err != nil {
						t.Fatal(c.name, err)
					}
				}
				where := fmt.Sprintf("%s, K = %d, T = %d, at %d", c.name, k, n, at)
				if lp[0] != lp[1] && !(math.IsNaN(lp[0]) && math.IsNaN(lp[1])) && !(math.Abs(lp[0]-lp[1]) < 1e-10) {
					t.Errorf("%s: the log density is %v, without the pass %v", where, lp[0], lp[1])
				}
				if math.IsNaN(lp[1]) {
					continue
				}
				for i, d := range grad[0] {
					if math.IsNaN(d) != math.IsNaN(grad[1][i]) || math.Abs(d-grad[1][i]) > 1e-9 {
						t.Errorf("%s: derivative %d is %v, without the pass %v", where, i, d, grad[1][i])
						break
					}
				}
				if math.IsInf(lp[0], 1) {
					compared++
				}
			}
		}
	}
	if compared < 50 {
		t.Errorf("only %d log densities are infinite", compared)
	}
}

// TestLogProductUnlikely has a forward algorithm in which an observation is likely only in a state
// that cannot be reached at that step, in the middle or at the end. Next to that state, the others
// have probabilities on both sides of the least sum that is exact.
func TestLogProductUnlikely(t *testing.T) {
	const text = `data { int K, T; matrix[T, K] e; matrix[K, K] jump; real w; }
parameters { matrix[K, K] A; real s; }
model {
  array[T] vector[K] g;
  vector[K] acc;
  for (k in 1:K) g[1, k] = e[1, k] + s;
  for (t in 2:T) for (j in 1:K) {
    for (k in 1:K) acc[k] = g[t - 1, k] + A[k, j] + jump[k, j];
    g[t, j] = log_sum_exp(acc) + e[t, j];
  }
  target += log_sum_exp(g[T]) + std_normal_lpdf(to_vector(A)) + std_normal_lpdf(s);
  if (w > 0) target += w * g[3, 1];
}`
	for _, k := range []int{3, 5} {
		for _, w := range []float64{0, 0.1} { // without and with the values of each step
			for _, unlikely := range []float64{-290, -297, -305, -330, -500} {
				for _, at := range []int{4, 8} {
					rng := rand.New(rand.NewPCG(uint64(k), uint64(at)))
					e, jump := make([][]any, 9), make([][]any, k)
					for i := range e {
						for j := range k {
							e[i] = append(e[i], rng.NormFloat64())
							if i == at && j < k-1 {
								e[i][j] = unlikely + rng.NormFloat64()
							}
							if i == at-1 && j >= k-2 { // the states from which the last one is reached
								e[i][j] = "-Inf"
							}
						}
					}
					for i := range jump {
						jump[i] = slices.Repeat([]any{0.1}, k)
						if i < k-2 {
							jump[i][k-1] = "-Inf"
						}
					}
					values := map[string]any{"K": k, "T": len(e), "e": e, "jump": jump, "w": w}
					var lp [2]float64
					var grad [2][]float64
					for i, without := range [][]string{nil, {"log-products"}} {
						m := boundWith(t, text, values, BindOptions{Without: without})
						grad[i] = make([]float64, m.Dim())
						x := make([]float64, m.Dim())
						for j := range x {
							x[j] = 0.1 * float64(j%7)
						}
						var err error
						if lp[i], err = m.LogDensityGrad(x, grad[i]); err != nil {
							t.Fatal(err)
						}
					}
					where := fmt.Sprintf("K = %d, w = %g, %g at step %d", k, w, unlikely, at)
					if !(math.Abs(lp[0]-lp[1]) <= 1e-12*math.Abs(lp[1])) {
						t.Errorf("%s: the log density is %v, without the pass %v", where, lp[0], lp[1])
					}
					for i, d := range grad[0] {
						if !(math.Abs(d-grad[1][i]) <= 1e-10) {
							t.Errorf("%s: derivative %d is %v, without the pass %v", where, i, d, grad[1][i])
							break
						}
					}
				}
			}
		}
	}
}
