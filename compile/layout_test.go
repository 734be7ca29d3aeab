package compile

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/ppl-lang/ppl/ad"
	"github.com/ppl-lang/ppl/compile/internal/loopnest"
)

// TestLayouts checks that matrices that are stored by columns have the same densities, gradients
// and messages as without the pass, whoever reads them. Loops over columns must not move elements
// one by one.
func TestLayouts(t *testing.T) {
	const head = `data { int N, D, K; matrix[N, D] Y; matrix[N, K] X; }
parameters { matrix[N, K] F; matrix[D, K] L; matrix[K, K] C; vector<lower=0>[D] s; real r; }
model { `
	rng := rand.New(rand.NewPCG(39, 3))
	for _, size := range [][3]int{{0, 0, 0}, {1, 1, 1}, {2, 2, 2}, {9, 3, 2}, {30, 1, 3}, {64, 7, 8}, {65, 16, 9}, {200, 10, 3}} {
		n, d, k := size[0], size[1], size[2]
		matrix := func(r, c int) [][]float64 {
			x := make([][]float64, r)
			for i := range x {
				x[i] = make([]float64, c)
				for j := range x[i] {
					x[i][j] = rng.NormFloat64()
				}
			}
			return x
		}
		values := map[string]any{"N": n, "D": d, "K": k, "Y": matrix(n, d), "X": matrix(n, k)}
		for _, c := range []struct {
			spelling string
			columns  bool // with many rows, no elements are moved
		}{
			{"matrix[N, D] M = F * L'; for (d in 1:D) Y[, d] ~ normal(M[, d], s[d]);", true},
			{"matrix[N, D] M = F * L'; for (n in 1:N) Y[n] ~ normal(M[n], s);", false},
			{"matrix[N, D] M = F * L'; to_vector(Y) ~ normal(to_vector(M), 1);", true},
			{"matrix[N, D] M = exp(F * L' / 9); for (d in 1:D) Y[, d] ~ normal(M[, d] + r, s[d]);", true},
			{"matrix[N, D] M = F * L'; matrix[N, D] E = M + exp(r) * Y; for (d in 1:D) E[, d] ~ normal(r, s[d]);", true},
			{"matrix[N, D] M = F * L'; matrix[N, D] E = M .* Y + M; for (d in 1:D) { E[, d] ~ normal(M[, d], s[d]); } for (n in 1:N) target += sin(sum(E[n]));", false},
			{"matrix[D, N] M = L * F'; for (d in 1:D) Y[, d] ~ normal(M[d]', s[d]);", true},
			{"matrix[N, D] M = F * C * L'; for (d in 1:D) Y[, d] ~ normal(M[, d], s[d]);", true},
			{"matrix[N, D] M = X * C * L'; for (d in 1:D) Y[, d] ~ normal(M[, d], s[d]);", false},
			{"matrix[N, D] M = tanh(X * C) * L'; for (d in 1:D) Y[, d] ~ normal(M[, d], s[d]);", false},
			{"matrix[K, K] Q = F' * F; target += sum(sin(Q)); if (K > 1) target += sum(cos(Q[, 1:2]));", false},
			{"matrix[N, N] Q = F * F'; target += -0.01 * sum(square(Q)); if (N > 2) target += sum(sin(Q[2:3, 1:2]));", false},
			{"matrix[D, D] Q = add_diag(L * C * L', 9 + square(sum(s))); target += sum(sin(Q)); target += sum(diagonal(Q));", false},
			{"matrix[N, D] M = F * L'; for (d in 1:D) target += dot_product(M[, d], Y[, d]) + (N > 0 ? M[N, d] : 0);", false},
			{"matrix[N, D] M = F * L'; if (N > 1 && D > 1) target += sum(sin(M[{2, 1}, {2, 1}])) + sum(sin(to_vector(M)[2:N])); target += sum(sin(to_array_1d(M)));", false},
			{"matrix[N, D] M = F * L'; vector[N] v = M * s; v ~ normal(Y * s, 2); target += sum(sin(M' * v));", false},
			{"matrix[D, K] A = L; if (D > 0) A[1] = rep_row_vector(r, K); matrix[N, D] M = F * A'; for (d in 1:D) Y[, d] ~ normal(M[, d], s[d]);", false},
			{"array[D] vector[N] M; for (d in 1:D) M[d] = F * L[d]'; for (d in 1:D) Y[, d] ~ normal(M[d], s[d]);", false},
			{"matrix[N, D] M = F * L'; array[N] row_vector[D] A; for (n in 1:N) A[n] = M[n]; for (n in 1:N) A[n] ~ normal(r, s); if (min(Y - F * L') > 1e6) reject(\"large\");", false},
		} {
			text := head + c.spelling + " to_vector(F) ~ normal(0, 1); to_vector(L) ~ normal(0, 1); s ~ exponential(1); }"
			at := boundText(t, text, values)
			by := boundWith(t, text, values, BindOptions{Without: []string{"layout"}})
			density := at.DensityGraph()
			if err := loopnest.VerifyGraph(density); err != nil {
				t.Error(c.spelling, err)
			}
			moved := 0
			for i, live := range density.Live(density.Outputs, true) {
				p := &density.Nodes[i]
				if live && (p.Op == ad.OpGather || p.Op == ad.OpScatter) && p.Type.Size() >= n*min(d, k) {
					if m := loopnest.Flatten(p.Index(), 0, 0); !m.Contiguous() && !m.Uniform() {
						moved++
					}
				}
			}
			if c.columns && n >= 200 && moved > 0 {
				t.Errorf("%s: %d ops move elements one by one", c.spelling, moved)
			}
			dim := at.Dim()
			x, got, want := make([]float64, dim), make([]float64, dim), make([]float64, dim)
			for p := range 4 {
				for i := range x {
					x[i] = 0.3 * rng.NormFloat64()
				}
				if p > 1 {
					x[rng.IntN(dim)] = []float64{math.Inf(1), math.NaN()}[p-2]
				}
				lp, err := at.LogDensityGrad(x, got)
				lpWant, errWant := by.LogDensityGrad(x, want)
				if fmt.Sprint(err) != fmt.Sprint(errWant) {
					t.Errorf("%s, sizes %v: %v, want %v", c.spelling, size, err, errWant)
				}
				for i, v := range append(got, lp) {
					w := append(want, lpWant)[i]
					if err == nil && !(math.Abs(v-w) <= 1e-11*(float64(n+9)+math.Abs(w))) && !(math.IsNaN(v) && math.IsNaN(w)) && v != w {
						t.Errorf("%s, sizes %v, point %d: figure %d is %.17g, want %.17g", c.spelling, size, p, i, v, w)
						break
					}
				}
			}
		}
	}
}
