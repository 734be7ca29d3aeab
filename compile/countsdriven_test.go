package compile_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/ppl-lang/ppl/internal/short"
)

// TestCountsDriven compares sums over counts whose means others decide with plain sums over all
// values, also where data contradict the prior so that a second component has much of the mass.
func TestCountsDriven(t *testing.T) {
	const text = `
data { int y; int z; int<lower=0> binomial; }
parameters { real b; real c; real s; int<lower=0> N; int<lower=0> M; int<lower=0> K; }
model {
  N ~ poisson(1);
  0 ~ poisson(exp(b) * N);
  M ~ poisson(0.9 * N + exp(c));
  K ~ binomial(M, 0.5);
  target += poisson_lpmf(y | exp(s) * M + 0.01);
  if (binomial == 1) target += binomial_lpmf(z | K, 0.3);
}`
	lg := func(x float64) float64 { v, _ := math.Lgamma(x); return v }
	poisson := func(n, mean float64) float64 { return n*math.Log(mean) - mean - lg(n+1) }
	equal := 0
	for seed := range uint64(short.Of(48, 12)) {
		if !short.Turn(int(seed), 4) {
			continue
		}
		rng := rand.New(rand.NewPCG(seed, 44))
		y := []int{0, 1, 2, 30, 120}[rng.IntN(5)]
		z, with := []int{0, 1, 2, 9}[rng.IntN(4)], rng.IntN(2)
		m := bindText(t, text, fmt.Sprintf(`{"y": %d, "z": %d, "binomial": %d}`, y, z, with))
		for range 4 {
			x := []float64{-4 + 9*rng.Float64(), -5 + 6*rng.Float64(), -5 + 6*rng.Float64()}
			got, err := m.LogDensityGrad(x, make([]float64, 3))
			if err != nil {
				if !strings.Contains(err.Error(), "needs more than") {
					t.Errorf("seed %d, %v: %v", seed, x, err)
				}
				continue
			}
			top, sum := math.Inf(-1), 0.0
			for n := range 120 {
				first := poisson(float64(n), 1) - math.Exp(x[0])*float64(n)
				for k := range 900 {
					v := first + poisson(float64(k), 0.9*float64(n)+math.Exp(x[1])) + poisson(float64(y), math.Exp(x[2])*float64(k)+0.01)
					if with == 1 { // z successes of k trials with probability 0.15
						if k < z {
							continue
						}
						v += lg(float64(k)+1) - lg(float64(z)+1) - lg(float64(k-z)+1) + float64(z)*math.Log(0.15) + float64(k-z)*math.Log(0.85)
					}
					if v > top {
						top, sum = v, sum*math.Exp(top-v)
					}
					sum += math.Exp(v - top)
				}
			}
			want := top + math.Log(sum)
			if equal++; !(math.Abs(got-want) <= 1e-8) {
				t.Errorf("seed %d, y %d, z %d, %d, %v: %.12g instead of %.12g", seed, y, z, with, x, got, want)
			}
		}
	}
	if equal < 3 {
		t.Errorf("%d points were compared", equal)
	}
}
