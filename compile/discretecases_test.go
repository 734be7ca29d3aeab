package compile_test

import (
	"encoding/json"
	"errors"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/ppl-lang/ppl/compile"
	"github.com/ppl-lang/ppl/compile/data"
	"github.com/ppl-lang/ppl/internal/short"
	"github.com/ppl-lang/ppl/lang/source"
)

// between returns the same bounds for discrete parameters.
func between(lo, hi int64, names ...string) map[string][2]int64 {
	out := map[string][2]int64{}
	for _, n := range names {
		out[n] = [2]int64{lo, hi}
	}
	return out
}

var discreteCases = []discreteCase{
	{name: "mixture", bounds: between(1, 3, "z"), data: `{"N":3,"K":3,"y":[0.3,-1,2.5]}`, text: `
data { int N; int K; vector[N] y; }
parameters { simplex[K] w; vector[K] mu; real<lower=0> s; array[N] int<lower=1, upper=K> z; }
model { mu ~ normal(0, 3); z ~ categorical(w); for (n in 1:N) y[n] ~ normal(mu[z[n]], s); }`},
	{name: "spins of which 0 is impossible", bounds: between(-1, 1, "s"), data: `{"R":2,"C":3,"y":[[1,0.5,-1],[0,2,1]]}`, text: `
data { int R; int C; matrix[R, C] y; }
parameters { real b; real mu; array[R, C] int<lower=-1, upper=1> s; }
model {
  for (i in 1:R) for (j in 1:C) {
    if (s[i, j] == 0) target += negative_infinity();
    if (i < R) target += b * s[i, j] * s[i + 1, j];
    if (j < C) target += b * s[i, j] * s[i, j + 1];
    y[i, j] ~ normal(mu * s[i, j], 1);
  }
}`},
	{name: "truncated integers", bounds: map[string][2]int64{"z": {1, 2}, "k": {0, 5}}, data: `{"N":2,"y":[1,4]}`, text: `
data { int N; array[N] int y; }
parameters { real<lower=0> l; vector<lower=0>[2] m; array[N] int<lower=1, upper=2> z; array[2] int<lower=0, upper=5> k; }
model { k ~ poisson(l) T[1, 4]; k[2] ~ poisson(m[1]) T[, 3]; for (n in 1:N) { z[n] ~ binomial(2, 0.4); y[n] ~ poisson(m[z[n]]) T[1, ]; } }`},
	{name: "flows of an epidemic", bounds: between(0, 3, "first", "new", "gone"), data: `{"T":2,"y":[1,0]}`, text: `
data { int T; array[T] int y; }
parameters { real<lower=0> b; real<lower=0, upper=1> g; int<lower=0, upper=3> first; array[T] int<lower=0, upper=3> new; array[T] int<lower=0, upper=3> gone; }
model {
  array[T + 1] int S;
  array[T + 1] int I;
  S[1] = 3 - first;
  I[1] = first;
  for (t in 1:T) { S[t + 1] = S[t] - new[t]; I[t + 1] = I[t] + new[t] - gone[t]; }
  first ~ binomial(3, 0.3);
  for (t in 1:T) {
    int left = I[t];
    new[t] ~ binomial(S[t], 1 - exp(-b * left / 3));
    gone[t] ~ binomial(I[t], g);
    y[t] ~ binomial(new[t], 0.6);
  }
}`},
	{name: "vectorised mixture", bounds: between(1, 2, "z"), data: `{"N":3,"K":2,"y":[0.3,-1,2.5],"x":[1,2,3]}`, text: `
data { int N; int K; vector[N] y; vector[N] x; }
parameters { simplex[K] w; vector[K] mu; vector<lower=0>[K] s; real b; array[N] int<lower=1, upper=K> z; }
model { target += categorical_lpmf(z | w); y ~ normal(mu[z] + b * x, s[z]); }`},
	{name: "hmm", bounds: between(1, 2, "z"), data: `{"T":5,"K":2,"y":[0.3,-1,2.5,1,0]}`, text: `
data { int T; int K; vector[T] y; }
parameters { array[K] simplex[K] G; vector[K] mu; simplex[K] start; array[T] int<lower=1, upper=K> z; }
model { z[1] ~ categorical(start); for (t in 2:T) z[t] ~ categorical(G[z[t-1]]); y ~ normal(mu[z], 1); }`},
	{name: "hmm of one", bounds: between(1, 2, "z"), data: `{"T":1,"K":2,"y":[0.3]}`, text: `
data { int T; int K; vector[T] y; }
parameters { array[K] simplex[K] G; vector[K] mu; simplex[K] start; array[T] int<lower=1, upper=K> z; }
model { z[1] ~ categorical(start); for (t in 2:T) z[t] ~ categorical(G[z[t-1]]); y ~ normal(mu[z], 1); }`},
	{name: "hmm of two", bounds: between(1, 2, "z"), data: `{"T":2,"K":2,"y":[0.3,1]}`, text: `
data { int T; int K; vector[T] y; }
parameters { array[K] simplex[K] G; vector[K] mu; simplex[K] start; array[T] int<lower=1, upper=K> z; }
model { z[1] ~ categorical(start); for (t in 2:T) z[t] ~ categorical(G[z[t-1]]); y ~ normal(mu[z], 1); }`},
	{name: "no elements", bounds: between(1, 2, "z"), data: `{"T":0,"K":2,"y":[]}`, text: `
data { int T; int K; vector[T] y; }
parameters { array[K] simplex[K] G; vector[K] mu; array[T] int<lower=1, upper=K> z; }
model { for (t in 2:T) z[t] ~ categorical(G[z[t-1]]); y ~ normal(mu[z], 1); mu ~ normal(0, 1); }`},
	{name: "no elements as one argument", bounds: between(1, 2, "z", "u"), data: `{"T":0,"K":2}`, text: `
data { int T; int K; }
parameters { vector[K] mu; array[T] int<lower=1, upper=K> z; array[2, T] int<lower=1, upper=K> u; }
model { sum(mu) ~ normal(sum(mu[z]) + num_elements(u), 1); mu ~ normal(0, 1); }`},
	{name: "counts below zero", bounds: between(-1, 3, "d"), data: `{"N":2,"k":[1,0]}`, text: `
data { int N; array[N] int k; }
parameters { real<lower=0> l; real<lower=0, upper=1> p; array[N] int<lower=-1, upper=3> d; }
model {
  for (n in 1:N) {
    d[n] ~ poisson(l);
    k[n] + d[n] - 1 ~ neg_binomial_2(l, 2);
    d[n] - 1 ~ binomial(2, p);
    target += poisson_log_lpmf(2 - d[n] | l);
    k[n] ~ binomial(d[n], p);
  }
}`},
	{name: "no event or one", bounds: between(0, 3, "d"), data: `{"N":2,"k":[1,0]}`, text: `
data { int N; array[N] int k; }
parameters { real<lower=0, upper=1> p; array[N] int<lower=0, upper=3> d; }
model { for (n in 1:N) { d[n] - 1 ~ bernoulli(p); d[n] - k[n] ~ bernoulli_logit(p); } }`},
	{name: "discrete parameters as indices", bounds: map[string][2]int64{"z": {1, 3}, "w": {0, 1}}, data: `{"N":3,"y":[0.3,-1,2.5]}`, text: `
data { int N; vector[N] y; }
parameters { vector[3] mu; real b; real<lower=0, upper=1> p; array[N] int<lower=1, upper=3> z; array[4] int<lower=0, upper=1> w; }
model { w ~ bernoulli(p); for (n in 1:N) y[n] ~ normal(mu[z[n]] + b * w[z[n]] - w[z[n] + 1], 1); }`},
	{name: "a container of indices", bounds: map[string][2]int64{"z": {1, 2}, "w": {0, 1}}, data: `{"N":3,"y":[0.3,-1,2.5]}`, text: `
data { int N; vector[N] y; }
parameters { vector[2] mu; array[N] int<lower=1, upper=2> z; array[2] int<lower=0, upper=1> w; }
model { sum(mu) ~ normal(sum(w[z]), 1); y ~ normal(mu[z] .* to_vector(w[z]), 1); }`},
	{name: "functions that add to the target", bounds: between(1, 2, "z"), data: `{"N":3,"y":[0.3,-1,2.5]}`, text: `
functions {
  void one_lp(real y, real m) { real d = y - m; y ~ normal(m, 1); target += -0.1 * d; }
  void all_lp(vector y, vector mu, array[] int z, int k) {
    int n = size(z);
    for (i in 1:n) { real m = mu[z[i]]; one_lp(y[i], m); if (z[i] == k) { real m2 = m; target += m2 * i; } }
  }
}
data { int N; vector[N] y; }
parameters { vector[2] mu; array[N] int<lower=1, upper=2> z; }
model { vector[2] n; n = mu + 1; all_lp(y, n, z, 2); mu ~ normal(0, 1); one_lp(1.5, mu[1]); }`},
	{name: "Jacobian", bounds: between(1, 2, "z"), data: `{"N":3,"y":[0.3,-1,2.5]}`, text: `
functions { real positive_jacobian(real x) { jacobian += x; return exp(x); } }
data { int N; vector[N] y; }
parameters { vector[2] mu; real x; real u; array[N] int<lower=1, upper=2> z; }
transformed parameters { real s = exp(x); jacobian += x; vector[N] m = mu[z]; real t = positive_jacobian(u); }
model { s ~ gamma(2, 1); t ~ gamma(2, 3); y ~ normal(m, s); }`},
	{name: "lag 2", bounds: between(1, 2, "z"), data: `{"T":6,"y":[0.3,-1,2.5,1,0,2]}`, text: `
data { int T; vector[T] y; }
parameters { array[2, 2] simplex[2] G; vector[2] mu; array[T] int<lower=1, upper=2> z; }
model { for (t in 3:T) z[t] ~ categorical(G[z[t-2], z[t-1]]); y ~ normal(mu[z], 1); }`},
	{name: "times in a state", bounds: between(1, 4, "z"), data: `{"T":5,"y":[0.3,-1,2.5,1,0]}`, text: `
data { int T; vector[T] y; }
parameters { array[2] simplex[2] stays; vector[2] mu; array[T] int<lower=1, upper=4> z; }
model {
  for (t in 2:T) {
    int s = (z[t - 1] + 1) %/% 2;
    if (z[t - 1] % 2 == 0) target += log(z[t] == z[t - 1] - 1);
    else if ((z[t] + 1) %/% 2 == s) target += negative_infinity();
    else target += log(stays[3 - s, (z[t] - 1) % 2 + 1]);
  }
  for (t in 1:T) y[t] ~ normal(mu[(z[t] + 1) %/% 2], 1);
}`},
	{name: "states that have no neighbours in common", bounds: between(1, 7, "z"), data: `{"T":4,"y":[0.3,-1,2.5,1]}`, text: `
data { int T; vector[T] y; }
parameters { vector[7] mu; array[T] int<lower=1, upper=7> z; }
model {
  for (t in 2:T) {
    if ((z[t] - z[t - 1]) % 3 != 0 || z[t] == 6) target += negative_infinity();
    else target += mu[z[t]] * z[t - 1];
  }
  y ~ normal(mu[z], 1);
}`},
	{name: "covariates in the transitions", bounds: between(0, 1, "z"), data: `{"T":5,"y":[0.3,-1,2.5,1,0],"x":[1,0,2,-1,1]}`, text: `
data { int T; vector[T] y; vector[T] x; }
parameters { vector[2] a; real b; vector[2] mu; array[T] int<lower=0, upper=1> z; }
model {
  z[1] ~ bernoulli(0.3);
  for (t in 2:T) z[t] ~ bernoulli_logit(a[z[t - 1] + 1] + b * x[t]);
  for (t in 1:T) { real m = mu[1] + z[t] * mu[2]; y[t] ~ student_t(4, m, 1.5); }
}`},
	{name: "hmm of groups", bounds: between(1, 2, "z"), data: `{"N":7,"y":[0.3,-1,2.5,1,0,2,1],"g":[1,1,1,2,3,3,3]}`, text: `
data { int N; vector[N] y; array[N] int g; }
parameters { array[2] simplex[2] G; vector[2] mu; array[3] simplex[2] start; array[N] int<lower=1, upper=2> z; }
model {
  for (n in 1:N)
    if (n > 1 && g[n] == g[n - 1]) z[n] ~ categorical(G[z[n - 1]]); else z[n] ~ categorical(start[g[n]]);
  for (n in 1:N) y[n] ~ normal(mu[z[n]], 1);
}`},
	{name: "hmm of columns", bounds: between(1, 2, "z"), data: `{"T":4,"J":2,"y":[[0.3,-1],[1,0],[1,3],[2,0]]}`, text: `
data { int T; int J; array[T] vector[J] y; }
parameters { array[2] simplex[2] G; vector[2] mu; array[T, J] int<lower=1, upper=2> z; }
model {
  for (j in 1:J) for (t in 2:T) z[t, j] ~ categorical(G[z[t - 1, j]]);
  for (t in 1:T) for (j in 1:J) y[t, j] ~ normal(mu[z[t][j]], 1);
}`},
	{name: "crossed hmms", bounds: between(1, 2, "u", "v"), data: `{"T":4,"y":[0.3,-1,2.5,1]}`, text: `
data { int T; vector[T] y; }
parameters { array[2] simplex[2] G; array[2] simplex[2] H; vector[2] a; vector[2] b; array[T] int<lower=1, upper=2> u; array[T] int<lower=1, upper=2> v; }
model {
  for (t in 2:T) { u[t] ~ categorical(G[u[t-1]]); v[t] ~ categorical(H[v[t-1]]); }
  for (t in 1:T) y[t] ~ normal(a[u[t]] + b[v[t]], 1);
}`},
	{name: "mixtures within an hmm", bounds: between(1, 2, "z", "c"), data: `{"T":4,"y":[0.3,-1,2.5,1]}`, text: `
data { int T; vector[T] y; }
parameters { array[2] simplex[2] G; array[2] simplex[2] W; array[2] vector[2] mu; array[T] int<lower=1, upper=2> z; array[T] int<lower=1, upper=2> c; }
model {
  for (t in 2:T) z[t] ~ categorical(G[z[t-1]]);
  for (t in 1:T) { c[t] ~ categorical(W[z[t]]); y[t] ~ normal(mu[z[t], c[t]], 1); }
}`},
	{name: "hidden tree", bounds: between(1, 2, "z"), data: `{"N":8,"parent":[0,1,1,2,2,3,3,3],"y":[0.3,-1,2.5,1,0,2,1,-2]}`, text: `
data { int N; array[N] int parent; vector[N] y; }
parameters { array[2] simplex[2] G; simplex[2] root; vector[2] mu; array[N] int<lower=1, upper=2> z; }
model {
  z[1] ~ categorical(root);
  for (n in 2:N) z[n] ~ categorical(G[z[parent[n]]]);
  for (n in 1:N) if (n > 3) y[n] ~ normal(mu[z[n]], 1);
}`},
	{name: "n-mixture", bounds: between(0, 4, "N"), data: `{"R":3,"J":2,"y":[[1,2],[0,0],[3,1]],"x":[0.1,-0.5,1]}`, text: `
data { int R; int J; array[R, J] int y; vector[R] x; }
parameters { real a; real b; real<lower=0, upper=1> p; array[R] int<lower=0, upper=4> N; }
model {
  N ~ poisson_log(a + b * x);
  for (r in 1:R) y[r] ~ binomial(N[r], p);
}`},
	{name: "n-mixture with bounds from data", perElement: map[string][][2]int64{"N": {{2, 4}, {0, 3}, {3, 7}}}, data: `{"R":3,"J":2,"y":[[1,2],[0,0],[3,1]],"x":[0.1,-0.5,1],"lo":[2,0,3],"hi":[4,3,7]}`, text: `
data { int R; int J; array[R, J] int y; vector[R] x; array[R] int lo; array[R] int hi; }
parameters { real a; real b; real<lower=0, upper=1> p; array[R] int<lower=lo, upper=hi> N; }
model {
  for (r in 1:R) { N[r] ~ poisson_log(a + b * x[r]); for (j in 1:J) y[r, j] ~ binomial(N[r], p); }
}`},
	{name: "misclassified outcomes", bounds: between(0, 1, "z"), data: `{"N":4,"y":[1,0,1,1],"x":[0.5,1,-1,2]}`, text: `
data { int N; array[N] int<lower=0, upper=1> y; vector[N] x; }
parameters { real a; real b; real<lower=0, upper=1> sens; real<lower=0, upper=1> spec; array[N] int<lower=0, upper=1> z; }
model {
  z ~ bernoulli_logit(a + b * x);
  for (n in 1:N) { if (z[n] == 1) y[n] ~ bernoulli(sens); else y[n] ~ bernoulli(1 - spec); }
}`},
	{name: "missing covariates", bounds: between(0, 1, "xm"), data: `{"N":5,"M":2,"y":[1,0.5,2,-1,0],"x":[1,0,0,0,1],"at":[3,4]}`, text: `
data { int N; int M; vector[N] y; array[N] int x; array[M] int at; }
transformed data { array[N] int which = rep_array(0, N); for (m in 1:M) which[at[m]] = m; }
parameters { real a; real b; real<lower=0, upper=1> p; array[M] int<lower=0, upper=1> xm; }
model {
  xm ~ bernoulli(p);
  for (n in 1:N) {
    int xn = which[n] > 0 ? xm[which[n]] : x[n];
    if (which[n] == 0) x[n] ~ bernoulli(p);
    y[n] ~ normal(a + b * xn, 1);
  }
}`},
	{name: "change point", bounds: between(1, 6, "s"), data: `{"T":6,"y":[1,2,1,5,6,4]}`, text: `
data { int T; array[T] int y; }
parameters { real<lower=0> e; real<lower=0> l; int<lower=1, upper=T> s; }
model {
  e ~ exponential(1); l ~ exponential(1);
  for (t in 1:T) y[t] ~ poisson(t < s ? e : l);
}`},
	{name: "change point by ranges", bounds: between(2, 6, "s"), data: `{"T":6,"y":[1,2,1,5,6,4]}`, text: `
data { int T; array[T] int y; }
parameters { real<lower=0> e; real<lower=0> l; int<lower=2, upper=T> s; }
model {
  for (t in 1:(s - 1)) y[t] ~ poisson(e);
  for (t in s:T) y[t] ~ poisson(l);
}`},
	{name: "change points of groups", bounds: between(1, 4, "s"), data: `{"T":4,"G":3,"y":[[1,2,1],[5,6,4],[0,1,9],[3,3,8]]}`, text: `
data { int T; int G; array[T, G] int y; }
parameters { vector<lower=0>[G] e; real<lower=0> l; array[G] int<lower=1, upper=T> s; }
model { for (g in 1:G) for (t in 1:T) y[t, g] ~ poisson(t < s[g] ? e[g] : l); }`},
	{name: "comparisons with integers", bounds: between(0, 9, "s"), data: `{"T":6,"y":[1,2,1,5,6,4],"at":[1,1,9,0,12,4]}`, text: `
data { int T; array[T] int y; array[T] int at; }
parameters { real<lower=0> e; real<lower=0> l; real m; int<lower=0, upper=9> s; }
model {
  s ~ poisson(l);
  for (t in 1:T) y[t] ~ poisson(t + 1 < s ? e : l);
  for (t in 1:T) y[t] ~ normal(m * (at[t] >= s) + (s == t || 2 * t == s), 1);
  for (t in 1:T) if (!(t < s) && s != 8) y[t] ~ normal(m, 2); else if (y[t] > 1) target += -m;
}`},
	{name: "comparisons with terms that may be -inf", bounds: between(1, 9, "s", "u"), data: `{"T":9,"y":[0.1,0.2,0.9,0.6,1.7,1.9,1.5,1.1,0.3]}`, text: `
data { int T; vector[T] y; }
parameters { real<lower=1> e; real<lower=1> l; real<lower=0, upper=1> p; int<lower=1, upper=T> s; int<lower=1, upper=T> u; }
model {
  for (t in 1:T) y[t] ~ uniform(0, t < s ? e : l + 1);
  for (t in 1:T) if (t > u) { real d = y[t] - e; target += log(d > 0 ? p : 0.5); }
  for (t in 1:T) if (t > u && t < u + 3) target += log1m(p);
}`},
	{name: "two change points", bounds: between(1, 9, "s", "u"), data: `{"T":9,"y":[1,2,1,5,6,4,0,0,1]}`, text: `
data { int T; array[T] int y; }
parameters { vector<lower=0>[3] r; int<lower=1, upper=T> s; int<lower=1, upper=T> u; }
model {
  if (u < s) target += negative_infinity();
  for (t in 1:T) y[t] ~ poisson(t < s ? r[1] : t < u ? r[2] : r[3]);
}`},
	{name: "two change points by ranges", bounds: between(0, 9, "s"), data: `{"T":8,"y":[1,2,1,5,6,4,0,0]}`, text: `
data { int T; array[T] int y; }
parameters { vector<lower=0>[3] r; array[2] int<lower=0, upper=9> s; }
model {
  if (s[2] < s[1]) target += negative_infinity();
  y[1:min(s[1], T)] ~ poisson(r[1]);
  for (t in s[1] + 1:T - (9 - s[2])) if (t <= T) y[t] ~ poisson(r[2]);
  for (t in s[2] + 1:T) y[t] ~ poisson(r[3]);
}`},
	{name: "change points of groups with different bounds", perElement: map[string][][2]int64{"s": {{1, 8}, {2, 9}, {1, 9}}}, data: `{"N":10,"G":3,"g":[1,1,1,3,3,3,3,2,2,1],"t":[1,2,9,1,5,5,8,3,4,7],"y":[0.1,1,2,0.3,3,2,2,-1,0,1],"hi":[8,9,9],"lo":[1,2,1]}`, text: `
data { int N; int G; array[N] int g; array[N] int t; vector[N] y; array[G] int lo; array[G] int hi; }
parameters { vector[G] a; real d; array[G] int<lower=lo, upper=hi> s; }
model { for (n in 1:N) y[n] ~ normal(a[g[n]] + d * (t[n] >= s[g[n]]), 1); }`},
	{name: "change points of groups by columns", bounds: between(1, 8, "s"), data: `{"T":8,"G":2,"y":[[1,2],[5,6],[0,1],[3,3],[2,2],[4,0],[0,0],[1,1]]}`, text: `
data { int T; int G; array[T, G] int y; }
parameters { vector<lower=0>[G] e; real<lower=0> l; array[G] int<lower=1, upper=T> s; }
model { for (g in 1:G) for (t in 1:T) y[t, g] ~ poisson(t < s[g] ? e[g] : l); }`},
	{name: "no rows at a change point", bounds: between(1, 8, "s"), data: `{"T":0,"y":[]}`, text: `
data { int T; array[T] int y; }
parameters { real<lower=0> e; real<lower=0> l; int<lower=1, upper=8> s; }
model { s ~ poisson(l); for (t in 1:T) y[t] ~ poisson(t < s ? e : l); }`},
	{name: "two rows at a change point", bounds: between(1, 8, "s"), data: `{"T":2,"y":[1,4]}`, text: `
data { int T; array[T] int y; }
parameters { real<lower=0> e; real<lower=0> l; int<lower=1, upper=8> s; }
model { for (t in 1:T) y[t] ~ poisson(t < s - 3 ? e : l); }`},
	{name: "values that data rule out", bounds: between(-1, 5, "n"), data: `{"R":4,"y":[[1,3],[0,0],[5,5],[4,0]],"m":[0,2,0,1]}`, text: `
data { int R; array[R, 2] int y; array[R] int m; }
parameters { real<lower=0> l; real<lower=0, upper=1> p; array[R] int<lower=-1, upper=5> n; }
model {
  n ~ poisson(l);
  for (r in 1:R) { y[r] ~ binomial(n[r], p); m[r] ~ poisson((5 - n[r]) * l); if (n[r] == 4) target += log(m[r]); }
}`},
	{name: "data rule all values out but one", bounds: between(0, 1, "z", "u"), data: `{"N":5,"y":[1,0,3,0,0],"x":[1,0,1,1,1]}`, text: `
data { int N; array[N] int y; array[N] int x; }
parameters { real<lower=0> l; real<lower=0, upper=1> p; array[N] int<lower=0, upper=1> z; array[N] int<lower=0, upper=1> u; }
model {
  z ~ bernoulli(p);
  for (n in 1:N) { real r = z[n] * l; y[n] ~ poisson(r); x[n] ~ bernoulli(1 - u[n]); if (u[n] == 1) target += y[n] > 0 ? negative_infinity() : -l; }
}`},
	{name: "four factors of a kind", bounds: between(0, 1, "z"), data: `{"N":3,"J":4,"y":[[1,0,0,1],[0,0,0,0],[0,0,0,0]]}`, text: `
data { int N; int J; array[N, J] int y; }
parameters { real b; real<lower=0, upper=1> p; array[N] int<lower=0, upper=1> z; }
model { for (n in 1:N) { z[n] ~ bernoulli(p); for (j in 1:J) y[n, j] ~ bernoulli(z[n] * inv_logit(b * j)); } }`},
	{name: "five factors of a kind", bounds: between(0, 1, "z"), data: `{"N":3,"J":5,"y":[[1,0,0,1,1],[0,0,0,0,0],[0,0,0,0,0]]}`, text: `
data { int N; int J; array[N, J] int y; }
parameters { real b; real<lower=0, upper=1> p; array[N] int<lower=0, upper=1> z; }
model { for (n in 1:N) { z[n] ~ bernoulli(p); for (j in 1:J) y[n, j] ~ bernoulli(z[n] * inv_logit(b * j)); } }`},
	{name: "rates that comparisons make 0", bounds: between(0, 9, "s", "u"), data: `{"T":6,"y":[1,0,0,5,0,4],"v":[0,0,0,0,0,0]}`, text: `
data { int T; array[T] int y; vector[T] v; }
parameters { real<lower=0> l; real a; real<lower=0, upper=1> p; int<lower=0, upper=9> s; int<lower=0, upper=9> u; }
transformed parameters { real r = exp(a); }
model {
  s ~ poisson(3);
  for (t in 1:T) y[t] ~ poisson(l * (2 * t != s));
  for (t in 1:T) y[t] ~ poisson(t == s + 1 ? 0 : r);
  for (t in 1:T) y[t] ~ poisson_log(log(t != u) + a);
  for (t in 1:T) if (t == u) target += log(p * (u < 5)); else target += t > u ? a : t + 8 < u ? negative_infinity() : -a;
  for (t in 1:T) target += abs(t - u) < 2 ? log(p) : -a;
}`},
	{name: "no value is possible", bounds: between(0, 9, "s"), data: `{"T":3,"y":[1,0,5]}`, text: `
data { int T; array[T] int y; }
parameters { real a; real<lower=0> l; int<lower=0, upper=9> s; }
model { for (t in 1:T) y[t] ~ poisson(l * (t < s)); for (t in 1:T) y[t] ~ poisson(l * (t >= s)); a ~ normal(0, 1); }`},
	{name: "two change points by slices", bounds: between(1, 9, "s", "u"), data: `{"T":9,"y":[1,2,1,5,6,4,0,0,1],"x":[[1,0,2,1,1,0,3,2,1],[0,1,0,0,2,1,1,0,1]]}`, text: `
data { int T; array[T] int y; array[2] vector[T] x; }
parameters { vector<lower=0>[3] r; real b; int<lower=1, upper=T> s; int<lower=1, upper=T> u; }
model {
  if (u < s) target += negative_infinity();
  y[1:s - 1] ~ poisson(r[1]);
  if (u >= s) y[s:u - 1] ~ poisson_log(r[2] + b * x[2, s:u - 1]);
  if (u >= s) x[1, s:u - 1] ~ normal(x[2, s:u - 1], r[2]);
  y[u:] ~ poisson(r[3]);
  x[1, :s] ~ normal(b, 1);
}`},
	{name: "dawid-skene", bounds: between(1, 3, "z"), data: `{"I":4,"J":3,"K":3,"N":7,"ii":[1,1,1,2,2,4,4],"jj":[1,2,3,1,3,2,2],"y":[1,1,2,3,3,1,2]}`, text: `
data { int I; int J; int K; int N; array[N] int ii; array[N] int jj; array[N] int y; }
parameters { simplex[K] p; array[J, K] simplex[K] th; array[I] int<lower=1, upper=K> z; }
model { z ~ categorical(p); for (n in 1:N) y[n] ~ categorical(th[jj[n], z[ii[n]]]); }`},
	{name: "noisy-or", bounds: between(0, 1, "d"), data: `{"F":3,"D":4,"y":[1,0,1]}`, text: `
data { int F; int D; array[F] int y; }
parameters { vector<lower=0, upper=1>[D] prior; matrix<lower=0, upper=1>[F, D] q; real<lower=0, upper=1> leak; array[D] int<lower=0, upper=1> d; }
model {
  d ~ bernoulli(prior);
  for (f in 1:F) {
    real off = 1 - leak;
    for (k in 1:D) if (d[k] == 1) off *= q[f, k];
    y[f] ~ bernoulli(1 - off);
  }
}`},
	{name: "occupancy", bounds: between(0, 1, "z"), data: `{"R":4,"J":3,"y":[[1,0,1],[0,0,0],[0,0,0],[0,1,0]],"x":[0.5,1,-1,2]}`, text: `
data { int R; int J; array[R, J] int y; vector[R] x; }
parameters { real a; real b; real<lower=0, upper=1> p; array[R] int<lower=0, upper=1> z; }
model {
  for (r in 1:R) z[r] ~ bernoulli_logit(a + b * x[r]);
  for (r in 1:R) for (j in 1:J) y[r, j] ~ bernoulli(z[r] * p);
}`},
	{name: "capture and recapture", bounds: between(0, 1, "z"), data: `{"I":2,"T":4,"y":[[1,0,1,0],[0,1,0,0]],"first":[1,2]}`, text: `
data { int I; int T; array[I, T] int y; array[I] int first; }
parameters { vector<lower=0, upper=1>[T] phi; real<lower=0, upper=1> p; array[I, T] int<lower=0, upper=1> z; }
model {
  for (i in 1:I) {
    for (t in 1:first[i]) z[i, t] ~ bernoulli(1);
    for (t in (first[i] + 1):T) {
      z[i, t] ~ bernoulli(phi[t - 1] * z[i, t - 1]);
      y[i, t] ~ bernoulli(p * z[i, t]);
    }
  }
}`},
	{name: "grid", bounds: between(0, 1, "z"), data: `{"R":3,"C":3,"y":[[0.3,-1,2.5],[1,0,2],[1,-2,1]]}`, text: `
data { int R; int C; array[R, C] real y; }
parameters { real beta; vector[2] mu; array[R, C] int<lower=0, upper=1> z; }
model {
  for (r in 1:R) for (c in 1:C) {
    if (r > 1) target += beta * (z[r, c] == z[r - 1, c]);
    if (c > 1) target += beta * (z[r, c] == z[r, c - 1]);
    y[r, c] ~ normal(mu[z[r, c] + 1], 1);
  }
  beta ~ normal(0, 1);
}`},
	{name: "several sizes", bounds: map[string][2]int64{"a": {2, 4}, "b": {-1, 1}, "c": {5, 6}}, data: `{"y":[0.5,1,2]}`, text: `
data { array[3] real y; }
parameters { real m; vector[4] mu; int<lower=2, upper=4> a; array[2] int<lower=-1, upper=1> b; int<lower=5, upper=6> c; }
model {
  y[1] ~ normal(mu[a] + b[1], 1);
  y[2] ~ normal(m * b[2] + c, 2);
  target += 0.1 * a * b[1] - 0.3 * c;
  m ~ normal(0, 1); mu ~ normal(0, 1);
}`},
	{name: "unused", bounds: map[string][2]int64{"a": {1, 3}, "b": {0, 1}}, data: `{"y":1}`, text: `
data { real y; }
parameters { real m; int<lower=1, upper=3> a; int<lower=0, upper=1> b; }
model { y ~ normal(m + b, 1); m ~ normal(0, 1); }`},
	{name: "sums and ranges", bounds: between(0, 1, "z"), data: `{"N":5,"y":[1,0,2]}`, text: `
data { int N; array[3] int y; }
parameters { real<lower=0> l; vector[N] b; array[N] int<lower=0, upper=1> z; }
model {
  y[1] ~ poisson(l + sum(z[1:3]));
  y[2] ~ poisson(l + sum(z));
  target += dot_product(b, to_vector(z));
  b ~ normal(0, 1);
  l ~ exponential(1);
}`},
	{name: "accumulated locals", bounds: between(1, 2, "z"), data: `{"N":3,"y":0.7}`, text: `
data { int N; real y; }
parameters { vector[2] mu; array[N] int<lower=1, upper=2> z; }
model {
  real acc = 0;
  for (n in 1:N) acc += n * mu[z[n]];
  y ~ normal(acc, 1);
  mu ~ normal(0, 1);
}`},
	{name: "transformed parameters by element", bounds: between(0, 1, "z"), data: `{"N":6,"y":[1,2,3,1,0,2],"x":[1,0,-1,2,1,0]}`, text: `
data { int N; array[N] real y; vector[N] x; }
parameters { real a; vector[2] b; real<lower=0> s; array[N] int<lower=0, upper=1> z; }
transformed parameters {
  vector[N] eta;
  vector[N] twice;
  for (n in 1:N) { eta[n] = a + b[z[n] + 1] * x[n]; }
  twice = 2 * eta;
}
model { z ~ bernoulli(0.3); y ~ normal(twice, s); a ~ normal(0, 1); }`},
	{name: "locals by element", bounds: between(1, 2, "z"), data: `{"N":5,"y":[1,2,3,1,0]}`, text: `
data { int N; array[N] real y; }
parameters { vector[2] mu; simplex[2] w; array[N] int<lower=1, upper=2> z; }
model {
  vector[N] m = mu[z];
  array[N, 2] real d;
  for (k in 1:2) for (n in 1:N) d[n, k] = m[n] - k;
  z ~ categorical(w);
  for (n in 1:N) { y[n] ~ normal(d[n, 1], 1); target += -square(d[n][2]); }
}`},
	{name: "bounds of a matrix", perElement: map[string][][2]int64{"z": {{0, 1}, {1, 2}, {2, 2}, {0, 2}, {1, 1}, {-1, 2}}}, data: `{"lo":[[0,2,1],[1,0,-1]],"hi":[[1,2,1],[2,2,2]],"y":[[1,2,0],[0.5,1,0]]}`, text: `
data { array[2, 3] int lo; array[2, 3] int hi; array[2, 3] real y; }
parameters { real m; array[2, 3] int<lower=lo, upper=hi> z; }
model { for (i in 1:2) for (j in 1:3) y[i, j] ~ normal(m * z[i, j], 1 + i); for (i in 1:2) target += 0.2 * z[i, 1] * z[i, 2] - 0.1 * z[i, 3] * z[i, 2]; m ~ normal(0, 1); }`},
	{name: "running sums of data", bounds: between(1, 2, "z"), data: `{"N":4,"y":[1,2,3,1],"x":[1,0,-1,2]}`, text: `
data { int N; array[N] real y; vector[N] x; }
parameters { vector[2] mu; real b; array[N] int<lower=1, upper=2> z; }
model {
  real acc = b;
  for (n in 1:N) { acc += x[n] * b; y[n] ~ normal(mu[z[n]] + acc, 1); }
  mu ~ normal(0, 1);
}`},
	{name: "constrained transformed parameters", bounds: between(1, 2, "z"), data: `{"N":4,"y":[1,2,3,1]}`, text: `
data { int N; array[N] real y; }
parameters { vector<lower=0>[2] s; array[2] simplex[3] w; array[N] int<lower=1, upper=2> z; }
transformed parameters {
  vector<lower=0>[2] sums = rep_vector(0, 2);
  real<lower=0> first = s[z[1]];
  vector[2] other;
  for (k in 1:2) { other[k] = s[k] + 1; sums[k] = first * other[k]; }
}
model { for (n in 1:N) y[n] ~ normal(sums[1 + n % 2], other[z[n]]); s ~ exponential(1); }`},
	{name: "bounds of loops from locals", bounds: between(1, 2, "z"), data: `{"G":2,"N":5,"from":[1,4],"y":[1,2,3,1,0]}`, text: `
data { int G; int N; array[G] int from; array[N] real y; }
parameters { vector[2] mu; array[2] simplex[2] P; array[N] int<lower=1, upper=2> z; }
model {
  for (g in 1:G) {
    int a = from[g];
    int b = g < G ? from[g + 1] - 1 : N;
    for (t in a:b) {
      if (t > a) z[t] ~ categorical(P[z[t - 1]]);
      y[t] ~ normal(mu[z[t]], 1);
    }
  }
  mu ~ normal(0, 1);
}`},
	{name: "locals of branches", bounds: between(1, 2, "z"), data: `{"N":3,"y":[1,2,3],"flag":1}`, text: `
data { int N; array[N] real y; int flag; }
parameters { vector[2] mu; real b; array[N] int<lower=1, upper=2> z; }
model {
  if (flag == 1) { real m = 2 * b; for (n in 1:N) y[n] ~ normal(mu[z[n]] + m, 1); } else { y ~ normal(mu[z], 2); }
  { vector[2] twice = 2 * mu; for (n in 1:N) target += twice[z[n]]; }
  profile("a") { for (n in 1:N) z[n] ~ categorical([0.3, 0.7]'); }
  mu ~ normal(0, 1); b ~ normal(0, 1);
}`},
	{name: "functions", bounds: between(1, 3, "z"), data: `{"N":3,"y":[1,2,3]}`, text: `
functions { real mix_lpdf(real y, int k, vector mu) { return normal_lpdf(y | mu[k], k); } real f(int k, real m) { return k > 2 ? m : -m; } }
data { int N; array[N] real y; }
parameters { vector[3] mu; real m; array[N] int<lower=1, upper=3> z; }
model { for (n in 1:N) { y[n] ~ mix(z[n], mu); target += f(z[n], m); } m ~ normal(0, 1); }`},
	{name: "truncated", bounds: between(1, 2, "z"), data: `{"N":3,"y":[1,2,3]}`, text: `
data { int N; array[N] real y; }
parameters { vector[2] mu; simplex[2] w; array[N] int<lower=1, upper=2> z; }
model { for (n in 1:N) { z[n] ~ categorical(w); y[n] ~ normal(mu[z[n]], 1) T[0, 5]; } }`},
	{name: "ordered", bounds: between(1, 3, "z"), data: `{"N":3,"y":[1,2,3],"x":[1,0,-1]}`, text: `
data { int N; array[N] int y; vector[N] x; }
parameters { ordered[2] c; real b; vector[3] g; array[N] int<lower=1, upper=3> z; }
model { z ~ ordered_logistic(b * x, c); for (n in 1:N) y[n] ~ poisson_log(g[z[n]]); }`},
	{name: "loops with terms that share a counter", bounds: between(0, 4, "s"), data: `{"T":4,"y":[1,2,5,6]}`, text: `
data { int T; array[T] int y; }
parameters { real<lower=0> e; real<lower=0> l; int<lower=0, upper=T> s; }
model {
  int t = 1;
  s ~ binomial(T, 0.4);
  while (t <= s) { y[t] ~ poisson(e); t += 1; }
  while (t <= T) { y[t] ~ poisson(l); t += 1; }
}`},
	{name: "terms on the way to a variable", bounds: between(1, 2, "z"), data: `{"N":3,"y":[1,2,3]}`, text: `
data { int N; array[N] real y; }
parameters { vector[2] mu; array[N] int<lower=1, upper=2> z; }
model {
  real a = 0;
  real b = 0;
  for (n in 1:N) { a += mu[z[n]]; if (z[n] == 1) y[n] ~ normal(a, 1); else { a -= 1; target += -a; } }
  for (n in z) { b += n; target += -0.1 * n * b; while (b > 4) { b -= 2; target += mu[1]; } }
  profile("p") { real c = a * b; y[1] ~ normal(c, 2); { a = 2 * c; y[2] ~ normal(a, 3); } }
  y[3] ~ normal(a + b, 2);
  mu ~ normal(0, 1);
}`},
	{name: "empty blocks", bounds: between(0, 2, "k"), data: `{"N":2,"y":[1,2]}`, text: `
data { int N; vector[N] y; }
transformed data { }
parameters { vector[2] b; int<lower=0, upper=2> k; }
transformed parameters { }
model { vector[N] m = rep_vector(0, N); for (j in 1:k) m += b[j] * [1, j]'; y ~ normal(m, 1); b ~ normal(0, 1); }
generated quantities { }`},
	{name: "impossible values, by arithmetic", bounds: between(0, 1, "d"), data: `{"S":3,"y":[1,0,1],"A":[[1,1,0],[0,1,1],[0,1,1]]}`, text: `
functions { real on(array[] int d, vector a, row_vector q) { real f = 0; for (k in 1:size(d)) f += d[k] * a[k] * q[k]; return 1 - exp(-f); } }
data { int S; array[S] int y; array[S] vector[3] A; }
parameters { matrix<lower=0>[S, 3] q; array[3] int<lower=0, upper=1> d; }
model {
  for (s in 1:S) y[s] ~ bernoulli(on(d, A[s], q[s]));
  to_vector(q) ~ exponential(1);
}`},
	{name: "impossible values, by a product of vectors", bounds: between(0, 1, "d"), data: `{"S":3,"y":[1,0,1]}`, text: `
data { int S; array[S] int y; }
parameters { matrix<lower=0>[S, 3] q; array[3] int<lower=0, upper=1> d; }
model {
  for (s in 1:S) target += bernoulli_lpmf(y[s] | 1 - exp(-q[s] * to_vector(d)));
  to_vector(q) ~ exponential(1);
}`},
	{name: "impossible values, by logarithms", bounds: between(0, 2, "k"), data: `{"N":3,"y":[1,0,1]}`, text: `
data { int N; array[N] int y; }
parameters { real<lower=0> q; array[N] int<lower=0, upper=2> k; }
model {
  for (n in 1:N) { target += log(q * k[n] ^ 2); y[n] ~ poisson(k[n] * sqrt(k[n] * q)); }
  q ~ exponential(1);
}`},
	{name: "values that are impossible whatever the others are", bounds: between(0, 1, "a", "b"), data: `{"y":1}`, text: `
data { int y; }
parameters { real<lower=0, upper=1> p; real m; int<lower=0, upper=1> a; int<lower=0, upper=1> b; }
model {
  y ~ bernoulli(a * p);
  b ~ bernoulli((1 - a) * p);
  target += b * m;
  m ~ normal(0, 1);
}`},
	{name: "conditions that data decide first", bounds: between(1, 3, "z"), data: `{"T":3,"y":[0,1,0]}`, text: `
data { int T; array[T] int y; }
parameters { real<lower=0, upper=1> p; real<lower=0, upper=1> q; array[T] int<lower=1, upper=3> z; }
model {
  for (t in 1:T) {
    if (t == 1 || z[t - 1] == 1) z[t] ~ categorical([1 - q, q, 0]');
    else if (!(t == 1) && z[t - 1] == 2) z[t] ~ categorical([0, p, 1 - p]');
    else z[t] ~ categorical([0, 0, 1]');
    y[t] ~ bernoulli(t > 1 && z[max(1, t - 1)] == 2 ? q : p);
  }
}`},
	{name: "sizes of parameters", bounds: between(0, 1, "z"), data: `{"I":2,"K":2,"y":[1,0]}`, text: `
data { int I; int K; array[I] int y; }
parameters { vector<lower=0, upper=1>[K] p; vector[K] m; array[I, K] int<lower=0, upper=1> z; }
model {
  vector[K] q = inv_logit(m);
  for (i in 1:I) {
    int all = 1;
    z[i] ~ bernoulli(p);
    z[i] ~ bernoulli(q);
    for (k in 1:K) all *= z[i, k];
    y[i] ~ bernoulli(all ? 0.9 : 0.2);
  }
  m ~ normal(0, 1);
}`},
	{name: "integers as real arguments", bounds: between(0, 3, "k"), data: `{"y":1}`, text: `
functions {
  void add_lp(real k, real a) { target += -k / 2 * a; }
  real half(real k) { return log_sum_exp(k / 2, 0); }
  real own(int k) { return k > 1 ? k : log_sum_exp(k, 0) > 0; }
}
data { int y; }
parameters { real a; int<lower=0, upper=3> k; }
model { add_lp(k, a); target += half(k) + a * (own(k) / 2); y ~ normal(a, 1); }`},
	{name: "model locals", bounds: between(1, 2, "z"), data: `{"N":3,"y":[1,2,3],"x":[1,0,-1]}`, text: `
data { int N; array[N] real y; vector[N] x; }
parameters { real a; vector[2] b; simplex[2] w; array[N] int<lower=1, upper=2> z; }
transformed parameters { vector[N] eta = a + x * b[1]; }
model {
  vector[2] lw = log(w);
  vector[N] twice = 2 * eta;
  for (n in 1:N) { real m; m = twice[n]; m += b[z[n]]; target += lw[z[n]]; y[n] ~ normal(m, 1); x[n] ~ normal(a, 1); }
}`},
}

