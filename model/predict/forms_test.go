package predict_test

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/ppl-lang/ppl/compile"
	"github.com/ppl-lang/ppl/compile/data"
	"github.com/ppl-lang/ppl/model/predict"
)

// A form is a model whose generated quantities are also written by hand.
type form struct {
	name   string
	head   string   // the program without model block and generated quantities
	model  string   // block
	logLik string   // generated quantities written by hand; "" if there are none
	yRep   string   // likewise
	left   []string // parts of the expected reasons in Left for the log likelihood
	unrep  []string // the same for replicated data
	given  []string // why replicates depend on what was observed
	values string
}

const head = "data { int N; vector[N] y; array[N] int g; array[N] int k; matrix[N, 2] Y; }\n" +
	"parameters { real mu; real<lower=0> sigma; vector[3] a; real<lower=0, upper=1> p; }\n"

const values = `{"N": 4, "y": [0.5, 1.5, 0.25, 2], "g": [1, 3, 2, 3], "k": [0, 2, 0, 5], "Y": [[1, 2], [3, 4], [5, 6], [7, 9]]}`

var forms = []form{
	{name: "loop", model: "for (n in 1:N) { real m = mu + a[g[n]]; y[n] ~ normal(m, sigma); } a ~ std_normal();",
		logLik: "vector[N] log_lik; for (n in 1:N) log_lik[n] = normal_lpdf(y[n] | mu + a[g[n]], sigma);",
		yRep:   "vector[N] y_rep; for (n in 1:N) y_rep[n] = normal_rng(mu + a[g[n]], sigma);"},
	{name: "indices", model: "y[g[1:2]] ~ normal(a[g[1:2]], sigma); y[2:2] ~ normal(mu, 2 * sigma);",
		logLik: "vector[N] log_lik = rep_vector(0, N); log_lik[1] = normal_lpdf(y[1] | a[1], sigma); log_lik[3] = normal_lpdf(y[3] | a[3], sigma); log_lik[2] = normal_lpdf(y[2] | mu, 2 * sigma);",
		yRep:   "vector[N] y_rep = y; y_rep[1] = normal_rng(a[1], sigma); y_rep[3] = normal_rng(a[3], sigma); y_rep[2] = normal_rng(mu, 2 * sigma);"},
	{name: "segments", model: "segment(y, 2, 2) ~ normal(a[1:2], sigma); head(y, 1) ~ normal(mu, 1); tail(y, 1) ~ normal(mu, 2);",
		logLik: "vector[N] log_lik; log_lik[2] = normal_lpdf(y[2] | a[1], sigma); log_lik[3] = normal_lpdf(y[3] | a[2], sigma); log_lik[1] = normal_lpdf(y[1] | mu, 1); log_lik[4] = normal_lpdf(y[4] | mu, 2);",
		yRep:   "vector[N] y_rep; y_rep[2] = normal_rng(a[1], sigma); y_rep[3] = normal_rng(a[2], sigma); y_rep[1] = normal_rng(mu, 1); y_rep[4] = normal_rng(mu, 2);"},
	{name: "matrices", model: "to_vector(Y) ~ normal(mu, sigma); for (n in 1:N) y[n] ~ normal(0, sigma);",
		logLik: "vector[N] log_lik_y; array[N, 2] real log_lik_Y; for (j in 1:2) for (n in 1:N) log_lik_Y[n, j] = normal_lpdf(Y[n, j] | mu, sigma); for (n in 1:N) log_lik_y[n] = normal_lpdf(y[n] | 0, sigma);",
		yRep:   "vector[N] y_rep; matrix[N, 2] Y_rep; for (j in 1:2) for (n in 1:N) Y_rep[n, j] = normal_rng(mu, sigma); for (n in 1:N) y_rep[n] = normal_rng(0, sigma);"},
	{name: "columns", model: "Y[, 1] ~ normal(mu, sigma); col(Y, 2) ~ normal(mu, 2 * sigma); row(Y, 1) ~ normal(a[1], 1);",
		logLik: "array[N, 2] real log_lik; for (j in 1:2) for (n in 1:N) log_lik[n, j] = normal_lpdf(Y[n, j] | mu, j * sigma); for (j in 1:2) log_lik[1, j] += normal_lpdf(Y[1, j] | a[1], 1);",
		yRep:   "matrix[N, 2] Y_rep; for (j in 1:2) for (n in 1:N) Y_rep[n, j] = normal_rng(mu, j * sigma); for (j in 1:2) Y_rep[1, j] = normal_rng(a[1], 1);"},
	{name: "two rows", model: "for (n in 1:N) Y[n] ~ multi_normal(a[1:2], diag_matrix([sigma, 1]'));",
		logLik: "vector[N] log_lik; for (n in 1:N) log_lik[n] = multi_normal_lpdf(Y[n] | a[1:2], diag_matrix([sigma, 1]'));",
		yRep:   "matrix[N, 2] Y_rep; for (n in 1:N) Y_rep[n] = multi_normal_rng(a[1:2], diag_matrix([sigma, 1]'))';"},
	{name: "whole", model: "y ~ multi_normal(rep_vector(mu, N), diag_matrix(rep_vector(sigma, N)));",
		logLik: "real log_lik = multi_normal_lpdf(y | rep_vector(mu, N), diag_matrix(rep_vector(sigma, N)));",
		yRep:   "vector[N] y_rep = multi_normal_rng(rep_vector(mu, N), diag_matrix(rep_vector(sigma, N)));"},
	{name: "functions of data", model: "log(y) ~ normal(mu, sigma);",
		logLik: "vector[N] log_lik; for (n in 1:N) log_lik[n] = normal_lpdf(log(y[n]) | mu, sigma);",
		yRep:   "vector[N] y_rep; for (n in 1:N) y_rep[n] = exp(normal_rng(mu, sigma));"},
	{name: "conditions", model: "for (n in 1:N) { if (g[n] == 3) y[n] ~ normal(mu, sigma); else { y[n] ~ normal(0, sigma); } }",
		logLik: "vector[N] log_lik; for (n in 1:N) log_lik[n] = normal_lpdf(y[n] | g[n] == 3 ? mu : 0, sigma);",
		yRep:   "vector[N] y_rep; for (n in 1:N) if (g[n] == 3) y_rep[n] = normal_rng(mu, sigma); else y_rep[n] = normal_rng(0, sigma);"},
	{name: "target", model: "target += normal_lupdf(y | mu, sigma) + normal_lpdf(a | 0, 1) - 1; target += poisson_lpmf(k | sigma);",
		logLik: "vector[N] log_lik_y; vector[N] log_lik_k; for (n in 1:N) log_lik_y[n] = normal_lpdf(y[n] | mu, sigma); for (n in 1:N) log_lik_k[n] = poisson_lpmf(k[n] | sigma);",
		yRep:   "array[N] int k_rep; for (n in 1:N) k_rep[n] = poisson_rng(sigma);", unrep: []string{"not a density alone"}},
	{name: "mixture", model: `for (n in 1:N) { vector[2] lp; lp[1] = log(p) + normal_lpdf(y[n] | 0, sigma); lp[2] = log1m(p);
	  lp[2] += normal_lpdf(y[n] | mu, 1); target += log_sum_exp(lp); }
	  for (n in 1:N) target += log_mix(p, poisson_lpmf(k[n] | 1), poisson_lpmf(k[n] | sigma));`,
		logLik: `vector[N] log_lik_y; vector[N] log_lik_k; for (n in 1:N) { log_lik_y[n] = log_mix(p, normal_lpdf(y[n] | 0, sigma), normal_lpdf(y[n] | mu, 1));
		  log_lik_k[n] = log_mix(p, poisson_lpmf(k[n] | 1), poisson_lpmf(k[n] | sigma)); }`,
		yRep: `vector[N] y_rep; array[N] int k_rep; for (n in 1:N) { if (bernoulli_rng(p)) y_rep[n] = normal_rng(0, sigma); else y_rep[n] = normal_rng(mu, 1); }
		  for (n in 1:N) { if (bernoulli_rng(p)) k_rep[n] = poisson_rng(1); else k_rep[n] = poisson_rng(sigma); }`},
	{name: "mixture of sums", model: "for (n in 1:N) target += log_sum_exp(log(p) + normal_lpdf(y[n] | 0, sigma), log1m(p) + normal_lpdf(y[n] | mu, 1));",
		logLik: "vector[N] log_lik; for (n in 1:N) log_lik[n] = log_mix(p, normal_lpdf(y[n] | 0, sigma), normal_lpdf(y[n] | mu, 1));",
		yRep:   "vector[N] y_rep; for (n in 1:N) { if (bernoulli_rng(p)) y_rep[n] = normal_rng(0, sigma); else y_rep[n] = normal_rng(mu, 1); }"},
	{name: "mixture of three", model: "for (n in 1:N) target += log_mix(p, normal_lpdf(y[n] | 0, sigma), log_mix(0.25, normal_lpdf(y[n] | mu, 1), normal_lpdf(y[n] | 5, 1)));",
		logLik: "vector[N] log_lik; for (n in 1:N) log_lik[n] = log_mix(p, normal_lpdf(y[n] | 0, sigma), log_mix(0.25, normal_lpdf(y[n] | mu, 1), normal_lpdf(y[n] | 5, 1)));",
		yRep: `vector[N] y_rep; for (n in 1:N) { int c = categorical_rng([p, (1 - p) * 0.25, (1 - p) * (1 - 0.25)]'); if (c == 1) y_rep[n] = normal_rng(0, sigma);
		  else if (c == 2) y_rep[n] = normal_rng(mu, 1); else y_rep[n] = normal_rng(5, 1); }`},
	{name: "mixture in a loop", head: "data { int N; int K; vector[N] y; } parameters { simplex[K] w; vector[K] b; }", values: `{"N": 3, "K": 4, "y": [0.5, 1.5, 2]}`,
		model:  `vector[K] log_w = log(w); for (n in 1:N) { vector[K] lp = log_w; for (k in 1:K) { lp[k] += normal_lpdf(y[n] | b[k], k); } target += log_sum_exp(lp); }`,
		logLik: "vector[N] log_lik; for (n in 1:N) { vector[K] lp; for (k in 1:K) lp[k] = log(w[k]) + normal_lpdf(y[n] | b[k], k); log_lik[n] = log_sum_exp(lp); }",
		yRep:   "vector[N] y_rep; for (n in 1:N) { int c = categorical_rng(w); y_rep[n] = normal_rng(b[c], c); }"},
	{name: "weights in a loop", head: "data { int N; int K; vector[N] y; } parameters { simplex[K] w; vector[K] b; }", values: `{"N": 3, "K": 1, "y": [0.5, 1.5, 2]}`,
		model:  `for (n in 1:N) { array[K] real lp; for (k in 1:K) lp[k] = log(w[k]) + normal_lpdf(y[n] | b[k], k); target += log_sum_exp(lp); }`,
		logLik: "vector[N] log_lik; for (n in 1:N) { vector[K] lp; for (k in 1:K) lp[k] = log(w[k]) + normal_lpdf(y[n] | b[k], k); log_lik[n] = log_sum_exp(lp); }",
		yRep:   "vector[N] y_rep; for (n in 1:N) { int c = categorical_rng(w); y_rep[n] = normal_rng(b[c], c); }"},
	{name: "half a mixture", model: "for (n in 1:N) target += log_mix(p, normal_lpdf(y[n] | 0, sigma), normal_lpdf(y[n] | mu, 1)) + 1;",
		logLik: "vector[N] log_lik; for (n in 1:N) log_lik[n] = log_mix(p, normal_lpdf(y[n] | 0, sigma), normal_lpdf(y[n] | mu, 1)) + 1;", unrep: []string{"not a density"}},
	{name: "mixtures by row", model: `array[N] vector[2] lp; matrix[N, 2] lq; for (m in 1:N) { for (j in 1:2) lp[m, j] = log(0.5) + normal_lpdf(y[m] | a[j], 1); }
	  for (m in 1:N) for (j in 1:2) lq[m, j] = poisson_lpmf(k[m] | j * sigma);
	  for (n in 1:N) target += log_sum_exp(lp[n]);
	  for (n in 1:N) target += log_sum_exp(lq[n]) - log(2);`,
		logLik: `vector[N] log_lik_y; vector[N] log_lik_k; for (n in 1:N) { log_lik_y[n] = log_mix(0.5, normal_lpdf(y[n] | a[1], 1), normal_lpdf(y[n] | a[2], 1));
		  log_lik_k[n] = log_mix(0.5, poisson_lpmf(k[n] | sigma), poisson_lpmf(k[n] | 2 * sigma)); }`,
		unrep: []string{"not a density"}},
	{name: "mixtures in transformed parameters", head: head + "transformed parameters { array[N] vector[2] lp; for (m in 1:N) for (j in 1:2) lp[m, j] = normal_lpdf(y[m] | a[j], 1); }",
		model: "for (n in 1:N) target += log_sum_exp(lp[n]);", logLik: "vector[N] log_lik; for (n in 1:N) log_lik[n] = log_sum_exp(normal_lpdf(y[n] | a[1], 1), normal_lpdf(y[n] | a[2], 1));",
		unrep: []string{"not a density"}},
	{name: "states of a chain", model: `array[N] vector[2] lp; for (j in 1:2) lp[1, j] = normal_lpdf(y[1] | a[j], 1);
	  for (m in 2:N) for (j in 1:2) lp[m, j] = log_sum_exp(lp[m - 1]) + normal_lpdf(y[m] | a[j], 1);
	  target += log_sum_exp(lp[N]); k ~ poisson(sigma);`,
		logLik: "vector[N] log_lik; for (n in 1:N) log_lik[n] = poisson_lpmf(k[n] | sigma);", left: []string{"several observations"},
		yRep: "array[N] int k_rep = poisson_rng(rep_vector(sigma, N));", unrep: []string{"several observations"}},
	{name: "hurdle", model: "for (n in 1:N) { (k[n] == 0) ~ bernoulli(p); if (k[n] > 0) k[n] ~ poisson(sigma) T[1, ]; }",
		logLik: "vector[N] log_lik; for (n in 1:N) log_lik[n] = k[n] == 0 ? log(p) : log1m(p) + poisson_lpmf(k[n] | sigma) - poisson_lccdf(0 | sigma);",
		unrep:  []string{"not a density"}},
	{name: "hurdle of constants", model: "for (n in 1:N) { if (k[n] == 0) 1 ~ bernoulli(p); else { 0 ~ bernoulli(p); k[n] ~ poisson(sigma) T[1, ]; } }",
		logLik: "vector[N] log_lik; for (n in 1:N) log_lik[n] = k[n] == 0 ? log(p) : log1m(p) + poisson_lpmf(k[n] | sigma) - poisson_lccdf(0 | sigma);",
		unrep:  []string{"not a density", "not a density"}},
	{name: "mixture of all", model: "target += log_mix(p, normal_lpdf(y | 0, 1), normal_lpdf(y | mu, 1)); k ~ poisson(sigma);",
		logLik: "vector[N] log_lik; for (n in 1:N) log_lik[n] = poisson_lpmf(k[n] | sigma);", left: []string{"several observations"},
		yRep: "array[N] int k_rep; for (n in 1:N) k_rep[n] = poisson_rng(sigma);", unrep: []string{"several observations"}},
	{name: "hidden states", model: `array[N] real f; f[1] = normal_lpdf(y[1] | 0, 1); for (n in 2:N) f[n] = f[n - 1] * p + normal_lpdf(y[n] | mu, sigma); target += f[N]; k ~ poisson(sigma);`,
		logLik: "vector[N] log_lik; for (n in 1:N) log_lik[n] = poisson_lpmf(k[n] | sigma);", left: []string{"several observations"},
		yRep: "array[N] int k_rep; for (n in 1:N) k_rep[n] = poisson_rng(sigma);", unrep: []string{"several observations"}},
	{name: "censored", model: `for (n in 1:N) { if (g[n] == 3) target += exponential_lccdf(y[n] | sigma); else target += exponential_lpdf(y[n] | sigma); }`,
		logLik: "vector[N] log_lik; for (n in 1:N) log_lik[n] = g[n] == 3 ? exponential_lccdf(y[n] | sigma) : exponential_lpdf(y[n] | sigma);",
		yRep:   "vector[N] y_rep = y; for (n in 1:N) if (g[n] != 3) y_rep[n] = exponential_rng(sigma);", unrep: []string{"not a density alone"}},
	{name: "censored apart", head: "data { int N; vector[N] y; real U; int M; } parameters { real mu; }", values: `{"N": 2, "y": [1, 2], "U": 3, "M": 4}`,
		model:  "y ~ normal(mu, 1); target += M * normal_lccdf(U | mu, 1);",
		logLik: "vector[N] log_lik; for (n in 1:N) log_lik[n] = normal_lpdf(y[n] | mu, 1);", left: []string{"no variate among the data"},
		yRep: "vector[N] y_rep; for (n in 1:N) y_rep[n] = normal_rng(mu, 1);", unrep: []string{"no variate among the data"}},
	{name: "series", model: "y[1] ~ normal(0, 1); for (n in 2:N) { real m = mu * y[n - 1]; y[n] ~ normal(m, sigma); }",
		logLik: "vector[N] log_lik; log_lik[1] = normal_lpdf(y[1] | 0, 1); for (n in 2:N) log_lik[n] = normal_lpdf(y[n] | mu * y[n - 1], sigma);",
		yRep:   "vector[N] y_rep; y_rep[1] = normal_rng(0, 1); for (n in 2:N) y_rep[n] = normal_rng(mu * y_rep[n - 1], sigma);"},
	{name: "series in one", model: "y[2:N] ~ normal(mu + 0.5 * y[1:(N - 1)], sigma);",
		logLik: "vector[N] log_lik = rep_vector(0, N); for (n in 2:N) log_lik[n] = normal_lpdf(y[n] | mu + 0.5 * y[n - 1], sigma);",
		yRep:   "vector[N] y_rep; y_rep[1] = y[1]; for (n in 2:N) y_rep[n] = normal_rng(mu + 0.5 * y_rep[n - 1], sigma);"},
	{name: "given", model: "vector[N] m; m[1] = mu; for (n in 2:N) m[n] = mu * y[n - 1]; y ~ normal(m, sigma);",
		logLik: "vector[N] log_lik; for (n in 1:N) log_lik[n] = normal_lpdf(y[n] | n == 1 ? mu : mu * y[max(1, n - 1)], sigma);",
		yRep:   "vector[N] y_rep; for (n in 1:N) y_rep[n] = normal_rng(n == 1 ? mu : mu * y[max(1, n - 1)], sigma);", given: []string{"m is computed from y"}},
	{name: "hurdle", model: "for (n in 1:N) { if (k[n] == 0) target += log(p); else { target += log1m(p); k[n] ~ poisson(sigma) T[1, ]; } } y ~ normal(mu, 1);",
		logLik: "vector[N] log_lik_y; vector[N] log_lik_k; for (n in 1:N) { log_lik_y[n] = normal_lpdf(y[n] | mu, 1); log_lik_k[n] = k[n] == 0 ? log(p) : log1m(p) + poisson_lpmf(k[n] | sigma) - poisson_lccdf(0 | sigma); }",
		yRep:   "vector[N] y_rep; for (n in 1:N) y_rep[n] = normal_rng(mu, 1);", unrep: []string{"not a density", "not a density", "value of k itself"}},
	{name: "zeros", model: `for (n in 1:N) { if (k[n] == 0) target += log_sum_exp(bernoulli_lpmf(1 | p), bernoulli_lpmf(0 | p) + poisson_lpmf(k[n] | sigma));
	    else target += bernoulli_lpmf(0 | p) + poisson_lpmf(k[n] | sigma); }`,
		logLik: "vector[N] log_lik; for (n in 1:N) log_lik[n] = k[n] == 0 ? log_mix(p, 0, poisson_lpmf(0 | sigma)) : log1m(p) + poisson_lpmf(k[n] | sigma);",
		unrep:  []string{"not a density", "not a density alone", "not a density"}},
	{name: "own density", head: "functions { real tri_lpdf(real x, real c) { return -abs(x - c) * c; } real tri_rng(real c) { return c + uniform_rng(0, 1); } real all_lpdf(vector x, real c) { return -sum(x) * c; } }" + head,
		model:  "for (n in 1:N) y[n] ~ tri(mu); Y[, 1] ~ all(mu);",
		logLik: "vector[N] log_lik; for (n in 1:N) log_lik[n] = tri_lpdf(y[n] | mu);", left: []string{"told apart"},
		yRep: "vector[N] y_rep; for (n in 1:N) y_rep[n] = tri_rng(mu);", unrep: []string{"told apart"}},
	{name: "trials", head: "data { int N; int K; array[N, K] int y; } parameters { simplex[K] theta; vector<lower=0>[K] alpha; }", values: `{"N": 2, "K": 3, "y": [[1, 2, 3], [0, 4, 0]]}`,
		model:  "for (n in 1:N) y[n] ~ multinomial(theta);",
		logLik: "vector[N] log_lik; for (n in 1:N) log_lik[n] = multinomial_lpmf(y[n] | theta);",
		yRep:   "array[N, K] int y_rep; for (n in 1:N) y_rep[n] = multinomial_rng(theta, sum(y[n]));"},
	{name: "trials, drawn", head: "data { int N; int K; array[N, K] int y; } parameters { simplex[K] theta; vector<lower=0>[K] alpha; }", values: `{"N": 2, "K": 3, "y": [[1, 2, 3], [0, 4, 0]]}`,
		model:  "for (n in 1:N) y[n] ~ dirichlet_multinomial(alpha);",
		logLik: "vector[N] log_lik; for (n in 1:N) log_lik[n] = dirichlet_multinomial_lpmf(y[n] | alpha);",
		yRep:   "array[N, K] int y_rep; for (n in 1:N) y_rep[n] = dirichlet_multinomial_rng(alpha, sum(y[n]));"},
	{name: "matrix variates", head: "data { cov_matrix[2] W; corr_matrix[2] C; matrix[3, 2] G; } parameters { cov_matrix[2] S; real<lower=0> eta; vector<lower=0>[3] w; }",
		values: `{"W": [[2, 0.5], [0.5, 1]], "C": [[1, 0.5], [0.5, 1]], "G": [[1, 2], [3, 4], [5, 6]]}`,
		model:  "W ~ wishart(5, S); C ~ lkj_corr(eta); G ~ multi_gp(S, w);",
		logLik: "real log_lik_W = wishart_lpdf(W | 5, S); real log_lik_C = lkj_corr_lpdf(C | eta); real log_lik_G = multi_gp_lpdf(G | S, w);",
		yRep:   "matrix[2, 2] W_rep = wishart_rng(5, S); matrix[2, 2] C_rep = lkj_corr_rng(2, eta); matrix[3, 2] G_rep; for (i in 1:3) G_rep[i] = multi_normal_rng(rep_vector(0, 2), S / w[i])';"},
	{name: "standardised", head: "data { int N; vector[N] y; } transformed data { vector[N] z = (y - mean(y)) / sd(y); } parameters { real mu; }", values: `{"N": 3, "y": [1, 2, 4]}`,
		model: "z ~ normal(mu, 1);", logLik: "vector[N] log_lik; for (n in 1:N) log_lik[n] = normal_lpdf(z[n] | mu, 1);", yRep: "vector[N] z_rep; for (n in 1:N) z_rep[n] = normal_rng(mu, 1);"},
	{name: "names that are taken", head: "data { int i; vector[i] y; real log_lik; } parameters { real y_rep; }", values: `{"i": 2, "y": [1, 2], "log_lik": 1}`,
		model: "y ~ normal(y_rep, log_lik);", logLik: "vector[i] log_lik_; for (n in 1:i) log_lik_[n] = normal_lpdf(y[n] | y_rep, log_lik);", yRep: "vector[i] y_rep_; for (n in 1:i) y_rep_[n] = normal_rng(y_rep, log_lik);"},
	{name: "constants", model: "1 ~ bernoulli(p); y ~ normal(mu, 1);",
		logLik: "vector[N] log_lik; for (n in 1:N) log_lik[n] = normal_lpdf(y[n] | mu, 1);", yRep: "vector[N] y_rep; for (n in 1:N) y_rep[n] = normal_rng(mu, 1);",
		left: []string{"constant"}, unrep: []string{"constant"}},
	{name: "residuals", model: "y - mu ~ normal(0, sigma); k ~ poisson(sigma);",
		logLik: "vector[N] log_lik; for (n in 1:N) log_lik[n] = poisson_lpmf(k[n] | sigma);", yRep: "array[N] int k_rep; for (n in 1:N) k_rep[n] = poisson_rng(sigma);",
		left: []string{"mixes data and parameters"}, unrep: []string{"mixes data and parameters"}},
	{name: "sparse precision", model: "y ~ multi_normal_prec(m, 2 * Q);",
		head:   "data { int M; int N; sparse_matrix[N, N] Q; array[M] vector[N] y; } parameters { vector[N] m; }\n",
		values: `{"M": 2, "N": 2, "Q": [[2, -1], [-1, 3]], "y": [[1, 2], [3, 5]]}`,
		logLik: "vector[M] log_lik; for (n in 1:M) log_lik[n] = multi_normal_lpdf(y[n] | m, inverse_spd(2 * to_matrix(Q)));",
		yRep:   "array[M] vector[N] y_rep; for (n in 1:M) y_rep[n] = multi_normal_rng(m, inverse_spd(2 * to_matrix(Q)));"},
}

