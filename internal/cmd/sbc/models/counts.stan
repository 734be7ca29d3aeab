// Overdispersed counts with exposures.
transformed data {
  int N = 30;
  vector[N] x;
  vector[N] exposure;
  real a_ = normal_rng(1, 0.5);
  real b_ = normal_rng(0, 0.5);
  real phi_ = inv_gamma_rng(4, 12);
  array[N] int y;
  for (n in 1:N) {
    x[n] = sin(2.3 * n);
    exposure[n] = 1 + n % 3;
    y[n] = neg_binomial_2_log_rng(a_ + b_ * x[n] + log(exposure[n]), phi_);
  }
}
parameters {
  real a;
  real<offset=0, multiplier=0.5> b;
  real<lower=0> phi;
}
model {
  a ~ normal(1, 0.5);
  b ~ normal(0, 0.5);
  phi ~ inv_gamma(4, 12);
  y ~ neg_binomial_2_log(a + b * x + log(exposure), phi);
}
generated quantities {
  int below_a = a < a_;
  int below_b = b < b_;
  int below_phi = phi < phi_;
}
