// Distribution functions and truncations of counts at the ends of their support and beyond:
// at N and above it, below 0, N = 0; log odds that are infinite.
data {
  int N;
  int none;
  real low;
  array[5] int k;
}
parameters {
  real<lower=0, upper=1> theta;
  real<lower=0> a;
  real<lower=0> b;
}
model {
  for (i in 1:5) {
    target += binomial_cdf(k[i] | N, theta);
    target += binomial_cdf(k[i] | none, theta);
    target += beta_binomial_cdf(k[i] | N, a, b);
    target += bernoulli_cdf(k[i] | theta);
    target += poisson_cdf(k[i] | a);
    target += neg_binomial_2_cdf(k[i] | a, 2);
  }
  target += binomial_lcdf({N, N + 1, 2} | N, theta);
  target += binomial_lcdf(1 | {N, 0, 1}, theta);
  target += binomial_lccdf(2 | {N, 4}, theta);
  target += beta_binomial_lcdf({N, N + 1, 2} | N, a, b);
  target += bernoulli_logit_lpmf({0, 0} | low) + bernoulli_logit_lpmf({1, 1, 1} | -low);
  3 ~ binomial(N, theta) T[1, 8];
  N ~ binomial(N, theta) T[, N + 4];
  0 ~ binomial(none, theta) T[, 2];
  1 ~ binomial(N, theta) T[-1, N];
  3 ~ beta_binomial(N, a, b) T[1, 8];
  N ~ beta_binomial(N, a, b) T[, N + 4];
  1 ~ poisson(a) T[0, ];
  0 ~ poisson(a) T[-1, 3];
  2 ~ neg_binomial(a, b) T[2, 2];
}
