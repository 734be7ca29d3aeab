package compile_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"
)

// TestCountsDrawn compares sums over a count with long sums written out here, for drawn products of
// parts whose scales are far apart: slow ones before a far peak of the count's own distribution.
func TestCountsDrawn(t *testing.T) {
	lg := func(x float64) float64 { y, _ := math.Lgamma(x); return y }
	rng := rand.New(rand.NewPCG(11, 12))
	between := func(lo, hi float64) float64 {
		return math.Round(1000*lo*math.Exp(rng.Float64()*math.Log(hi/lo))) / 1000
	}
	part := func() (string, func(n float64) float64) {
		a, b, y := between(0.1, 30), between(0.1, 300), float64(rng.IntN(3))
		if rng.IntN(2) == 0 { // falls at first
			a *= 100
		}
		switch rng.IntN(6) {
		case 0:
			return fmt.Sprintf("target += -%v * log(%v + N);", a, b), func(n float64) float64 { return -a * math.Log(b+n) }
		case 1:
			return fmt.Sprintf("target += lgamma(N + %v) - lgamma(N + %v);", a, b), func(n float64) float64 { return lg(n+a) - lg(n+b) }
		case 2:
			return fmt.Sprintf("0 ~ beta_binomial(N, %v, %v);", a, b), func(n float64) float64 { return lg(n+b) - lg(n+a+b) - lg(b) + lg(a+b) }
		case 3:
			return fmt.Sprintf("%v ~ poisson(%v + 0.01 * N);", y, a), func(n float64) float64 { m := a + 0.01*n; return y*math.Log(m) - m - lg(y+1) }
		case 4:
			return fmt.Sprintf("%v ~ neg_binomial_2(%v + N, %v);", y, a, b), func(n float64) float64 {
				return lg(y+b) - lg(b) - lg(y+1) + y*math.Log((a+n)/(a+n+b)) - b*math.Log1p((a+n)/b)
			}
		}
		return fmt.Sprintf("target += normal_lpdf(%v | 0, %v + N);", a, b), func(n float64) float64 {
			return -a*a/(b+n)/(b+n)/2 - math.Log(b+n) - math.Log(2*math.Pi)/2
		}
	}
	for range 40 {
		rate := between(3e3, 3e4)
		if rng.IntN(3) == 0 {
			rate = between(0.01, 3e3)
		}
		texts := []string{fmt.Sprintf("N ~ poisson_log(log(%v) + a);", rate)}
		fs := []func(n float64) float64{func(n float64) float64 { return n*math.Log(rate) - rate - lg(n+1) }}
		for range rng.IntN(4) {
			text, f := part()
			texts, fs = append(texts, text), append(fs, f)
		}
		terms, most := make([]float64, 80_000), math.Inf(-1)
		for n := range terms {
			for _, f := range fs {
				terms[n] += f(float64(n))
			}
			most = max(most, terms[n])
		}
		sum := 0.0
		for _, x := range terms {
			sum += math.Exp(x - most)
		}
		text := "parameters { real a; int<lower=0> N; } model { " + strings.Join(texts, " ") + " }"
		got, err := bindText(t, text, "{}").LogDensityGrad([]float64{0}, make([]float64, 1))
		if want := most + math.Log(sum); err != nil || !near(got, want, 1e-9) {
			t.Errorf("%s: %.12g, a long sum %.12g, %v", text, got, want, err)
		}
	}
}
