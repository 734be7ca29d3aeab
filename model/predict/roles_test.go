package predict_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/ppl-lang/ppl/model"
	"github.com/ppl-lang/ppl/model/predict"
)

// rolesOf writes the roles of a model in one line.
func rolesOf(t *testing.T, name, parameters, transformed, text string) string {
	t.Helper()
	m, err := model.Compile("m", "data { int N; int J; matrix[N, J] B; vector[N] x; array[N] real t; array[N] int g; array[J] int kind; vector[N] y; }\nparameters { "+parameters+" }\ntransformed parameters { "+transformed+" }\nmodel { "+text+" }")
	if err != nil {
		t.Fatal(name, err)
	}
	r := predict.RolesOf(m.Program())
	var out []string
	list := func(title string, words []string) {
		if len(words) > 0 {
			slices.Sort(words)
			out = append(out, title+" "+strings.Join(words, " "))
		}
	}
	pairs := func(m map[string]string) (words []string) {
		for k, v := range m {
			words = append(words, k+":"+v)
		}
		return words
	}
	list("auxiliary", slices.Collect(maps.Keys(r.Auxiliary)))
	var correlations []string
	for k, c := range r.Correlations {
		correlations = append(correlations, k+":"+c.Matrix+":"+c.Of)
	}
	list("correlations", correlations)
	list("groups", slices.Collect(maps.Keys(r.Groups)))
	list("scales", pairs(r.Scales))
	list("residual", pairs(r.Residual))
	list("levels", pairs(r.Levels))
	var curves []string
	for k, c := range r.Curves {
		curves = append(curves, fmt.Sprintf("%s:%s%s", k, c.X+map[bool]string{true: "steps"}[c.Steps], strings.TrimSuffix(":"+c.Y, ":")))
	}
	list("curves", curves)
	return strings.Join(out, "; ")
}

