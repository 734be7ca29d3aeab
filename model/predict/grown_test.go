package predict_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/ppl-lang/ppl/model/predict"
)

// growths lists models for data with more elements of a parameter than the fit, each with a program
// written by hand, whose parameters are those of the fit.
var growths = []struct {
	name, head, model string // the program
	values            string
	grown             predict.Grown
	params, hand      string // parameters and generated quantities written by hand
	mean              string // the same for means; "" to skip
	refused           string
}{
	{name: "centred", head: "data { int N; int J; array[N] int g; vector[N] y; } parameters { real mu; real<lower=0> tau; vector[J] u; }",
		model: "u ~ normal(mu, tau); y ~ normal(u[g], 1);", values: `{"N": 3, "J": 4, "g": [1, 3, 4], "y": [0, 1, 2]}`,
		grown: predict.Grown{Name: "u", Shape: []int{2}, Known: []int{2}}, params: "real mu; real<lower=0> tau; vector[2] u_;",
		hand: "vector[N] y_mean; { vector[4] u; u[1:2] = u_; u[3] = normal_rng(mu, tau); u[4] = normal_rng(mu, tau); y_mean = u[g]; }",
		mean: "vector[N] y_mean = [u_[1], mu, mu]';"},
	{name: "not centred", head: "data { int N; int J; array[N] int g; vector[N] y; } parameters { real mu; real<lower=0> tau; vector[J] z; } transformed parameters { vector<lower=-1e9>[J] u = mu + tau * z; }",
		model: "z ~ std_normal(); for (n in 1:N) y[n] ~ normal(u[g[n]], 1);", values: `{"N": 2, "J": 3, "g": [1, 3], "y": [0, 1]}`,
		grown: predict.Grown{Name: "z", Shape: []int{2}, Known: []int{2}}, params: "real mu; real<lower=0> tau; vector[2] z_;",
		hand: "vector[N] y_mean; y_mean[1] = mu + tau * z_[1]; y_mean[2] = mu + tau * std_normal_rng();", mean: "vector[N] y_mean = [mu + tau * z_[1], mu]';"},
	{name: "one by one", head: "data { int N; int J; array[N] int g; vector[J] x; vector[N] y; } parameters { real b; real<lower=0> tau; vector[J] u; }",
		model: "y ~ normal(u[g], 1); for (j in 1:J) { real m = b * x[j]; u[j] ~ normal(m, tau); }", values: `{"N": 2, "J": 3, "g": [1, 3], "x": [1, 2, 3], "y": [0, 1]}`,
		grown: predict.Grown{Name: "u", Shape: []int{2}, Known: []int{2}}, params: "real b; real<lower=0> tau; vector[2] u_;",
		hand: "vector[N] y_mean; y_mean[1] = u_[1]; y_mean[2] = normal_rng(b * 3, tau);"},
	{name: "means computed before", head: "data { int N; int J; array[N] int g; vector[J] x; vector[N] y; } parameters { real b; vector[J] u; } transformed parameters { vector[J] m = b * x; vector[N] e = u[g]; }",
		model: "u ~ normal(m, 2); y ~ normal(e, 1);", values: `{"N": 2, "J": 3, "g": [1, 3], "x": [1, 2, 3], "y": [0, 1]}`,
		grown: predict.Grown{Name: "u", Shape: []int{2}, Known: []int{2}}, params: "real b; vector[2] u_;",
		hand: "vector[N] y_mean; y_mean[1] = u_[1]; y_mean[2] = normal_rng(b * 3, 2);"},
	{name: "vectors", head: "data { int N; int J; array[N] int g; vector[N] y; } parameters { vector[2] m; cholesky_factor_corr[2] L; array[J] vector[2] b; }",
		model: "b ~ multi_normal_cholesky(m, L); for (n in 1:N) y[n] ~ normal(sum(b[g[n]]), 1);", values: `{"N": 2, "J": 3, "g": [1, 3], "y": [0, 1]}`,
		grown: predict.Grown{Name: "b", Shape: []int{2, 2}, Known: []int{2, -1}}, params: "vector[2] m; cholesky_factor_corr[2] L; array[2] vector[2] b_;",
		hand: "vector[N] y_mean; y_mean[1] = sum(b_[1]); y_mean[2] = sum(multi_normal_cholesky_rng(m, L));", mean: "vector[N] y_mean = [sum(b_[1]), sum(m)]';"},
	{name: "columns", head: "data { int N; int J; array[N] int g; vector[N] y; } parameters { matrix[2, J] z; }",
		model: "to_vector(z) ~ std_normal(); for (n in 1:N) y[n] ~ normal(sum(z[, g[n]]), 1);", values: `{"N": 2, "J": 3, "g": [1, 3], "y": [0, 1]}`,
		grown: predict.Grown{Name: "z", Shape: []int{2, 2}, Known: []int{-1, 2}}, params: "matrix[2, 2] z_;",
		hand: "vector[N] y_mean; y_mean[1] = sum(z_[, 1]); y_mean[2] = std_normal_rng() + std_normal_rng();"},
	{name: "of brms", head: "data { int N; int J; array[N] int g; vector[N] y; } parameters { vector<lower=0>[1] sd_1; array[1] vector[J] z_1; } transformed parameters { vector[J] r = sd_1[1] * z_1[1]; }",
		model:  "target += std_normal_lpdf(z_1[1]); target += student_t_lpdf(sd_1 | 3, 0, 2); for (n in 1:N) target += normal_lpdf(y[n] | r[g[n]], 1);",
		values: `{"N": 2, "J": 3, "g": [1, 3], "y": [0, 1]}`, grown: predict.Grown{Name: "z_1", Shape: []int{1, 2}, Known: []int{-1, 2}},
		params: "vector<lower=0>[1] sd_1; array[1] vector[2] z_;", hand: "vector[N] y_mean; y_mean[1] = sd_1[1] * z_[1, 1]; y_mean[2] = sd_1[1] * std_normal_rng();"},
	{name: "states", head: "data { int T; vector[T] y; } parameters { real<lower=0> s; vector[T] x; }",
		model: "x[1] ~ normal(0, 1); for (t in 2:T) x[t] ~ normal(0.5 * x[t - 1], s); y ~ normal(x, 1);", values: `{"T": 4, "y": [0, 1, 2, 3]}`,
		grown: predict.Grown{Name: "x", Shape: []int{2}, Known: []int{2}}, params: "real<lower=0> s; vector[2] x_;",
		hand: "vector[T] y_mean; y_mean[1:2] = x_; y_mean[3] = normal_rng(0.5 * x_[2], s); y_mean[4] = normal_rng(0.5 * y_mean[3], s);",
		mean: "vector[T] y_mean; y_mean[1:2] = x_; y_mean[3] = 0.5 * x_[2]; y_mean[4] = 0.25 * x_[2];"},
	{name: "rows", head: "data { int N; vector[N] y; } parameters { real<lower=0> s; vector[N] e; }", model: "e ~ normal(1, s); y ~ normal(e, 1);",
		values: `{"N": 2, "y": [0, 1]}`, grown: predict.Grown{Name: "e", Shape: []int{3}, Known: []int{0}}, params: "real<lower=0> s; vector[3] e_;",
		hand: "vector[N] y_mean; y_mean[1] = normal_rng(1, s); y_mean[2] = normal_rng(1, s);", mean: "vector[N] y_mean = [1, 1]';"},
	{name: "scales", head: "data { int J; vector[J] y; } parameters { vector<lower=0>[J] s; }", model: "s ~ normal(0, 2); y ~ normal(s, 1);",
		values: `{"J": 2, "y": [0, 1]}`, grown: predict.Grown{Name: "s", Shape: []int{1}, Known: []int{1}}, params: "vector<lower=0>[1] s_;",
		mean: "vector[J] y_mean = [s_[1], 2 * sqrt(2 / pi())]';"},
	{name: "no statement", head: "data { int J; vector[J] y; } parameters { vector[J] u; }", model: "y ~ normal(u, 1);", values: `{"J": 2, "y": [0, 1]}`,
		grown: predict.Grown{Name: "u", Shape: []int{1}, Known: []int{1}}, refused: "there is no statement such as u ~ normal(mu, tau)"},
	{name: "joint", head: "data { int J; vector[J] y; matrix[J, J] K; } parameters { vector[J] u; }", model: "u ~ multi_normal(rep_vector(0, J), K); y ~ normal(u, 1);",
		values: `{"J": 2, "y": [0, 1], "K": [[1, 0], [0, 1]]}`, grown: predict.Grown{Name: "u", Shape: []int{1}, Known: []int{1}}, refused: "the elements of u have one joint distribution"},
	{name: "sorted", head: "data { int J; vector[J] y; } parameters { ordered[J] u; }", model: "u ~ std_normal(); y ~ normal(u, 1);", values: `{"J": 2, "y": [0, 1]}`,
		grown: predict.Grown{Name: "u", Shape: []int{1}, Known: []int{1}}, refused: "u is of type ordered"},
	{name: "sum to zero", head: "data { int J; vector[J] y; } parameters { sum_to_zero_vector[J] u; }", model: "u ~ std_normal(); y ~ normal(u, 1);", values: `{"J": 2, "y": [0, 1]}`,
		grown: predict.Grown{Name: "u", Shape: []int{1}, Known: []int{1}}, refused: "u is of type sum_to_zero_vector"},
	{name: "shares", head: "data { int J; vector[J] y; } parameters { simplex[J] u; }", model: "u ~ normal(0, 1); y ~ normal(u, 1);", values: `{"J": 2, "y": [0, 1]}`,
		grown: predict.Grown{Name: "u", Shape: []int{1}, Known: []int{1}}, refused: "u is of type simplex"},
	{name: "two statements", head: "data { int J; vector[J] y; } parameters { real<lower=0> tau; vector[J] u; }", model: "u ~ normal(0, 10);\nfor (j in 1:J) u[j] ~ normal(0, tau); y ~ normal(u, 1);", values: `{"J": 2, "y": [0, 1]}`,
		grown: predict.Grown{Name: "u", Shape: []int{1}, Known: []int{1}}, refused: "each element of u has two statements (lines 1 and 2)"},
	{name: "two columns", head: "data { int J; vector[J] y; } parameters { matrix[J, 2] u; }", model: "u[, 1] ~ normal(1, 2); u[, 2] ~ normal(0, 0.1); y ~ normal(u[, 1] + u[, 2], 1);", values: `{"J": 2, "y": [0, 1]}`,
		grown: predict.Grown{Name: "u", Shape: []int{1, 2}, Known: []int{1, -1}}, params: "matrix[1, 2] u_;",
		hand: "vector[J] y_mean; y_mean[1] = sum(u_[1]); y_mean[2] = normal_rng(1, 2) + normal_rng(0, 0.1);", mean: "vector[J] y_mean = [sum(u_[1]), 1]';"},
	{name: "only known elements", head: "data { int J; vector[J] y; } parameters { vector[J] u; }", model: "u[1] ~ normal(0, 10); y ~ normal(u, 1);", values: `{"J": 2, "y": [0, 1]}`,
		grown: predict.Grown{Name: "u", Shape: []int{1}, Known: []int{1}}, refused: "there is no statement such as u ~ normal(mu, tau)"},
	{name: "circular", head: "data { int J; vector[J] y; } parameters { vector[J] u; } transformed parameters { real m = mean(u); }", model: "u ~ normal(m, 1); y ~ normal(u, 1);",
		values: `{"J": 2, "y": [0, 1]}`, grown: predict.Grown{Name: "u", Shape: []int{1}, Known: []int{1}}, refused: "depends on the new elements themselves"},
	{name: "neighbours", head: "data { int J; vector[J] y; } parameters { vector[J] u; }", model: "target += -0.5 * dot_self(u[1:(J - 1)] - u[2:J]); y ~ normal(u, 1);",
		values: `{"J": 3, "y": [0, 1, 2]}`, grown: predict.Grown{Name: "u", Shape: []int{2}, Known: []int{2}}, refused: "u"},
}

// TestGrown compares the drawn new elements, given the known ones, with a program written by hand.
// If the model has no distribution for them, the reason must be reported.
func TestGrown(t *testing.T) {
	for _, c := range growths {
		p := compiled(t, c.head+" model { "+c.model+" }")
		for how, hand := range map[predict.NewLevels]string{predict.SampleNewLevels: c.hand, predict.MeanNewLevels: c.mean} {
			d, err := predict.Derive(p, predict.Expected, predict.Options{Grown: []predict.Grown{c.grown}, NewLevels: how})
			if c.refused != "" {
				if !errors.Is(err, predict.ErrNoPopulation) || !strings.Contains(err.Error(), c.refused) {
					t.Errorf("%s: %v", c.name, err)
				}
				continue
			}
			if err != nil {
				t.Errorf("%s: %v", c.name, err)
				continue
			}
			if len(d.Known) != 1 || d.Known[c.grown.Name+"_known"] != c.grown.Name {
				t.Errorf("%s: %v", c.name, d.Known)
			}
			if hand == "" {
				continue
			}
			data := c.head[:strings.Index(c.head, "parameters")]
			unset(t, d, compiled(t, data+"parameters { "+c.params+" } generated quantities { "+hand+" }"), c.values)
		}
	}
}
