package compile_test

import (
	"strings"
	"testing"

	"github.com/ppl-lang/ppl/internal/short"
)

// TestCountsOverflow compares sums over counts whose last terms do not show what follows them with
// sums of the same statements up to a bound. Many have peaks far beyond the first level.
func TestCountsOverflow(t *testing.T) {
	var none []string
	for i, statements := range []string{
		"N ~ poisson(2); y ~ cauchy(N, 1);",
		"N ~ poisson(1000); y ~ poisson(1 + 100 * 0.9^N);",
		"N ~ poisson(1000); y ~ poisson(100 - 100 * 0.9^N);",
		"N ~ poisson(1000); y ~ poisson(100 * Phi(5 - N));",
		"N ~ poisson(1000); y ~ bernoulli(0.01 + 0.9 * inv_logit(5 - N));",
		"N ~ poisson(1000); y ~ bernoulli(1 - 0.9 * inv_logit(5 - N));",
		"N ~ poisson(2); M ~ poisson(N > 5 ? 1 : 400);",
		"N ~ poisson(2); M ~ poisson(1 + 400 * (N > 5));",
		"N ~ poisson(2); M ~ poisson(1 + 400 * (N % 2));",
		"z ~ bernoulli(0.5); N ~ poisson(z == 1 ? 1 : 400); M ~ binomial(N, 0.5);",
		"target += log_mix(0.5, poisson_lpmf(N | 1), poisson_lpmf(N | 400)); M ~ binomial(N, 0.5);",
		"M ~ poisson(exp(a)); N ~ poisson(2 + 150 * M); y ~ poisson(0.01 * N);",
		"M ~ poisson(exp(a)); N ~ poisson(.01 + exp(a) * M); y ~ poisson(0.01 * N);",
		"M ~ poisson(exp(a)); N ~ poisson_log(a + 0.1 * M); y ~ poisson(0.01 * N);",
		"M ~ poisson(exp(a)); N ~ neg_binomial_2(2 + 150 * M, 3);",
		"M ~ poisson(exp(a)); N ~ poisson(2 * M + 3 * M);",
		"M ~ poisson(exp(a)); N ~ neg_binomial_2(2, 0.1); y ~ normal(N - 150 * M, 1);",
		"M ~ poisson(exp(a)); N ~ poisson(20); y ~ poisson(0.01 * N + M);",
		"M ~ poisson(exp(a)); N ~ neg_binomial_2(2, 0.1); if (N < 150 * M) target += negative_infinity();",
		"M ~ poisson(exp(a)); N ~ neg_binomial_2(2, 0.1); target += -square(N - 150 * M);",
		"M ~ poisson(exp(a)); N ~ poisson(1); L ~ poisson(1); y ~ poisson(150 * L[1] + L[2]);",
		"M ~ poisson(exp(a)); N ~ poisson(1); L ~ poisson(1); M ~ poisson(150 * sum(L));",
		"M ~ poisson(exp(a)); L ~ binomial(M, 0.99); N ~ poisson(L[1] + M);",
		"M ~ poisson(exp(a)); { real r = 2 + 150 * M; N ~ poisson(r); }",
		"M ~ poisson(exp(a)); L[1] ~ binomial(M, 0.99); L[2] ~ binomial(M, 0.99); N ~ poisson(L[1] + L[2]);",
		"M ~ poisson(exp(a)); L[1] ~ poisson(0.05 + 40 * M); L[2] ~ poisson(L[1]);  N ~ poisson(1);",
		"M ~ poisson(exp(a)); if (M % 150 > 0) target += negative_infinity(); N ~ poisson(M);",
		"M ~ poisson(exp(a)); if (M > 0 && M < 150) target += negative_infinity(); N ~ binomial(M, 0.5);",
		"M ~ poisson(1); target += -100 * M; N ~ poisson(M + 0.05); target += 4.6 * N;", // M = 0: 5, M = 1: 105
		"M ~ poisson(1); N ~ poisson(M + 0.05); 40 ~ normal(2 * N, 2);",
		"M ~ poisson(1); N ~ poisson(M + 0.05); N ~ poisson(exp(a));",
		"M ~ poisson(1); N ~ poisson(M + 0.05); y ~ poisson_log(a * N);",
		"M ~ poisson(1); N ~ poisson(M + 0.05); y ~ normal(N - M, 1);",
		"M ~ poisson(1); N ~ poisson(M + 0.05); L[1] ~ binomial(N, 0.5); L[2] ~ binomial(L[1], 0.5); target += a * L[2];",
		"M ~ poisson(1); N ~ poisson(M + 0.05); L[1] ~ binomial(N, 0.5); L[1] ~ binomial(90, 0.5); L[2] ~ poisson(1);",
		"M ~ poisson(exp(a)); target += N == 5 * M ? 0 : negative_infinity(); y ~ poisson(0.1 * N);", // at the first level N < 36
		"M ~ poisson(exp(a)); if (N != 7 * M) target += negative_infinity(); y ~ poisson(0.1 * N);",
		"M ~ poisson(exp(a)); N ~ poisson(2); if (N < 5 * M) target += negative_infinity();",
		"M ~ poisson(exp(a)); target += N > M ? negative_infinity() : binomial_lpmf(N | M, 0.5); y ~ normal(N, 1);",
		"M ~ poisson(exp(a)); if (N > 9 * M) target += negative_infinity(); else N ~ poisson(40);",
		"M ~ poisson(exp(a)); if (N < 9 * M) target += negative_infinity(); else N ~ poisson(2);",
		"M ~ poisson(exp(a)); if (M == 0) { if (N > 0) target += negative_infinity(); } else N ~ poisson(9 * M);",
		"M ~ poisson(exp(a)); N ~ poisson(1 + M); { real s = 2 + exp(a); real m = 0.5 * (N + M); y ~ normal(m, s); }",
		"M ~ poisson(exp(a)); N ~ poisson(1 + M); target += N + M == 0 ? negative_infinity() : normal_lpdf(y | N + M, exp(a));",
		"M ~ poisson(exp(a)); N ~ poisson(1 + M); if (N > M) y ~ normal(N + M, exp(a)); else target += a;",
		"N ~ poisson(60); if (N % 100 > 0) target += negative_infinity(); L ~ poisson(1); y ~ poisson(L[1] + L[2]);",
	} {
		if !short.Turn(i, 8) {
			continue
		}
		text := "data { int y; vector[3] v; } parameters { real a; int<lower=0, upper=1> z; int<lower=0> N; "
		if strings.Contains(statements, "M") {
			text += "int<lower=0> M; "
		}
		if strings.Contains(statements, "L") {
			text += "array[2] int<lower=0> L; "
		}
		text += "} model { " + statements + " }"
		bounds := []string{"int<lower=0> N", "int<lower=0, upper=2500> N", "int<lower=0> M", "int<lower=0, upper=60> M", "int<lower=0> L", "int<lower=0, upper=16> L"}
		if strings.Contains(statements, "sum(L)") {
			bounds[3] = "int<lower=0, upper=2500> M"
		}
		if strings.Contains(statements, "binomial(90") {
			bounds[5] = "int<lower=0, upper=90> L"
		}
		if strings.Contains(statements, "40 * M") {
			bounds[1], bounds[5] = "int<lower=0, upper=16> N", "int<lower=0, upper=800> L"
		}
		long := strings.NewReplacer(bounds...).Replace(text)
		const values = `{"y": 1, "v": [1, 2, 3]}`
		m, bounded := bindText(t, text, values), bindText(t, long, values)
		equal := 0
		for _, a := range []float64{-2, -0.5, 0.3} {
			got, err := m.LogDensityGrad([]float64{a}, make([]float64, 1))
			if err != nil {
				if !strings.Contains(err.Error(), "needs more than") {
					t.Errorf("%s: %v", statements, err)
				}
				continue
			}
			want, err := bounded.LogDensityGrad([]float64{a}, make([]float64, 1))
			if equal++; err != nil || !near(got, want, 1e-10) {
				t.Errorf("%s at %v: %.15g, %.15g up to a bound, %v", statements, a, got, want, err)
			}
		}
		if equal == 0 {
			none = append(none, statements)
		}
	}
	if len(none) > 13 {
		t.Errorf("no point was compared: %s", strings.Join(none, "\n"))
	}
}