func TestForms(t *testing.T) {
	for _, f := range forms {
		t.Run(f.name, func(t *testing.T) {
			h, v := f.head, f.values
			if h == "" {
				h = head
			}
			if v == "" {
				v = values
			}
			p := compiled(t, h+"model {\n"+f.model+"\n}")
			for _, c := range []struct {
				kind predict.Kind
				text string
				left []string
			}{{predict.LogLikelihood, f.logLik, f.left}, {predict.Replicated, f.yRep, f.unrep}} {
				d, err := predict.Derive(p, c.kind, predict.Options{})
				if err != nil {
					if c.text != "" || len(c.left) == 0 || !strings.Contains(err.Error(), c.left[0]) {
						t.Error(err)
					}
					continue
				}
				if len(d.Left) != len(c.left) {
					t.Errorf("left: %v, not %v", d.Left, c.left)
				}
				for i, l := range d.Left {
					if i < len(c.left) && !strings.Contains(l.Reason, c.left[i]) {
						t.Errorf("left: %v, not %v", l, c.left[i])
					}
				}
				var given []string
				for _, o := range d.Outputs {
					given = append(given, o.Observed...)
				}
				if len(given) != len(f.given) && c.kind == predict.Replicated || len(given) > 0 && !strings.Contains(given[0], f.given[0]) {
					t.Errorf("given %v, not %v", given, f.given)
				}
				if c.text != "" {
					unset(t, d, compiled(t, h+"generated quantities {\n"+c.text+"\n}"), v)
				}
			}
		})
	}
}

