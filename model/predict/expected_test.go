package predict_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/ppl-lang/ppl/compile/data"
	"github.com/ppl-lang/ppl/model/predict"
)

const simplexHead = "data { int N; vector[N] y; } parameters { simplex[3] w; vector[3] b; }\n"

const simplexValues = `{"N": 2, "y": [0.5, 1.5]}`

// expectations lists models with their expected values and linear predictors, written by hand. If
// these are "", left has the reason why they cannot be derived.
var expectations = []struct{ name, head, values, model, mean, link, left string }{
	{name: "lines", model: "y ~ normal(mu, sigma);", mean: "vector[N] y_mean = rep_vector(mu, N);", link: "vector[N] y_link = rep_vector(mu, N);"},
	{name: "loops and counts", model: "for (n in 1:N) { real eta = mu + y[n]; k[n] ~ poisson(exp(eta)); }",
		mean: "array[N] real k_mean; for (n in 1:N) k_mean[n] = exp(mu + y[n]);", link: "array[N] real k_link; for (n in 1:N) k_link[n] = mu + y[n];"},
	{name: "log odds", head: "data { int N; array[N] int k; vector[N] x; } parameters { real mu; }", values: `{"N": 3, "k": [1, 0, 1], "x": [0.5, 100, 2]}`,
		model: "k ~ bernoulli(inv_logit(mu + x));", mean: "array[N] real k_mean; for (n in 1:N) k_mean[n] = inv_logit(mu + x[n]);",
		link: "array[N] real k_link; for (n in 1:N) k_link[n] = mu + x[n];"},
	{name: "whole numbers", model: "for (n in 1:N) y[n] ~ gamma(2, 3 + g[n]); k ~ neg_binomial(1, 2);",
		mean: "vector[N] y_mean; array[N] real k_mean = rep_array(0.5, N); for (n in 1:N) y_mean[n] = 2.0 / (3 + g[n]);",
		link: "vector[N] y_link; array[N] real k_link = rep_array(log(0.5), N); for (n in 1:N) y_link[n] = log(2) - log(3 + g[n]);"},
	{name: "trials", model: "k ~ binomial(g, p);", mean: "array[N] real k_mean; for (n in 1:N) k_mean[n] = g[n] * p;", link: "array[N] real k_link = rep_array(logit(p), N);"},
	{name: "covariates", model: "y ~ normal_id_glm(Y, mu, a[1:2], sigma); k ~ poisson_log_glm(Y, mu, a[1:2]);",
		mean: "vector[N] y_mean = mu + Y * a[1:2]; array[N] real k_mean = to_array_1d(exp(mu + Y * a[1:2]));",
		link: "vector[N] y_link = mu + Y * a[1:2]; array[N] real k_link = to_array_1d(mu + Y * a[1:2]);"},
	{name: "logarithms", model: "log(y) ~ normal(mu, sigma);", mean: "vector[N] y_mean = rep_vector(exp(mu + sigma^2 / 2), N);", link: "vector[N] y_link = rep_vector(mu, N);"},
	{name: "roots", model: "sqrt(y) ~ normal(mu, sigma);", link: "vector[N] y_link = rep_vector(mu, N);", left: "the expected value of sqrt(y) is known, but not that of y"},
	{name: "no mean", model: "y ~ cauchy(mu, sigma);", link: "vector[N] y_link = rep_vector(mu, N);", left: "cauchy has no expected value"},
	{name: "categories", head: "data { int N; int K; array[N] int g; matrix[N, 2] X; } parameters { matrix[K, 2] b; }",
		values: `{"N": 2, "K": 3, "g": [1, 3], "X": [[1, 2], [0.5, -1]]}`, model: "for (n in 1:N) g[n] ~ categorical_logit(b * X[n]');",
		mean: "array[N] vector[K] g_mean; for (n in 1:N) g_mean[n] = softmax(b * X[n]');", link: "array[N] vector[K] g_link; for (n in 1:N) g_link[n] = b * X[n]';"},
	{name: "local probabilities", head: "data { int N; int K; array[N] int g; vector[N] x; } parameters { vector[K] b; }",
		values: `{"N": 2, "K": 3, "g": [1, 3], "x": [0.5, -1]}`, model: "for (n in 1:N) { vector[K] eta = b * x[n]; g[n] ~ categorical(softmax(eta)); } ",
		mean: "array[N] vector[K] g_mean; for (n in 1:N) g_mean[n] = softmax(b * x[n]);", link: "array[N] vector[K] g_link; for (n in 1:N) g_link[n] = log_softmax(b * x[n]);"},
	{name: "a row of log odds", head: "data { int N; array[N] int g; vector[N] x; } parameters { real b; }",
		values: `{"N": 2, "g": [1, 3], "x": [0.5, -1]}`, model: "vector[N] eta = b * x; for (n in 1:N) g[n] ~ categorical_logit([0, eta[n], 1]');",
		mean: "array[N] vector[3] g_mean; for (n in 1:N) g_mean[n] = softmax([0, b * x[n], 1]');", link: "array[N] vector[3] g_link; for (n in 1:N) g_link[n] = [0, b * x[n], 1]';"},
	{name: "scales of means", model: "for (n in 1:N) { if (g[n] == 3) target += weibull_lccdf(y[n] | sigma, exp(mu * n) / tgamma(1 + 1 / sigma)); else y[n] ~ weibull(sigma, exp(mu * n) / tgamma(1 + 1 / sigma)); }",
		mean: "vector[N] y_mean; for (n in 1:N) y_mean[n] = exp(mu * n);", link: "vector[N] y_link; for (n in 1:N) y_link[n] = mu * n;"},
	{name: "scales", model: "for (n in 1:N) y[n] ~ weibull(2, exp(mu * n));",
		mean: "vector[N] y_mean; for (n in 1:N) y_mean[n] = exp(mu * n) * tgamma(1.5);", link: "vector[N] y_link; for (n in 1:N) y_link[n] = mu * n;"},
	{name: "rows of probabilities", head: "data { int N; int K; array[N] int g; array[N] int h; } parameters { matrix[K, 4] a; array[3] simplex[4] p; }",
		values: `{"N": 2, "K": 3, "g": [1, 3], "h": [4, 1]}`, model: "for (n in 1:N) { g[n] ~ categorical_logit(col(a, 1)); h[n] ~ categorical(p[g[n]]); }",
		mean: "array[N] vector[4] h_mean; for (n in 1:N) h_mean[n] = p[g[n]];", link: "array[N] vector[4] h_link; for (n in 1:N) h_link[n] = log(p[g[n]]);"},
	{name: "ordered", model: "g ~ ordered_logistic(mu * y, c);", head: "data { int N; vector[N] y; array[N] int g; } parameters { real mu; ordered[2] c; }",
		values: `{"N": 2, "y": [0.5, 2], "g": [1, 3]}`,
		mean:   "array[N] vector[3] g_mean; for (n in 1:N) for (j in 1:3) g_mean[n, j] = exp(ordered_logistic_lpmf(j | mu * y[n], c));",
		link:   "array[N] real g_link; for (n in 1:N) g_link[n] = mu * y[n];"},
	{name: "vectors", model: "for (n in 1:N) Y[n] ~ multi_normal([mu, 2]', diag_matrix([sigma, 1]'));",
		mean: "matrix[N, 2] Y_mean; for (n in 1:N) Y_mean[n] = [mu, 2];", link: "matrix[N, 2] Y_link; for (n in 1:N) Y_link[n] = [mu, 2];"},
	{name: "counts of categories", head: "data { int N; array[N, 3] int y; } parameters { simplex[3] theta; }", values: `{"N": 2, "y": [[1, 2, 3], [0, 4, 0]]}`,
		model: "for (n in 1:N) y[n] ~ multinomial(theta);", mean: "array[N, 3] real y_mean; for (n in 1:N) for (j in 1:3) y_mean[n, j] = sum(y[n]) * theta[j];",
		left: "no linear predictor"},
	{name: "censored", model: "for (n in 1:N) { if (g[n] == 3) target += exponential_lccdf(y[n] | sigma); else target += exponential_lpdf(y[n] | sigma); }",
		mean: "vector[N] y_mean = rep_vector(1 / sigma, N);", link: "vector[N] y_link = rep_vector(-log(sigma), N);"},
	{name: "mixture", model: "for (n in 1:N) target += log_mix(p, normal_lpdf(y[n] | 0, 1), normal_lpdf(y[n] | mu, 1));", mean: "vector[N] y_mean = rep_vector((1 - p) * mu, N);", left: "no linear predictor"},
	{name: "mixture of sums", model: "for (n in 1:N) target += log_sum_exp(log(p) + exponential_lpdf(y[n] | n), log1m(p) + gamma_lpdf(y[n] | 2, sigma));",
		mean: "vector[N] y_mean; for (n in 1:N) y_mean[n] = p / n + (1 - p) * 2 / sigma;", left: "no linear predictor"},
	{name: "mixture of three", model: "for (n in 1:N) target += log_mix(p, normal_lpdf(y[n] | 1, 1), log_mix(sigma / 9, normal_lpdf(y[n] | 2, 1), normal_lpdf(y[n] | mu, 1)));",
		mean: "vector[N] y_mean = rep_vector(p + (1 - p) * (sigma / 9 * 2 + (1 - sigma / 9) * mu), N);", left: "no linear predictor"},
	{name: "mixture of the elements of a simplex", head: simplexHead, values: simplexValues,
		model: "for (n in 1:N) target += log_sum_exp([log(w[1]) + normal_lpdf(y[n] | 1, 1), log(w[3]) + normal_lpdf(y[n] | 2, 1), log(w[2]) + normal_lpdf(y[n] | b[1], 1)]);",
		mean:  "vector[N] y_mean = rep_vector(w[1] + 2 * w[3] + w[2] * b[1], N);", left: "no linear predictor"},
	{name: "mixture in a loop", head: simplexHead, values: simplexValues,
		model: "for (n in 1:N) { vector[3] lp = log(w); for (k in 1:3) lp[k] += normal_lpdf(y[n] | b[k], k); target += log_sum_exp(lp); }",
		mean:  "vector[N] y_mean = rep_vector(dot_product(w, b), N);", left: "no linear predictor"},
	{name: "log1m as a difference", model: "for (n in 1:N) target += log_sum_exp(log(1 - p) + normal_lpdf(y[n] | 0, 1), normal_lpdf(y[n] | mu, 1) + log(p));",
		mean: "vector[N] y_mean = rep_vector(p * mu, N);", left: "no linear predictor"},
	{name: "weights of log_mix", head: simplexHead, values: simplexValues,
		model: "for (n in 1:N) { vector[3] lp; for (k in 1:3) lp[k] = normal_lpdf(y[n] | b[k], k); target += log_mix(w, lp); }",
		mean:  "vector[N] y_mean = rep_vector(dot_product(w, b), N);", left: "no linear predictor"},
	{name: "a loop over a part", head: simplexHead, values: simplexValues, left: "not a density",
		model: "for (n in 1:N) { vector[3] lp = log(w); for (k in 1:2) lp[k] += normal_lpdf(y[n] | b[k], 1); target += log_sum_exp(lp); }"},
	{name: "a loop with weights twice", head: simplexHead, values: simplexValues, left: "not a density",
		model: "for (n in 1:N) { vector[3] lp = log(w); for (k in 1:3) lp[k] += log(w[k]) + normal_lpdf(y[n] | b[k], 1); target += log_sum_exp(lp); }"},
	{name: "a loop with other weights", head: simplexHead, values: simplexValues, left: "not a density",
		model: "for (n in 1:N) { vector[3] lp; for (k in 1:3) lp[k] = log(b[k]) + normal_lpdf(y[n] | b[k], 1); target += log_sum_exp(lp); }"},
	{name: "a loop with a condition", head: simplexHead, values: simplexValues, left: "not a density",
		model: "for (n in 1:N) { vector[3] lp = log(w); for (k in 1:3) if (b[k] > 0) lp[k] += normal_lpdf(y[n] | b[k], 1); target += log_sum_exp(lp); }"},
	{name: "a loop with locals", head: simplexHead, values: simplexValues, left: "not a density",
		model: "for (n in 1:N) { vector[3] lp = log(w); real m; for (k in 1:3) { m = b[k]; lp[k] += normal_lpdf(y[n] | m, 1); } target += log_sum_exp(lp); }"},
	{name: "part of a simplex", head: simplexHead, values: simplexValues, left: "not a density",
		model: "for (n in 1:N) target += log_sum_exp(log(w[1]) + normal_lpdf(y[n] | 0, 1), log(w[2]) + normal_lpdf(y[n] | 1, 1));"},
	{name: "no mixture", model: "for (n in 1:N) target += log_sum_exp(log(p) + normal_lpdf(y[n] | 0, 1), log1m(sigma) + normal_lpdf(y[n] | mu, 1));", left: "not a density"},
	{name: "series", model: "for (n in 2:N) y[n] ~ normal(mu * y[n - 1], sigma);",
		mean: "vector[N] y_mean; for (n in 2:N) y_mean[n] = mu * y[n - 1];", link: "vector[N] y_link; for (n in 2:N) y_link[n] = mu * y[n - 1];"},
	{name: "own", head: "functions { real tri_lpdf(real x, real c) { return -abs(x - c) * c; } real tri_mean(real c) { return c + 1; } }" + head,
		model: "y ~ normal(0, 1); for (n in 1:N) y[n] ~ tri(mu);", mean: "vector[N] y_mean = rep_vector(mu + 1, N);", left: "there is no function tri_link"},
	{name: "truncated lines", model: "for (n in 1:N) y[n] ~ normal(mu, sigma) T[0, 3];",
		mean: `vector[N] y_mean; for (n in 1:N) { real z = Phi((3 - mu) / sigma) - Phi(-mu / sigma);
		  y_mean[n] = mu - sigma * (exp(std_normal_lpdf((3 - mu) / sigma)) - exp(std_normal_lpdf(-mu / sigma))) / z; }`,
		link: "vector[N] y_link = rep_vector(mu, N);"},
	{name: "truncated shapes", model: "for (n in 1:N) y[n] ~ gamma(2, sigma) T[0, 3];", link: "vector[N] y_link = rep_vector(log(2) - log(sigma), N);",
		left: "gamma, truncated, is not known"},
}

