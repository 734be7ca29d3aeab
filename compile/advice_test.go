package compile

import (
	"slices"
	"strings"
	"testing"

	"github.com/ppl-lang/ppl/lang/diag"
	"github.com/ppl-lang/ppl/lang/source"
)

// TestAdvice checks that each common mistake gives one message, which says what to do.
func TestAdvice(t *testing.T) {
	const head = "data { int N; vector[N] y; real r; array[N] real z; matrix[N, N] X; }\nparameters { real mu; vector[N] b; cholesky_factor_corr[3] L; corr_matrix[3] R; }\n"
	for _, c := range []struct{ program, place, summary, fix string }{
		{"model { if (mu > 0) then y ~ normal(mu, 1); }", "3:21", "there is no word `then` in the language", "leave it out"},
		{"model { y ~ normal(mu; 1); }", "3:22", "a semicolon cannot be within brackets", "write a comma"},
		{"model { y ~ normal(X %*% b, 1); }", "3:22", "there is no operator `%*%`", "a product of matrices is written `x * y`"},
		{"model { do { mu ~ normal(0, 1); } }", "3:9", "there is no statement `do`", "write `while (…) { … }`"},
		{"model { [mu, r] = [1, 2]; }", "3:9", "this cannot be assigned to", "the left side is a variable"},
		{"model { increment_log_prob(mu); }", "3:9", "`increment_log_prob` is no longer part", "write `target += …;`"},
		{"model { target += normal_lpdf(y, mu, 1); }", "3:19", "normal_lpdf is called with a bar", "write normal_lpdf(y | mu, 1)"},
		{"model { target += normal(y | mu, 1); }", "3:19", "there is no function `normal`", "normal is a distribution: write y ~ normal(…)"},
		{"model { while (true) break; }", "3:16", "`true` is not declared", "write `1`"},
		{"model { mu ~ normal(max(mu, 1), 1); }", "3:25", "argument 1 of max must be int", "the greater and the smaller of two reals are fmax"},
		{"model { y ~ normal(mu, 1, 2, 3); }", "3:27", "normal takes 2 arguments, not 4", "its arguments are mu"},
		{"model { b ~ multi_normal(0, X); }", "3:26", "argument 1 of multi_normal must be", "use rep_vector(…, n) to repeat a scalar"},
		{"model { vector[r] v; }", "3:16", "the size of a vector must be int", "declare `r` as int"},
		{"model { mu ~ normal(y[z[1]], 1); }", "3:23", "an index must be int", "declare `z` as array[…] int"},
		{"model { for (i in 1:N) mu ~ normal(0, 1); y[i] ~ normal(0, 1); }", "3:45", "`i` is not visible here", "if this belongs to the loop"},
		{"model { mu ~ normal(z - X, 1); }", "3:23", "operator - does not take", "operators are for scalars, vectors and matrices, and not for arrays"},
		{"model { mu ~ normal(b - X, 1); }", "3:23", "operator - does not take", "use rep_matrix(v, n)"},
		{"model { mu ~ normal(r %/% 2, 1); }", "3:23", "operator %/% does not take", "it divides integers"},
		{"model { 3 ~ poisson_log(mu) T[0, ]; }", "3:29", "poisson_log cannot be truncated", "write poisson(exp(…))"},
		{"model { L ~ lkj_corr(1); }", "3:9", "the variate of lkj_corr must be a correlation matrix", "write `lkj_corr_cholesky`"},
		{"model { R ~ lkj_corr_cholesky(1); }", "3:9", "the variate of lkj_corr_cholesky must be a Cholesky factor", "write `lkj_corr`"},
		{"generated quantities { vector[N] v; v[1] ~ normal(mu, 1); }", "3:37", "~ is not allowed", "to draw at random, write v[1] = normal_rng(mu, 1)"},
		{"transformed parameters { real<lower=0 s; }", "3:39", "`>` is missing before `s`", "close the bounds"},
		{"transformed parameters { real<lower=0, s; }", "3:40", "there is no bound called `s`", "close the bounds"},
		{"transformed parameters { real<0> s; }", "3:31", "expected a bound", "bounds have names"},
	} {
		list := slices.DeleteFunc(Check(source.NewFile("m.stan", head+c.program+"\n"), Options{}), func(d diag.Diagnostic) bool {
			return strings.HasPrefix(d.Summary, "the density does not depend on")
		})
		if len(list) != 1 {
			t.Errorf("%s: %d messages: %v", c.program, len(list), list)
			continue
		}
		if s := list[0].String(); !strings.HasPrefix(s, "m.stan:"+c.place+": ") || !strings.Contains(s, c.summary) || !strings.HasPrefix(list[0].Fix, c.fix) {
			t.Errorf("%s: %s; %s", c.program, s, list[0].Fix)
		}
	}
	for _, c := range []struct{ function, summary, fix string }{
		{"f(real x) { return x; }", "the type of the result of `f` is missing", "write it before the name"},
		{"array[ real f(int n) { return {1.0}; }", "`]` is missing after `array[`", "an array in a signature is written without sizes"},
	} {
		list := Check(source.NewFile("m.stan", "functions {\n"+c.function+"\n}\n"), Options{})
		if len(list) == 0 || !strings.Contains(list[0].Summary, c.summary) || !strings.HasPrefix(list[0].Fix, c.fix) {
			t.Errorf("%s: %v", c.function, list)
		}
	}
}
