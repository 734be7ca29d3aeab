// Bounds, offsets and multipliers of containers, scalar and of their shape.
data {
  int<lower=1> N;
  int<lower=1> K;
  vector[N] low;
  vector<lower=low>[N] up;
  matrix[N, K] centre;
  array[2] vector<lower=0>[K] scale;
}
parameters {
  vector<lower=low>[N] a;
  vector<lower=low, upper=up>[N] b;
  row_vector<upper=1.5>[K] c;
  matrix<lower=-1, upper=2>[N, K] d;
  matrix<lower=centre>[N, K] e;
  array[2, 3] real<lower=0> f;
  array[2] vector<lower=-1, upper=1>[K] g;
  array[2] matrix<lower=0.5>[N, K] h;
  real<lower=0> t;
  vector<offset=low, multiplier=t>[N] i;
  matrix<offset=centre, multiplier=2>[N, K] j;
  array[2] vector<multiplier=scale>[K] k;
  array[2] row_vector<offset=t>[K] l;
  matrix<lower=a[1], upper=a[1] + t>[N, K] m;
  array[2] vector<lower=scale, upper=3>[K] n;
}
model {
  target += -0.1 * dot_self(a) + 0.3 * sum(b) - 0.1 * dot_self(c) + 0.7 * sum(d) - 0.2 * sum(square(e));
  target += -0.4 * sum(to_array_1d(f)) + 0.2 * sum(g[1]) - 0.6 * sum(g[2]) - 0.1 * sum(square(h[1])) - 0.2 * sum(square(h[2]));
  target += -0.5 * t - 0.1 * dot_self(i) - 0.1 * sum(square(j)) - 0.1 * dot_self(k[1]) - 0.3 * dot_self(k[2]);
  target += -0.1 * dot_self(l[1]) - 0.3 * dot_self(l[2]) + 0.5 * sum(m) - 0.2 * m[1, K] + 0.1 * sum(n[1]) - 0.3 * n[2, 1];
}