// unset is same, but does not compare elements that the program written by hand does not assign.
func unset(t *testing.T, d *predict.Derived, byHand *compile.Program, values string) {
	t.Helper()
	names, got := generated(t, d.Program, values)
	wantNames, want := generated(t, byHand, values)
	if fmt.Sprint(names) != fmt.Sprint(wantNames) {
		t.Fatalf("%v, not %v\n%s", names, wantNames, d.Text)
	}
	compared := 0
	for i := range got {
		if math.IsNaN(want[i]) || want[i] < -2e9 {
			continue
		}
		compared++
		if !(math.Abs(got[i]-want[i]) <= 1e-12*(1+math.Abs(want[i])) || got[i] == want[i]) {
			t.Errorf("%s is %v, not %v\n%s", names[i], got[i], want[i], d.Text)
			return
		}
	}
	if compared == 0 {
		t.Errorf("nothing was compared")
	}
}

// TestPriorPrograms compares the log density of the derived prior, the model without its statements
// about data, with that of a program written by hand.
func TestPriorPrograms(t *testing.T) {
	for _, c := range []struct{ name, model, prior, refused string }{
		{"plain", "mu ~ normal(0, 1); a ~ normal(mu, y[1]); for (n in 1:N) { real m = mu; y[n] ~ normal(m, sigma); } sigma ~ exponential(1) T[0.1, ];",
			"mu ~ normal(0, 1); a ~ normal(mu, y[1]); sigma ~ exponential(1) T[0.1, ];", ""},
		{"target", "target += normal_lpdf(a | 0, 1) + normal_lpdf(y | mu, sigma) - log(sigma); target += student_t_lpdf(sigma | 3, 0, 2) - student_t_lccdf(0 | 3, 0, 2);",
			"target += normal_lpdf(a | 0, 1) - log(sigma); target += student_t_lpdf(sigma | 3, 0, 2) - student_t_lccdf(0 | 3, 0, 2);", ""},
		{"scaled", "vector[2] b = a[1:2] .* Y[1]'; b ~ normal(0, 1); y ~ normal(mu, sigma);", "a[1:2] .* Y[1]' ~ normal(0, 1);", ""},
		{"residuals", "vector[N] e = y - mu; e ~ normal(0, sigma); a ~ std_normal(); k ~ poisson(sigma);", "a ~ std_normal();", ""},
		{"residuals alone", "vector[N] e = y - mu; e ~ normal(0, sigma); a ~ std_normal();", "a ~ std_normal();", ""},
		{"conditions", "for (n in 1:N) { if (k[n] > 0) { target += bernoulli_lpmf(1 | p) + poisson_lpmf(k[n] | sigma); } else { target += log1m(p); } } a ~ std_normal();", "a ~ std_normal();", ""},
		{"parts of rows", "for (n in 1:N) target += normal_lpdf(y[n] | mu, 1) - log(sigma); for (i in 1:3) target += normal_lpdf(a[i] | 0, 1) - log(sigma);",
			"for (i in 1:3) target += normal_lpdf(a[i] | 0, 1) - log(sigma);", ""},
		{"in a loop over others", "for (i in 1:3) target += normal_lpdf(y[1] | a[i], 1) - log(sigma); mu ~ std_normal();",
			"for (i in 1:3) target += -log(sigma); mu ~ std_normal();", ""},
		{"neighbours", "target += -0.5 * dot_self(a[g[1:2]] - a[g[3:4]]); y ~ normal(mu, 1);", "", "it cannot be told whether `target += -0.5 * dot_self(a[g[1:2]] - a[g[3:4]]);`"},
		{"nothing else", "target += log(a[g[1]]);", "", "it cannot be told"},
	} {
		p := compiled(t, head+"model {\n"+c.model+"\n}")
		d, err := predict.Derive(p, predict.Prior, predict.Options{})
		if c.refused != "" {
			if err == nil || !strings.Contains(err.Error(), c.refused) {
				t.Errorf("%s: %v", c.name, err)
			}
			continue
		}
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		got, want := logDensity(t, d.Program), logDensity(t, compiled(t, head+"model {\n"+c.prior+"\n}"))
		if math.Abs(got-want) > 1e-12*(1+math.Abs(want)) {
			t.Errorf("%s: %v, not %v\n%s", c.name, got, want, d.Text)
		}
	}
}

