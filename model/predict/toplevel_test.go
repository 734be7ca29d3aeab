package predict_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/ppl-lang/ppl/compile"
	"github.com/ppl-lang/ppl/lang/source"
	"github.com/ppl-lang/ppl/model/predict"
)

// TestTopLevel checks which statements are scaled as the prior.
func TestTopLevel(t *testing.T) {
	const data = "data { int N; int J; array[N] int g; vector[N] y; matrix[N, 2] X; real s; } "
	for _, c := range []struct {
		name, parameters, model  string
		scaled, unscaled, absent []string
	}{
		{"centred", "real mu; real<lower=0> tau; vector[J] u;", "mu ~ normal(0, s); tau ~ normal(0, 1) T[0, ]; u ~ normal(mu, tau); y ~ normal(u[g], 1);",
			[]string{"mu ~ normal(0, s)", "tau ~ normal(0, 1) T[0, ]"}, []string{"u ~ normal(mu, tau)"}, []string{"y ~"}},
		{"non-centred", "real mu; real<lower=0> tau; vector[J] z;", "mu ~ normal(0, 1); z ~ std_normal(); tau ~ exponential(1); y ~ normal((mu + tau * z)[g], 1);",
			[]string{"mu ~", "tau ~"}, []string{"z ~ std_normal()"}, nil},
		{"correlated effects", "vector<lower=0>[2] tau; cholesky_factor_corr[2] L; matrix[2, J] z;",
			"tau ~ exponential(1); L ~ lkj_corr_cholesky(2); to_vector(z) ~ std_normal(); { matrix[2, J] u = diag_pre_multiply(tau, L) * z; y ~ normal(u[1, g]', 1); }",
			[]string{"tau ~", "L ~"}, []string{"to_vector(z) ~"}, nil},
		{"regression", "vector[2] b; real<lower=0> sigma;", "target += normal_lpdf(b | 0, 1) + exponential_lpdf(sigma | 1) - 1.5; target += log(sigma); y ~ normal(X * b, sigma);",
			[]string{"normal_lpdf(b", "exponential_lpdf(sigma", "log(sigma)"}, nil, []string{"1.5"}},
		{"by way of a local variable", "real<lower=0> tau; vector[J] u;", "real t = 2 * tau; tau ~ cauchy(0, 1); for (j in 1:J) u[j] ~ normal(0, t); y ~ normal(u[g], 1);",
			[]string{"tau ~"}, []string{"u[j] ~"}, nil},
		{"scales with the prior of a standardised effect", "vector<lower=0>[2] tau; cholesky_factor_corr[2] L; matrix[2, J] z;",
			"tau ~ std_normal(); L ~ lkj_corr_cholesky(2); to_vector(z) ~ std_normal(); { matrix[2, J] u = diag_pre_multiply(tau, L) * z; y ~ normal(u[1, g]', 1); }",
			[]string{"tau ~", "L ~"}, []string{"to_vector(z) ~"}, nil},
		{"random walk", "vector[N] x;", "x[1] ~ normal(0, 1); x[2:N] ~ normal(x[1:N - 1], 1); y ~ normal(x, 1);",
			[]string{"x[1] ~"}, []string{"x[2:N] ~"}, nil},
	} {
		p, list := compile.CompileWith(source.NewFile(c.name, data+"parameters { "+c.parameters+" } model { "+c.model+" }"), compile.Options{})
		if list.HasErrors() {
			t.Fatalf("%s: %v", c.name, list.Errors())
		}
		d, err := predict.Derive(p, predict.TopLevel, predict.Options{})
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		_, model, _ := strings.Cut(d.Text, "model {")
		check := func(what string, got, want []string, written bool) {
			if len(got) != len(want) {
				t.Errorf("%s: %s: %q, want %q", c.name, what, got, want)
			}
			for _, w := range want {
				if !slices.ContainsFunc(got, func(s string) bool { return strings.Contains(s, w) }) || strings.Contains(model, w) != written {
					t.Errorf("%s: %s: %q has no %q, or the program is wrong:\n%s", c.name, what, got, w, model)
				}
			}
		}
		check("scaled", d.Scaled, c.scaled, true)
		check("not scaled", d.Unscaled, c.unscaled, false)
		for _, w := range c.absent {
			if strings.Contains(model, w) {
				t.Errorf("%s: there is %q:\n%s", c.name, w, model)
			}
		}
	}
}

// TestVarying checks which parameters describe a population, and that they can be drawn anew.
func TestVarying(t *testing.T) {
	const data = "data { int N; int J; array[N] int g; vector[N] y; } "
	for _, c := range []struct {
		parameters, model, want, drawn string
	}{
		{"real mu; real<lower=0> tau; vector[J] u;", "mu ~ std_normal(); tau ~ std_normal(); u ~ normal(mu, tau); y ~ normal(u[g], 1);", "u", "u[i] = normal_rng(mu, tau)"},
		{"real<lower=0> tau; vector[J] z;", "tau ~ std_normal(); z ~ std_normal(); y ~ normal(tau * z[g], 1);", "z", "z[i] = std_normal_rng()"},
		{"real<lower=0> tau; vector<lower=0>[J] u;", "tau ~ std_normal(); u ~ normal(1, tau); y ~ normal(u[g], 1);", "u", "u[i] ="},
		{"vector<lower=0>[2] tau; cholesky_factor_corr[2] L; matrix[2, J] z;", "tau ~ std_normal(); L ~ lkj_corr_cholesky(2); to_vector(z) ~ std_normal(); { matrix[2, J] u = diag_pre_multiply(tau, L) * z; y ~ normal(u[1, g]', 1); }", "z", "std_normal_rng()"},
		{"vector[2] mu; cov_matrix[2] S; array[J] vector[2] u;", "mu ~ std_normal(); S ~ inv_wishart(4, identity_matrix(2)); u ~ multi_normal(mu, S); for (i in 1:N) y[i] ~ normal(u[g[i], 1], 1);", "u", "multi_normal_rng(mu, S)"},
		{"real<lower=0> tau; vector[J] u;", "tau ~ std_normal(); target += normal_lpdf(u | 0, tau); y ~ normal(u[g], 1);", "u", "normal_rng(0, tau)"},
		{"vector[3] b; real<lower=0> s;", "b ~ std_normal(); s ~ std_normal(); y ~ normal(b[1], s);", "", ""},
	} {
		p, list := compile.CompileWith(source.NewFile("m", data+"parameters { "+c.parameters+" } model { "+c.model+" }"), compile.Options{})
		if list.HasErrors() {
			t.Fatalf("%s: %v", c.model, list.Errors())
		}
		names := predict.Varying(p)
		if got := strings.Join(names, " "); got != c.want {
			t.Errorf("%s: %s, want %s", c.model, got, c.want)
		}
		var grown []predict.Grown
		for _, name := range names {
			rank := 1
			if strings.Contains(c.parameters, "matrix[2, J] "+name) || strings.Contains(c.parameters, "vector[2] "+name) {
				rank = 2
			}
			grown = append(grown, predict.Grown{Name: name, Shape: slices.Repeat([]int{2}, rank), Known: slices.Repeat([]int{-1}, rank), Anew: true})
		}
		d, err := predict.Derive(p, predict.Replicated, predict.Options{Grown: grown, NewLevels: predict.SampleNewLevels})
		if err != nil {
			t.Errorf("%s: %v", c.model, err)
		} else if !strings.Contains(d.Text, c.drawn) {
			t.Errorf("%s: the program has no %q:\n%s", c.model, c.drawn, d.Text)
		}
	}
}