// TestDiscrete compares the density and the draws of programs with discrete parameters with an
// enumeration of their values, in which they are data.
func TestDiscrete(t *testing.T) {
	for _, c := range discreteCases {
		t.Run(c.name, func(t *testing.T) { c.check(t, short.Of(2000, 300)) })
	}
}

// TestDiscreteRandom compares random factor graphs with an enumeration: elements of several values
// in factors of one, two and three, at positions from data that may repeat.
func TestDiscreteRandom(t *testing.T) {
	for seed := range uint64(short.Of(40, 8)) {
		rng := rand.New(rand.NewPCG(seed, 44))
		n := 1 + rng.IntN(7)
		if seed < 3 {
			n = int(seed)
		}
		positions := func() []int {
			out := make([]int, rng.IntN(7))
			if n == 0 {
				out = nil
			}
			for i := range out {
				out[i] = 1 + rng.IntN(n)
			}
			return out
		}
		pairs := func() [][2]int {
			out := [][2]int{}
			for _, a := range positions() {
				b := 1 + rng.IntN(n)
				if rng.IntN(2) == 0 { // chains and trees more often
					b = max(1, a-1)
				}
				out = append(out, [2]int{a, b})
			}
			return out
		}
		triples := [][3]int{}
		for _, a := range positions() {
			if len(triples) < 2 {
				triples = append(triples, [3]int{a, 1 + rng.IntN(n), 1 + rng.IntN(n)})
			}
		}
		one, two := positions(), pairs()
		if one == nil {
			one = []int{}
		}
		lo, hi := make([]int, n), make([]int, n)
		var bounds [][2]int64
		for i := range n {
			lo[i] = 1 + rng.IntN(2)
			hi[i] = lo[i] + rng.IntN(2)
			bounds = append(bounds, [2]int64{int64(lo[i]), int64(hi[i])})
		}
		values := map[string]any{"N": n, "A": len(one), "B": len(two), "C": len(triples), "a": one, "b": two, "c": triples, "lo": lo, "hi": hi}
		text, err := json.Marshal(values)
		if err != nil {
			t.Fatal(err)
		}
		discreteCase{name: "random", data: string(text), perElement: map[string][][2]int64{"z": bounds}, text: `
data { int N; int A; int B; int C; array[A] int a; array[B, 2] int b; array[C, 3] int c; array[N] int lo; array[N] int hi; }
parameters { vector[3] u; matrix[3, 3] v; real w; array[N] int<lower=lo, upper=hi> z; }
model {
  for (i in 1:A) target += u[z[a[i]]] * (1 + 0.1 * i);
  for (i in 1:B) if (i % 2 == 0) target += v[z[b[i, 1]], z[b[i, 2]]]; else { int p = z[b[i, 1]]; if (p == z[b[i, 2]]) target += w; }
  for (i in 1:C) target += w * z[c[i, 1]] * z[c[i, 2]] - 0.1 * z[c[i, 3]];
  u ~ normal(0, 1);
  w ~ normal(0, 1);
}`}.check(t, 300)
		if t.Failed() {
			t.Fatalf("seed %d, data %s", seed, text)
		}
	}
}