func TestExpected(t *testing.T) {
	for _, c := range expectations {
		h, v := c.head, c.values
		if h == "" {
			h = head
		}
		if v == "" {
			v = values
		}
		p := compiled(t, h+"model {\n"+c.model+"\n}")
		for kind, want := range map[predict.Kind]string{predict.Expected: c.mean, predict.LinearPredictor: c.link} {
			d, err := predict.Derive(p, kind, predict.Options{})
			switch {
			case want == "":
				if err == nil && len(d.Left) > 0 {
					err = fmt.Errorf("%s", d.Left[0].Reason)
				}
				if c.left == "" || err == nil || !strings.Contains(err.Error(), c.left) {
					t.Errorf("%s: %v", c.name, err)
				}
			case err != nil:
				t.Errorf("%s: %v", c.name, err)
			default:
				unset(t, d, compiled(t, h+"generated quantities {\n"+want+"\n}"), v)
			}
		}
	}
}

// TestExpectedTruncatedCounts compares the means of truncated counts with sums over the values
// between the bounds.
func TestExpectedTruncatedCounts(t *testing.T) {
	for _, c := range []struct {
		call, bounds string
		lo, hi       int
	}{
		{"poisson(0.3)", "T[1, ]", 1, 60}, {"poisson(3)", "T[15, ]", 15, 100}, {"poisson(30)", "T[, 3]", 0, 3}, {"poisson(30)", "T[2, 4]", 2, 4},
		{"neg_binomial_2(4, 2)", "T[2, ]", 2, 400}, {"neg_binomial_2(4, 2)", "T[1, 3]", 1, 3}, {"binomial(10, 0.1)", "T[7, ]", 7, 10},
		{"binomial(10, 0.9)", "T[, 2]", 0, 2}, {"bernoulli(0.001)", "T[1, ]", 1, 1},
	} {
		p := compiled(t, "data { int y; } parameters { real a; } model { y ~ "+c.call+c.bounds+"; }")
		d := derive(t, p, predict.Expected)
		dist, args, _ := strings.Cut(strings.TrimSuffix(c.call, ")"), "(")
		set := fmt.Sprintf(`{"y": %d}`, c.lo)
		unset(t, d, compiled(t, fmt.Sprintf(`data { int y; } parameters { real a; } generated quantities { real y_mean; {
		  vector[%[2]d] l; vector[%[2]d] k; for (i in 1:%[2]d) { k[i] = %[1]d + i - 1; l[i] = %[3]s_lpmf(%[1]d + i - 1 | %[4]s); }
		  y_mean = dot_product(k, softmax(l)); } }`, c.lo, c.hi-c.lo+1, dist, args)), set)
	}
}

// TestExpectedWithoutValues checks that expected values of a series are refused without its values,
// on which they depend.
func TestExpectedWithoutValues(t *testing.T) {
	p := compiled(t, head+"model { for (n in 2:N) y[n] ~ normal(mu * y[n - 1], sigma); k ~ poisson(sigma); }")
	if _, err := predict.Derive(p, predict.Expected, predict.Options{Unknown: []string{"y"}}); err == nil || !strings.Contains(err.Error(), "depends (line") {
		t.Error(err)
	}
	d, err := predict.Derive(p, predict.Expected, predict.Options{Unknown: []string{"k"}})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := data.ParseJSON("data", []byte(values)); err != nil {
		t.Fatal(err)
	}
	for _, o := range d.Outputs {
		if (len(o.Observed) > 0) != (o.Variable == "y") {
			t.Errorf("%v is given %v", o.Variable, o.Observed)
		}
	}
}
