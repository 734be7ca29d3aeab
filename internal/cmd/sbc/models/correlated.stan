// Vectors with unknown correlations and scales.
transformed data {
  int N = 15;
  int D = 3;
  matrix[D, D] L_ = lkj_corr_cholesky_rng(D, 2);
  vector[D] s_;
  array[N] vector[D] y;
  for (d in 1:D) {
    s_[d] = gamma_rng(3, 2);
  }
  for (n in 1:N) {
    y[n] = multi_normal_cholesky_rng(rep_vector(0, D), diag_pre_multiply(s_, L_));
  }
}
parameters {
  cholesky_factor_corr[D] L;
  vector<lower=0>[D] s;
}
model {
  L ~ lkj_corr_cholesky(2);
  s ~ gamma(3, 2);
  y ~ multi_normal_cholesky(rep_vector(0, D), diag_pre_multiply(s, L));
}
generated quantities {
  array[D] int below_s;
  array[3] int below_r;
  {
    matrix[D, D] R = multiply_lower_tri_self_transpose(L);
    matrix[D, D] R_ = multiply_lower_tri_self_transpose(L_);
    below_r = {R[1, 2] < R_[1, 2], R[1, 3] < R_[1, 3], R[2, 3] < R_[2, 3]};
  }
  for (d in 1:D) {
    below_s[d] = s[d] < s_[d];
  }
}
