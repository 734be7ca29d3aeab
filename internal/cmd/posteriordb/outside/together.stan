// Four measurements that vary together, about a line each.
data {
  int<lower=0> n;
  vector[n] x;
  array[n] vector[4] y;
}
parameters {
  vector[4] intercept;
  vector[4] slope;
  vector<lower=0>[4] scale;
  cholesky_factor_corr[4] root;
}
model {
  array[n] vector[4] mu;
  for (i in 1:n)
    mu[i] = intercept + slope * x[i];
  intercept ~ normal(0, 5);
  slope ~ normal(0, 2);
  scale ~ student_t(3, 0, 2);
  root ~ lkj_corr_cholesky(1.5);
  y ~ multi_normal_cholesky(mu, diag_pre_multiply(scale, root));
}