// TestDiscreteRefused checks what cannot be summed out.
func TestDiscreteRefused(t *testing.T) {
	const head = "data { int N; array[N] real y; }\nparameters { vector[2] mu; array[N] int<lower=1, upper=2> z; }\n"
	for _, c := range []struct{ code, functions, model string }{
		{"E0622", "", "for (n in 1:N) y[n] ~ normal(mu[z[1 + z[n] * n]], 1);"},
		{"E0413", "", "for (n in 1:N) { print(z[n]); }"},
		{"E0413", "", "if (z[1] == 1) jacobian += 1; } model { "},
		{"E0413", "", "jacobian += mu[z[1]]; } model { "},
		{"E0413", "functions { real f_jacobian(real x) { jacobian += x; return x; } }\n", "real m = f_jacobian(mu[z[1]]); } model { "},
		{"E0413", "", "for (n in 1:N) if (z[n] == 1) reject(\"one\");"},
		{"E0413", "", "for (n in 1:N) { if (z[n] == 1) { y[n] ~ normal(0, 1); print(\"one\"); } }"},
		{"E0413", "", "for (n in 1:N) target += mu[z[n]] * target();"},
		{"E0413", "", "real m = 0; for (n in 1:N) y[n] ~ normal(mu[z[n]] + m, 1); m = mu[1]; target += m;"},
		{"E0413", "", "vector[z[1]] a = rep_vector(0, z[1]); target += sum(a);"},
		{"E0413", "functions { void add_lp(int k) { if (k == 1) return; target += k; } }\n", "for (n in 1:N) add_lp(z[n]);"},
		{"E0413", "functions { real add_lp(int k) { target += k; return 1; } }\n", "for (n in 1:N) target += add_lp(z[n]);"},
		{"E0622", "", "sum(z) ~ poisson(exp(mu[1]));"},
		{"E0606", "", "for (n in 1:N) y[n] ~ normal(mu[z[n + 1]], 1);"},
	} {
		set, err := data.ParseText("data.json", `{"N":30,"y":[1,2,3,4,5,6,7,8,9,10,1,2,3,4,5,6,7,8,9,10,1,2,3,4,5,6,7,8,9,10]}`, data.Options{})
		if err != nil {
			t.Fatal(err)
		}
		block := "model"
		if strings.Contains(c.model, "model {") {
			block = "transformed parameters"
		}
		text := c.functions + head + block + " { " + c.model + " }\n"
		p, list := compile.Compile(source.NewFile("m.stan", text))
		if !list.HasErrors() {
			var e *compile.Error
			if _, err := p.Bind(set, compile.BindOptions{}); errors.As(err, &e) {
				list = e.List
			} else if err != nil {
				t.Errorf("%s: %v", c.model, err)
			}
		}
		errs := list.Errors()
		if len(errs) == 0 || string(errs[0].Code) != c.code {
			t.Errorf("%s: %v, want %s", c.model, errs, c.code)
			continue
		}
		if !errs[0].Span.IsValid() {
			t.Errorf("%s: the message has no place", c.model)
		}
	}
}
