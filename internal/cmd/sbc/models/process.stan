// A Gaussian process with noise.
transformed data {
  int N = 15;
  array[N] real x;
  real rho_ = inv_gamma_rng(5, 5);
  real alpha_ = gamma_rng(4, 4);
  real sigma_ = gamma_rng(4, 10);
  vector[N] y;
  for (n in 1:N) {
    x[n] = 0.3 * n;
  }
  y = multi_normal_rng(rep_vector(0, N), add_diag(gp_exp_quad_cov(x, alpha_, rho_), square(sigma_)));
}
parameters {
  real<lower=0> rho;
  real<lower=0> alpha;
  real<lower=0> sigma;
}
model {
  rho ~ inv_gamma(5, 5);
  alpha ~ gamma(4, 4);
  sigma ~ gamma(4, 10);
  y ~ multi_normal_cholesky(rep_vector(0, N), cholesky_decompose(add_diag(gp_exp_quad_cov(x, alpha, rho), square(sigma))));
}
generated quantities {
  int below_rho = rho < rho_;
  int below_alpha = alpha < alpha_;
  int below_sigma = sigma < sigma_;
}
