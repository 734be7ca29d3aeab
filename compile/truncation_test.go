package compile_test

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/ppl-lang/ppl/compile/data"
	"github.com/ppl-lang/ppl/compile/internal/contest"
)

// TestTruncatedContainers checks that a truncated statement with several variates equals the sum
// over the variates, whether or not they share arguments.
func TestTruncatedContainers(t *testing.T) {
	const head = `
data {
  int N;
  vector[N] y;
  array[N] int n;
  vector[N] x;
}
parameters {
  real mu;
  real<lower=0> s;
  vector[N] b;
}
model {
  b ~ normal(0, 3);
`
	in := parsed(t, `{"N": 4, "y": [0.5, 1.5, 0.1, 0.9], "n": [2, 3, 7, 4], "x": [0.4, -0.3, 0.2, 0.7]}`)
	x := []float64{0.3, -0.4, 0.1, 0.2, -0.6, 0.5}
	density := func(statement string, set *data.Set) float64 {
		t.Helper()
		text := head + "  " + statement + "\n}\n"
		rep := contest.Contend(text, "truncated.model", set, 3, 3)
		if rep.Wrong != nil || rep.Unsupported != "" {
			t.Fatalf("%s: %v%s", statement, rep.Wrong, rep.Unsupported)
		}
		lp, err := bound(t, "truncated.model", text, set).LogDensityGrad(x, make([]float64, len(x)))
		if err != nil {
			t.Fatalf("%s: %v", statement, err)
		}
		return lp
	}
	for _, c := range []struct{ all, each string }{
		{"y ~ normal(mu, s)", "y[i] ~ normal(mu, s)"},
		{"y ~ normal(b, s)", "y[i] ~ normal(b[i], s)"},
		{"y ~ normal(mu + b, s)", "y[i] ~ normal(mu + b[i], s)"},
		{"y ~ student_t(4, x, exp(b))", "y[i] ~ student_t(4, x[i], exp(b[i]))"},
		{"to_array_1d(y) ~ normal(to_array_1d(b), s)", "y[i] ~ normal(b[i], s)"},
		{"y' ~ normal(mu, exp(b'))", "y[i] ~ normal(mu, exp(b[i]))"},
		{"n ~ poisson(s)", "n[i] ~ poisson(s)"},
		{"n ~ poisson(exp(b))", "n[i] ~ poisson(exp(b[i]))"},
		{"n ~ binomial(12, inv_logit(b))", "n[i] ~ binomial(12, inv_logit(b[i]))"},
		{"n ~ neg_binomial_2(exp(b + mu), s)", "n[i] ~ neg_binomial_2(exp(b[i] + mu), s)"},
	} {
		lower, upper := "0", "10"
		if strings.HasPrefix(c.all, "n") {
			lower = "2"
		}
		for _, bounds := range []string{lower + ", ", ", " + upper, lower + ", " + upper} {
			all := density(fmt.Sprintf("%s T[%s];", c.all, bounds), in)
			each := density(fmt.Sprintf("for (i in 1:N) %s T[%s];", c.each, bounds), in)
			if math.Abs(all-each) > 1e-12*math.Max(1, math.Abs(each)) {
				t.Errorf("%s T[%s]: %v, one by one %v", c.all, bounds, all, each)
			}
		}
	}
	for _, outside := range []string{"y ~ normal(mu, s) T[0.2, ];", "y ~ normal(b, s) T[, 1.4];", "n ~ poisson(exp(b)) T[3, 9];", "n ~ poisson(s) T[2, 6];"} {
		if lp := density(outside, in); !math.IsInf(lp, -1) {
			t.Errorf("%s: log density %v though a variate is outside", outside, lp)
		}
	}
	// One variate with many locations: each location has its own probability.
	a := density("1.5 ~ normal(b, s) T[0, 3];", in)
	b := density("for (i in 1:N) 1.5 ~ normal(b[i], s) T[0, 3];", in)
	if math.Abs(a-b) > 1e-12*math.Abs(b) {
		t.Errorf("one variate: %v, one by one %v", a, b)
	}
	// Bounds of a density are reals, whatever the variate is.
	if a, b := density("1 ~ normal(mu, s) T[0, ];", in), density("1.0 ~ normal(mu, s) T[0, ];", in); a != b {
		t.Errorf("an integer as variate of a density: %v, as real %v", a, b)
	}
}