// TestDerivedIntegers compares integers among transformed parameters, of which one statement sets
// the first element, with the same sums in statements.
func TestDerivedIntegers(t *testing.T) {
	const text = `
data { int G; int T; array[G, T] int y; }
parameters { real<lower=0> l; real<lower=0, upper=1> p; array[G] int<lower=0LIMIT> first; array[G, T - 1] int<lower=0LIMIT> s; array[G, T - 1] int<lower=0LIMIT> r; }
DERIVED
model {
  first ~ poisson(l);
  for (g in 1:G) for (t in 2:T) { s[g, t - 1] ~ binomial(BEFORE, p); r[g, t - 1] ~ poisson(l); }
  for (g in 1:G) for (t in 1:T) y[g, t] ~ binomial(AT, 0.6);
}`
	const derived = `
transformed parameters {
  array[G, T] int n;
  for (g in 1:G) {
    n[g, 1] = first[g];
    for (t in 2:T) n[g, t] = s[g, t - 1] + r[g, t - 1];
  }
}`
	for _, limit := range []string{"", ", upper=3"} {
		for size, values := range []string{`{"G": 1, "T": 1, "y": [[1]]}`, `{"G": 1, "T": 2, "y": [[0, 1]]}`, `{"G": 2, "T": 3, "y": [[0, 1, 0], [2, 0, 1]]}`} {
			one := bindText(t, strings.NewReplacer("LIMIT", limit, "DERIVED", derived, "BEFORE", "n[g, t - 1]", "AT", "n[g, t]").Replace(text), values)
			other := bindText(t, strings.NewReplacer("LIMIT", limit, "DERIVED", "", "BEFORE", "t == 2 ? first[g] : s[g, t - 2] + r[g, t - 2]", "AT", "t == 1 ? first[g] : s[g, t - 1] + r[g, t - 1]").Replace(text), values)
			for _, x := range [][]float64{{-1, 0}, {0.3, -1}} {
				got, err := one.LogDensityGrad(x, make([]float64, 2))
				want, err2 := other.LogDensityGrad(x, make([]float64, 2))
				if err != nil || err2 != nil || !near(got, want, 1e-12) {
					t.Errorf("size %d%s, %v: %.15g and %.15g, %v, %v", size, limit, x, got, want, err, err2)
				}
			}
		}
	}
}
