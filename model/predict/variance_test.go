package predict_test

import (
	"strings"
	"testing"

	"github.com/ppl-lang/ppl/model/predict"
)

// TestVariance compares variances of observations with formulas written by hand. If there is none,
// left has the reason.
func TestVariance(t *testing.T) {
	for _, c := range []struct{ name, functions, model, want, left string }{
		{name: "lines", model: "y ~ normal(mu, sigma);", want: "vector[N] y_variance = rep_vector(sigma^2, N);"},
		{name: "loops and counts", model: "for (n in 1:N) { real eta = mu + y[n]; k[n] ~ poisson(exp(eta)); }",
			want: "array[N] real k_variance; for (n in 1:N) k_variance[n] = exp(mu + y[n]);"},
		{name: "logarithms", model: "log(y) ~ normal(mu, sigma);", want: "vector[N] y_variance = rep_vector(expm1(sigma^2) * exp(2 * mu + sigma^2), N);"},
		{name: "censored", model: "for (n in 1:N) { if (g[n] == 3) target += exponential_lccdf(y[n] | sigma); else target += exponential_lpdf(y[n] | sigma); }",
			want: "vector[N] y_variance = rep_vector(1 / sigma^2, N);"},
		{name: "own", functions: "functions { real tri_lpdf(real x, real c) { return -abs(x - c) * c; } real tri_variance(real c) { return c + 1; } }",
			model: "for (n in 1:N) y[n] ~ tri(mu);", want: "vector[N] y_variance = rep_vector(mu + 1, N);"},
		{name: "own without", functions: "functions { real tri_lpdf(real x, real c) { return -abs(x - c) * c; } }", model: "for (n in 1:N) y[n] ~ tri(mu);", left: "there is no function tri_variance"},
		{name: "roots", model: "sqrt(y) ~ normal(mu, sigma);", left: "the variance of sqrt(y) is known, but not that of y"},
		{name: "truncated", model: "for (n in 1:N) y[n] ~ normal(mu, sigma) T[0, 3];", left: "the variance of normal, truncated, is not known"},
		{name: "mixture", model: "for (n in 1:N) target += log_mix(p, normal_lpdf(y[n] | 0, 1), normal_lpdf(y[n] | mu, 1));", left: "the variance of a mixture is not known"},
		{name: "vectors", model: "for (n in 1:N) Y[n] ~ multi_normal([mu, 2]', diag_matrix([sigma, 1]'));", left: "multi_normal has no variance"},
	} {
		d, err := predict.Derive(compiled(t, c.functions+head+"model {\n"+c.model+"\n}"), predict.Variance, predict.Options{})
		switch {
		case c.left != "":
			if err == nil && len(d.Left) > 0 {
				if !strings.Contains(d.Left[0].Reason, c.left) {
					t.Errorf("%s: %s", c.name, d.Left[0].Reason)
				}
			} else if err == nil || !strings.Contains(err.Error(), c.left) {
				t.Errorf("%s: %v", c.name, err)
			}
		case err != nil:
			t.Errorf("%s: %v", c.name, err)
		default:
			unset(t, d, compiled(t, c.functions+head+"generated quantities {\n"+c.want+"\n}"), values)
		}
	}
}