// TestTruncatedAtTheEnd checks that a lower bound at the beginning of the support has no effect,
// not even on derivatives.
func TestTruncatedAtTheEnd(t *testing.T) {
	in := parsed(t, `{"one": 1, "zero": 0, "low": [1, 1]}`)
	density := func(statement string) (float64, []float64) {
		t.Helper()
		text := "data { real one; real zero; vector[2] low; }\nparameters { real<lower=0> a; real<lower=0> b; }\nmodel {\n  b ~ normal(0, 1);\n  " + statement + "\n}\n"
		rep := contest.Contend(text, "end.model", in, 3, 3)
		if rep.Wrong != nil || rep.Unsupported != "" {
			t.Fatalf("%s: %v%s", statement, rep.Wrong, rep.Unsupported)
		}
		grad := make([]float64, 2)
		lp, err := bound(t, "end.model", text, in).LogDensityGrad([]float64{0.3, -0.4}, grad)
		if err != nil {
			t.Fatalf("%s: %v", statement, err)
		}
		return lp, grad
	}
	for _, c := range []struct{ variate, dist, end string }{
		{"1.5", "pareto(1, a)", "1"},
		{"1.5", "pareto(one, a)", "one"},
		{"1.5", "pareto(b, a)", "b"},
		{"[1.5, 1.2]'", "pareto(low, a)", "1"},
		{"1.5", "pareto_type_2(0, b, a)", "0"},
		{"1.5", "pareto_type_2(zero, b, a)", "zero"},
		{"1.5", "pareto_type_2(b, 2, a)", "b"},
		{"1.5", "exponential(a)", "0"},
		{"1.5", "weibull(a, b)", "zero"},
		{"1.5", "gamma(a, b)", "0"},
		{"1.5", "lognormal(a, b)", "zero"},
	} {
		with, gradWith := density(fmt.Sprintf("%s ~ %s T[%s, 4];", c.variate, c.dist, c.end))
		without, gradWithout := density(fmt.Sprintf("%s ~ %s T[, 4];", c.variate, c.dist))
		if math.Abs(with-without) > 1e-12 {
			t.Errorf("%s T[%s, 4]: %v, without the lower bound %v", c.dist, c.end, with, without)
		}
		for i, w := range gradWithout {
			if !(math.Abs(gradWith[i]-w) <= 1e-12*math.Max(1, math.Abs(w))) {
				t.Errorf("%s T[%s, 4]: derivatives %v, without the lower bound %v", c.dist, c.end, gradWith, gradWithout)
				break
			}
		}
	}
}

// TestTruncatedFar checks bounds at which both distribution functions round to 1, or to 0. Values
// and derivatives with respect to log s are compared with mpmath, at s = exp(0.3).
func TestTruncatedFar(t *testing.T) {
	in := parsed(t, `{}`)
	for _, c := range []struct {
		statement string
		lp, slope float64
	}{
		{"53 ~ normal(0, s) T[51.5, 56]", -39.370844338481494, 85.02759327914983},
		{"-53 ~ normal(0, s) T[-56, -51.5]", -39.370844338481494, 85.02759327914983},
		{"80 ~ exponential(s) T[70, 90]", -12.898588075758146, -11.498588075810916},
		{"80 ~ weibull(1, s) T[70, 90]", -7.4081818392516519, 7.4081876528029712},
		{"80 ~ gamma(2, s) T[70, 90]", -12.77558419138566, -11.488115787840577},
		{"80 ~ logistic(0, s) T[70, 90]", -7.4081818392516519, 7.4081876528029712},
		{"80 ~ double_exponential(0, s) T[70, 90]", -7.4081818392516519, 7.4081876528029712},
		{"1e30 ~ lognormal(0, s) T[1e20, 1e40]", -792.98277483030185, 1453.8733992369448},
		{"1e20 ~ cauchy(0, s) T[1e18, 1e21]", -50.355871545535422, 1.0},
		{"0.999 ~ beta(s, 30) T[0.99, 0.9999]", -58.465547932292231, 1.0117762552903565},
		{"95 ~ poisson(s) T[90, 110]", -20.877361519474167, 5.9849480353917432},
		{"190 ~ neg_binomial_2(2, s) T[180, 210]", -5.7506260680191194, -2.3680769404418466},
		{"1e4 ~ student_t(50, 0, s) T[5e3, 1e5]", -39.65561027280941, 1.0001322431675569},
		{"400 ~ yule_simon(s * 30) T[300, 500]", -13.117843074589906, -8.533027894494325},
		{"80 ~ gumbel(0, s) T[70, 90]", -7.4081818392516519, 7.4081876528029712},
	} {
		// Add the constants that ~ drops: the normalised density minus the other one.
		y, rest, _ := strings.Cut(c.statement, " ~ ")
		dist, bounds, _ := strings.Cut(rest, " T[")
		name, args, _ := strings.Cut(dist, "(")
		kind := "df"
		if slices.Contains([]string{"poisson", "neg_binomial_2", "yule_simon"}, name) {
			kind = "mf"
		}
		text := fmt.Sprintf("parameters { real<lower=0> s; }\nmodel {\n  %[1]s;\n  target += %[2]s_lp%[3]s(%[4]s | %[5]s - %[2]s_lup%[3]s(%[4]s | %[5]s;\n}\n",
			c.statement, name, kind, y, args)
		rep := contest.Contend(text, "far.model", in, 3, 3)
		if rep.Wrong != nil || rep.Unsupported != "" {
			t.Errorf("%s: %v%s", c.statement, rep.Wrong, rep.Unsupported)
			continue
		}
		grad := make([]float64, 1)
		lp, err := bound(t, "far.model", text, in).LogDensityGrad([]float64{0.3}, grad)
		if err != nil {
			t.Errorf("%s: %v", c.statement, err)
			continue
		}
		if math.Abs(lp-c.lp) > 1e-11*math.Max(1, math.Abs(c.lp)) || math.Abs(grad[0]-c.slope) > 1e-10*math.Max(1, math.Abs(c.slope)) {
			t.Errorf("%s T[%s: %v with slope %v, want %v with %v", dist, bounds, lp, grad[0], c.lp, c.slope)
		}
	}
}
