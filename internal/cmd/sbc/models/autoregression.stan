// A stationary autoregression, its coefficient between bounds.
transformed data {
  int T = 40;
  real phi_ = 2 * beta_rng(4, 2) - 1;
  real sigma_ = gamma_rng(4, 4);
  vector[T] y;
  y[1] = normal_rng(0, sigma_ / sqrt(1 - square(phi_)));
  for (t in 2:T) {
    y[t] = normal_rng(phi_ * y[t - 1], sigma_);
  }
}
parameters {
  real<lower=-1, upper=1> phi;
  real<lower=0> sigma;
}
model {
  (phi + 1) / 2 ~ beta(4, 2);
  sigma ~ gamma(4, 4);
  y[1] ~ normal(0, sigma / sqrt(1 - square(phi)));
  for (t in 2:T) {
    y[t] ~ normal(phi * y[t - 1], sigma);
  }
}
generated quantities {
  int below_phi = phi < phi_;
  int below_sigma = sigma < sigma_;
}
