// Derivatives at the ends of domains: mixtures of which a share is 0 or 1, the order of a Bessel
// function, logarithms of logistic functions; densities of containers that have no elements.
data {
  int n;
  vector[3] share;
}
parameters {
  vector[3] l;
  vector[3] m;
  real<lower=0> v;
  real<lower=0> x;
  real u;
}
model {
  real zero = n * u;
  real w = 2 + u;
  vector[3] q = share;
  q[1] += zero;
  q[2] -= zero;
  target += log_mix(zero, l[1], l[2]) + 2 * log_mix(1 + zero, l[2], l[3]) + 3 * log_mix(q, l) + 5 * log_mix(q, {l, m});
  target += log_modified_bessel_first_kind(v, x) + 2 * log_modified_bessel_first_kind(7 * v, x) + 3 * log_modified_bessel_first_kind(v / 9, 50 * x);
  target += bernoulli_lpmf({1, 0, 0} | inv_logit(w)) + bernoulli_lpmf(0 | inv_logit(-w)) + log(inv_logit(u)) + log1m(inv_logit(m[1])) + log(sqrt(exp(m[2])));
  matrix[n, n] nothing;
  vector[n] e;
  nothing ~ lkj_corr_cholesky(v);
  e ~ multi_normal_cholesky(e, nothing);
  e ~ multi_student_t(v, e, nothing);
  l ~ normal(m, 1);
  m ~ normal(0, v + x);
  u ~ normal(0, 1);
}