func logDensity(t *testing.T, p *compile.Program) float64 {
	t.Helper()
	set, err := data.ParseJSON("data", []byte(values))
	if err != nil {
		t.Fatal(err)
	}
	m, err := p.Bind(set, compile.BindOptions{NoPropto: true})
	if err != nil {
		t.Fatal(err)
	}
	x := make([]float64, m.Dim())
	for i := range x {
		x[i] = 0.3 * float64(i)
	}
	lp, err := m.LogDensityGrad(x, make([]float64, len(x)))
	if err != nil {
		t.Fatal(err)
	}
	return lp
}

// TestBarePriors checks that priors keep the transformed parameters and local variables that their
// statements need, and no others, for the same density. Here solve plays the part of a solver.
func TestBarePriors(t *testing.T) {
	const functions = "functions { real solve(real x) { return square(x); } void note(real x) { if (x > 1e9) reject(x); } real add_lp(real x) { target += -x; return x; } }\n"
	const whole = "real m = mu + 1; vector[3] b; vector[3] c; for (i in 1:3) { real u = a[i] * m; b[i] = solve(a[i]); if (i > 1) { c[i] = u; } else { c[i] = -u; } } "
	for _, c := range []struct {
		transformed, model string
		solves, block      bool
	}{
		{whole, "for (i in 1:3) a[i] ~ normal(mu, 1); y ~ normal(b[1], sigma);", false, false},
		{whole, "for (i in 1:3) { a[i] ~ normal(mu, 1); y[i] ~ normal(b[i], sigma); }", false, false},
		{whole, "for (i in 1:3) b[i] ~ normal(mu, 1);", true, true},
		{whole, "c ~ normal(0, 1); y ~ normal(b[1], sigma);", false, true},
		{whole, "{ vector[3] d = 2 * c; d ~ normal(0, 1); vector[3] u = b; y ~ normal(u[1], sigma); }", false, true},
		{whole, "{ vector[3] d; for (i in 1:3) { d[i] = solve(a[i]); y[i] ~ normal(d[i], sigma); } } m ~ normal(0, 1);", false, true},
		{whole, "real z = add_lp(sigma); real w = solve(mu); y ~ normal(b[1] + w, sigma);", false, false},
		{whole, "note(b[1]); y ~ normal(b[1], sigma);", true, true},
		{"real q = mu; real h = 0; while (q < 3) { q += 1; h += solve(mu); if (q > 2) break; }", "q ~ normal(mu, 1); y ~ normal(h, sigma);", true, true},
		{"real q = 0; real h = 0; for (i in 1:3) { if (a[i] > 0) continue; q += a[i]; } for (i in 1:3) { h += solve(mu); }", "q ~ normal(mu, 1); y ~ normal(h, sigma);", false, true},
		{"", "a ~ normal(mu, 1); y ~ normal(a, sigma);", false, false},
	} {
		m := compiled(t, functions+head+"transformed parameters { "+c.transformed+"}\nmodel {\n"+c.model+"\n}")
		d, err := predict.Derive(m, predict.Prior, predict.Options{Bare: true})
		if err != nil {
			t.Fatal(err)
		}
		_, program, _ := strings.Cut(d.Text, "parameters {")
		solves, block := strings.Contains(program, "solve("), strings.Contains(program, "transformed parameters")
		if solves != c.solves || block != c.block {
			t.Errorf("%s: it solves: %v, it has transformed parameters: %v\n%s", c.model, solves, block, d.Text)
		}
		all, err := predict.Derive(m, predict.Prior, predict.Options{})
		if err != nil {
			t.Fatal(err)
		}
		if got, want := logDensity(t, d.Program), logDensity(t, all.Program); math.Abs(got-want) > 1e-12*(1+math.Abs(want)) {
			t.Errorf("%s: %v, not %v\n%s", c.model, got, want, d.Text)
		}
	}
}
