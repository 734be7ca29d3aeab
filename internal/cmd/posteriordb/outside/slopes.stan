// Intercepts and slopes of groups that are correlated.
data {
  int<lower=0> n;
  int<lower=1> m;
  array[n] int<lower=1, upper=m> group;
  vector[n] x;
  vector[n] y;
}
parameters {
  vector[2] mu;
  vector<lower=0>[2] tau;
  cholesky_factor_corr[2] root;
  matrix[2, m] z;
  real<lower=0> sigma;
}
model {
  matrix[2, m] b = rep_matrix(mu, m) + diag_pre_multiply(tau, root) * z;
  mu ~ normal(0, 5);
  tau ~ normal(0, 1);
  root ~ lkj_corr_cholesky(2);
  to_vector(z) ~ std_normal();
  sigma ~ normal(0, 1);
  y ~ normal(to_vector(b[1, group]) + to_vector(b[2, group]) .* x, sigma);
}
