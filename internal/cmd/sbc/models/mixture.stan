// A mixture of two normals, summed over the unknown memberships.
transformed data {
  int N = 40;
  real w_ = beta_rng(5, 5);
  vector[2] mu_ = sort_asc([normal_rng(0, 2), normal_rng(0, 2)]');
  vector[N] y;
  for (n in 1:N) {
    y[n] = normal_rng(mu_[2 - bernoulli_rng(w_)], 0.6);
  }
}
parameters {
  real<lower=0, upper=1> w;
  ordered[2] mu;
}
model {
  w ~ beta(5, 5);
  mu ~ normal(0, 2);
  for (n in 1:N) {
    target += log_mix(w, normal_lpdf(y[n] | mu[1], 0.6), normal_lpdf(y[n] | mu[2], 0.6));
  }
}
generated quantities {
  int below_w = w < w_;
  array[2] int below_mu = {mu[1] < mu_[1], mu[2] < mu_[2]};
}
