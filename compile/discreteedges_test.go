package compile_test

import (
	"math"
	"testing"
)

// TestDiscreteEdges checks terms that data make -inf at a value of a discrete parameter: their
// derivatives are those of the other values. The second program has no discrete parameter.
func TestDiscreteEdges(t *testing.T) {
	const head = `data { int N; array[N] int y; vector[N] x; }
parameters { real<lower=0> a; array[N] int<lower=0, upper=1> z; } `
	const values = `{"N": 3, "y": [1, 0, 3], "x": [0, 1, 0]}`
	for _, c := range []struct{ block, term, by string }{
		{"", "poisson_lpmf(y[n] | a * x[n])", "x[n] == 0"},
		{"", "log(a * x[n])", "x[n] == 0"},
		{"", "log(a * x[n] + a * (2 * x[n]))", "x[n] == 0"},
		{"", "binomial_lpmf(y[n] | 5, exp(-a * x[n]))", "x[n] == 0"},
		{"", "bernoulli_lpmf(0 | inv_logit(a) ^ x[n])", "x[n] == 0"},
		{"transformed parameters { vector[N] l = a * x; }", "poisson_lpmf(y[n] | l[n])", "x[n] == 0"},
	} {
		m := bindText(t, head+c.block+` model { for (n in 1:N) target += z[n] == 1 ? `+c.term+` : -a * y[n]; }`, values)
		by := c.by
		if c.term == "poisson_lpmf(y[n] | a * x[n])" || c.term == "poisson_lpmf(y[n] | l[n])" {
			by = "x[n] == 0 && y[n] > 0"
		}
		if c.term[:8] == "binomial" {
			by = "x[n] == 0"
		}
		plain := bindText(t, `data { int N; array[N] int y; vector[N] x; } parameters { real<lower=0> a; } `+c.block+
			` model { for (n in 1:N) if (`+by+`) target += -a * y[n]; else target += log_sum_exp(`+c.term+`, -a * y[n]); }`, values)
		x, got, want := []float64{0.3}, make([]float64, 1), make([]float64, 1)
		lp, err := m.LogDensityGrad(x, got)
		if err != nil {
			t.Fatal(err)
		}
		all, err := plain.LogDensityGrad(x, want)
		if err != nil {
			t.Fatal(err)
		}
		if !near(lp, all, 1e-12) || !near(got[0], want[0], 1e-12) || math.IsNaN(got[0]) {
			t.Errorf("%s: %v and derivative %v, want %v and %v", c.term, lp, got[0], all, want[0])
		}
	}
}

// TestDiscreteSlices checks that slices of vectors whose ends discrete parameters decide have no
// elements where they end before they begin.
func TestDiscreteSlices(t *testing.T) {
	const values = `{"T": 3, "v": [1, 2, 4]}`
	const head = "data { int T; vector[T] v; } parameters { real<lower=0> a; "
	for _, c := range [][2]string{
		{"int<lower=2, upper=5> s; } model { target += a * sum(v[s:T]); v[s:T] ~ normal(a, 1); }",
			"} model { vector[4] lp = rep_vector(0, 4); lp[1] += a * sum(v[2:3]) + normal_lpdf(v[2:3] | a, 1); lp[2] += a * v[3] + normal_lpdf(v[3] | a, 1); target += log_sum_exp(lp); }"},
		{"int<lower=0, upper=2> u; } model { target += a * sum(v[2:u]); }", "} model { target += log_sum_exp([0, 0, a * 2]); }"},
		{"int<lower=1, upper=4> s; } model { if (s < 3) target += a * sum(v[s:2]); }", "} model { target += log_sum_exp([a * 3, a * 2, 0, 0]); }"},
	} {
		m, plain := bindText(t, head+c[0], values), bindText(t, head+c[1], values)
		x, got, want := []float64{0.3}, make([]float64, 1), make([]float64, 1)
		lp, err := m.LogDensityGrad(x, got)
		if err != nil {
			t.Fatal(err)
		}
		if all, err := plain.LogDensityGrad(x, want); err != nil || !near(lp, all, 1e-12) || !near(got[0], want[0], 1e-12) {
			t.Errorf("%s: %v and derivative %v, want %v and %v (%v)", c[0], lp, got[0], all, want[0], err)
		}
	}
}
