package fit_test

import (
	"bytes"
	"context"
	"errors"
	"runtime/pprof"
	"testing"
	"time"

	"github.com/ppl-lang/ppl/fit"
	"github.com/ppl-lang/ppl/infer/nuts"
)

// A cancelled run leaves no goroutine behind, also where an evaluation takes long: the factor of a
// large matrix.
func TestCancelledRunLeavesNothing(t *testing.T) {
	p := bind(t, `
data { int N; array[N] real x; vector[N] y; }
parameters { real<lower=0> alpha; real<lower=0> rho; real<lower=0> sigma; }
model {
  matrix[N, N] K = add_diag(gp_exp_quad_cov(x, alpha, rho), square(sigma));
  alpha ~ normal(0, 1); rho ~ normal(0, 1); sigma ~ normal(0, 1);
  y ~ multi_normal_cholesky(rep_vector(0, N), cholesky_decompose(K));
}`, series(700))
	for range 3 {
		ctx, cancel := context.WithTimeout(t.Context(), 150*time.Millisecond)
		_, err := fit.Sample(ctx, p, fit.Options{Sampler: nuts.Sampler{}, Chains: 2, Seed: 1})
		cancel()
		if !errors.Is(err, context.DeadlineExceeded) {
			t.Fatal(err)
		}
		var stacks bytes.Buffer
		if err := pprof.Lookup("goroutine").WriteTo(&stacks, 2); err != nil {
			t.Fatal(err)
		}
		if bytes.Contains(stacks.Bytes(), []byte("vm.(*Machine)")) {
			t.Errorf("an evaluation goes on:\n%s", stacks.Bytes())
		}
	}
}

// series is data of a Gaussian process at n places.
func series(n int) map[string]any {
	x, y := make([]float64, n), make([]float64, n)
	for i := range x {
		x[i] = float64(i) / float64(n)
		y[i] = x[i] * x[i]
	}
	return map[string]any{"N": n, "x": x, "y": y}
}
