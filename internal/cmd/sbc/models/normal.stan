// A normal sample with unknown mean and scale.
transformed data {
  int N = 12;
  real mu_ = normal_rng(1, 2);
  real sigma_ = lognormal_rng(0, 0.5);
  array[N] real y = normal_rng(rep_vector(mu_, N), sigma_);
}
parameters {
  real mu;
  real<lower=0> sigma;
}
model {
  mu ~ normal(1, 2);
  sigma ~ lognormal(0, 0.5);
  y ~ normal(mu, sigma);
}
generated quantities {
  int below_mu = mu < mu_;
  int below_sigma = sigma < sigma_;
}