func TestRoles(t *testing.T) {
	for _, c := range []struct{ name, parameters, transformed, model, want string }{
		{"scaled", "real<lower=0> tau; vector[J] z;", "vector[J] u = tau * z;", "z ~ std_normal();", "auxiliary z; groups u; scales tau:u"},
		{"normal(0, 1)", "real<lower=0> tau; vector[J] z;", "vector[J] u = 3 + tau * z;", "z ~ normal(0, 1.0);", "auxiliary z; groups u; scales tau:u"},
		{"a density", "real<lower=0> tau; vector[J] z;", "vector[J] u = tau * z;", "target += std_normal_lpdf(z);", "auxiliary z; groups u; scales tau:u"},
		{"one by one", "real<lower=0> tau; vector[J] z;", "vector[J] u; for (j in 1:J) u[j] = z[j] * tau;", "for (j in 1:J) z[j] ~ std_normal();", "auxiliary z; groups u; scales tau:u"},
		{"correlated", "vector<lower=0>[2] tau; cholesky_factor_corr[2] L; matrix[2, J] z;", "matrix[J, 2] u = (diag_pre_multiply(tau, L) * z)'; matrix[2, 2] R = L * L';",
			"to_vector(z) ~ std_normal(); L ~ lkj_corr_cholesky(2);", "auxiliary L z; correlations L:R:u; groups u; scales tau:u"},
		{"scales with normal priors", "vector<lower=0>[2] tau; cholesky_factor_corr[2] L; matrix[2, J] z;", "matrix[2, J] u = diag_pre_multiply(tau, L) * z;",
			"to_vector(z) ~ std_normal(); tau ~ normal(0, 1); L ~ lkj_corr_cholesky(2);", "auxiliary L z; correlations L::u; groups u; scales tau:u"},
		{"positive", "real<lower=0> tau; vector<lower=0>[J] z;", "vector[J] u = tau * z;", "z ~ std_normal();", ""},
		{"a factor made before", "vector<lower=0>[2] tau; cholesky_factor_corr[2] L; matrix[2, J] z;", "matrix[2, 2] S = diag_pre_multiply(tau, L); matrix[2, J] u = S * z;",
			"to_vector(z) ~ std_normal(); tau ~ normal(0, 1);", "auxiliary L z; correlations L::u; groups u; scales tau:u"},
		{"another scale", "real<lower=0> tau; vector[J] z;", "vector[J] u = tau * z;", "z ~ normal(0, 2);", ""},
		{"in the model", "real<lower=0> tau; vector[J] z;", "", "z ~ std_normal(); y ~ normal(tau * z[g], 1);", "auxiliary z; groups z; scales tau:z; levels z:g"},
		{"used as it is, too", "real<lower=0> tau; vector[J] z;", "vector[J] u = tau * z;", "z ~ std_normal(); y ~ normal(z[g], 1);", "levels z:g"},
		{"coefficients", "vector[J] b;", "vector[N] mu = B * b;", "b ~ std_normal();", ""},
		{"abilities", "vector<lower=0>[J] a; vector[J] theta;", "", "theta ~ std_normal(); y ~ normal(a[g] .* theta[g], 1);", "levels a:g theta:g"},
		{"loadings", "vector[J] a; real s;", "vector[J] u = s * a;", "a ~ std_normal();", ""},
		{"sums", "real mu; vector[J] z;", "vector[J] u = mu + z;", "z ~ std_normal();", ""},
		{"one number", "real z; real<lower=0> tau;", "real u = tau * z;", "z ~ std_normal();", ""},
		{"without a prior", "real<lower=0> tau; vector[J] z;", "vector[J] u = tau * z;", "tau ~ exponential(1);", ""},
		{"centred", "real mu; real<lower=0> tau; vector[J] u;", "", "u ~ normal(mu, tau); y ~ normal(u[g], 1);", "groups u; scales tau:u; levels u:g"},
		{"a mean", "real<lower=0> m; vector<lower=0>[J] u;", "", "u ~ exponential(m); y ~ normal(u[g], 1);", "groups u; levels u:g"},
		{"a location that is positive", "real<lower=0> m; real<lower=0> s; vector[J] u;", "", "u ~ normal(m, s);", "groups u; scales s:u"},
		{"a shape", "real<lower=0> a; real<lower=0> s; vector<lower=0>[J] u;", "", "u ~ gamma(a, s);", "groups u"},
		{"a multiplier", "real mu; real<lower=0> tau; vector<offset=mu, multiplier=tau>[J] u;", "", "u ~ normal(mu, tau);", "groups u; scales tau:u"},
		{"exp", "real s; vector[J] z;", "vector[J] u = exp(s) * z;", "z ~ std_normal();", "auxiliary z; groups u"},
		{"a Gaussian process", "real<lower=0> a; real<lower=0> l; vector[N] z;", "vector[N] f = cholesky_decompose(add_diag(gp_exp_quad_cov(t, a, l), 1e-9)) * z;", "z ~ std_normal(); y ~ normal(f, 1);", "auxiliary z; curves f:t:y"},
		{"a covariance made before", "real<lower=0> a; real<lower=0> l; vector[N] z;", "vector[N] f; { matrix[N, N] K = gp_exp_quad_cov(t, a, l); matrix[N, N] L = cholesky_decompose(K); f = 2 + L * z; }", "z ~ std_normal(); y ~ normal(f, 1);", "auxiliary z; curves f:t:y"},
		{"a spline", "real<lower=0> tau; vector[J] b;", "vector[N] f = B * b;", "b ~ normal(0, tau);", "groups b; scales tau:b; curves f:"},
		{"a random walk", "real<lower=0> s; real x0; vector[N] z;", "vector[N] w; w[1] = x0; for (n in 2:N) w[n] = w[n - 1] + s * z[n];", "z ~ std_normal();", "auxiliary z; curves w:steps"},
		{"a running sum", "real<lower=0> s; vector[N] z;", "vector[N] w = cumulative_sum(s * z);", "z ~ std_normal();", "auxiliary z; curves w:steps"},
		{"a centred walk", "real<lower=0> s; vector[N] w;", "", "w[2:N] ~ normal(w[1:(N - 1)], s); w[1] ~ normal(0, 1); y ~ normal(w, 1);", "curves w:steps:y"},
		{"a line", "real a; real b;", "vector[N] mu = a + b * x;", "y ~ normal(mu, 1);", ""},
		{"chosen by several", "vector[J] b;", "vector[N] mu = b[g]; vector[J] c = b[kind];", "b ~ std_normal();", ""},
		{"residuals", "real a; real<lower=0> s;", "", "y ~ normal(a, s); y[1] ~ normal(0, s);", "residual s:y"},
		{"residuals by loop", "real a; real<lower=0> s;", "", "for (n in 1:N) y[n] ~ normal(a, (s));", "residual s:y"},
		{"residuals of several", "real a; real<lower=0> s;", "", "y ~ normal(a, s); x ~ normal(a, s);", ""},
		{"residuals by group", "real a; vector<lower=0>[J] s;", "", "y ~ normal(a, s[g]);", "levels s:g"},
		{"residuals of two kinds", "real a; real<lower=0> s; real<lower=0> r;", "", "for (n in 1:N) if (g[n] == 1) y[n] ~ normal(a, s); else y[n] ~ normal(a, r);", ""},
		{"residuals of two distributions", "real a; real<lower=0> s; real<lower=0> r;", "", "for (n in 1:N) if (g[n] == 1) y[n] ~ normal(a, s); else y[n] ~ student_t(4, a, r);", ""},
		{"residuals of a density", "real a; real<lower=0> s; real<lower=0> r;", "", "for (n in 1:N) if (g[n] == 1) y[n] ~ normal(a, s); else target += cauchy_lpdf(y[n] | a, r);", ""},
		{"truncated", "real a; real<lower=0> s;", "", "for (n in 1:N) y[n] ~ normal(a, s) T[0, ];", ""},
		{"components", "real a; real<lower=0> s;", "", "for (n in 1:N) target += log_mix(0.5, normal_lpdf(y[n] | a, s), normal_lpdf(y[n] | 0, 1));", ""},
		{"groups by row", "real<lower=0> tau; vector[J] z;", "vector[J] u = tau * z; vector[N] mu = u[g] + x;", "z ~ std_normal();", "auxiliary z; groups u; scales tau:u; levels u:g"},
	} {
		if got := rolesOf(t, c.name, c.parameters, c.transformed, c.model); got != c.want {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
		}
	}
	if r := predict.RolesOf(nil); len(r.Auxiliary)+len(r.Curves) > 0 {
		t.Error(r)
	}
}
