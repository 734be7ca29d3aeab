package fit_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"runtime"
	"testing"
	"time"

	"github.com/ppl-lang/ppl/fit"
	"github.com/ppl-lang/ppl/infer/nuts"
	"github.com/ppl-lang/ppl/model"
)

// gaussianProcess returns a Gaussian process at n points. For large n its gradient takes long, most
// of it in a factorisation that cannot be interrupted.
func gaussianProcess(t testing.TB, n int) *model.Posterior {
	m, err := model.Compile("gp.model", `
data {
  int N;
  array[N] real x;
  vector[N] y;
}
parameters {
  real<lower=0> rho;
  real<lower=0> alpha;
  real<lower=0> sigma;
}
model {
  matrix[N, N] K = add_diag(gp_exp_quad_cov(x, alpha, rho), square(sigma) + 1e-6);
  rho ~ inv_gamma(5, 5);
  alpha ~ normal(0, 1);
  sigma ~ normal(0, 1);
  y ~ multi_normal_cholesky(rep_vector(0, N), cholesky_decompose(K));
}
`)
	if err != nil {
		t.Fatal(err)
	}
	x, y := make([]float64, n), make([]float64, n)
	for i := range x {
		x[i] = float64(i) / float64(n) * 10
		y[i] = math.Sin(x[i])
	}
	p, err := m.Bind(map[string]any{"N": n, "x": x, "y": y})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// late cancels a run in its first evaluations, and returns the time from then to the end of Sample.
func late(t testing.TB, p *model.Posterior, wait, grace time.Duration) time.Duration {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	cancelled := make(chan time.Time, 1)
	time.AfterFunc(wait, func() {
		cancelled <- time.Now()
		cancel()
	})
	_, err := fit.Sample(ctx, p, fit.Options{Sampler: nuts.Sampler{}, Seed: 1, Chains: 2, Grace: grace})
	ended := time.Now()
	if !errors.As(err, new(*fit.InterruptedError)) {
		t.Fatalf("the run has ended otherwise: %v", err)
	}
	return ended.Sub(<-cancelled)
}

// evaluating returns the number of goroutines in which a program is running. Goroutines that have
// reported their end and are about to exit do not count.
func evaluating() (n int, stacks []byte) {
	stacks = make([]byte, 1<<20)
	stacks = stacks[:runtime.Stack(stacks, true)]
	for _, stack := range bytes.Split(stacks, []byte("\n\n")) {
		if bytes.Contains(stack, []byte("vm.(*Machine).run(")) {
			n++
		}
	}
	return n, stacks
}

// TestCancelLongEvaluation checks that no evaluation is left when Sample returns after a run of a
// model with long evaluations was cancelled.
func TestCancelLongEvaluation(t *testing.T) {
	p := gaussianProcess(t, 1000)
	for _, wait := range []time.Duration{20 * time.Millisecond, 200 * time.Millisecond, 410 * time.Millisecond} {
		took := late(t, p, wait, 0)
		if n, stacks := evaluating(); n > 0 {
			t.Fatalf("%d evaluations go on after Sample has returned:\n%s", n, stacks)
		}
		t.Logf("cancelled after %v: %v late", wait, took)
	}
}

// BenchmarkLateness measures how late Sample returns when its context ends, in ms: with the default
// grace, which waits for evaluations, and with none.
func BenchmarkLateness(b *testing.B) {
	for _, n := range []int{250, 1000, 2500} {
		p := gaussianProcess(b, n)
		for _, grace := range []time.Duration{0, 100 * time.Millisecond, -1} {
			b.Run(fmt.Sprintf("N=%d/grace=%v", n, grace), func(b *testing.B) {
				worst, sum := time.Duration(0), time.Duration(0)
				for i := range b.N {
					d := late(b, p, time.Duration(300+137*(i%5))*time.Millisecond, grace)
					worst, sum = max(worst, d), sum+d
				}
				b.ReportMetric(float64(worst.Milliseconds()), "max-ms")
				b.ReportMetric(float64(sum.Milliseconds())/float64(b.N), "mean-ms")
			})
		}
	}
}
