// Parameters of many kinds, without data.
parameters {
  simplex[5] p;
  cholesky_factor_corr[4] r;
  cov_matrix[3] s;
  unit_vector[3] u;
  positive_ordered[4] o;
  real<lower=0, upper=1> flat;
}
model {
  p ~ dirichlet([0.5, 0.5, 1, 2, 4]');
  r ~ lkj_corr_cholesky(1);
  s ~ wishart(6, identity_matrix(3));
  o ~ exponential(1);
}
