data {
  int n;
  sparse_matrix[n, n] W;
  vector[n] y;
}
parameters {
  real<lower=0> tau;
  vector[n] phi;
}
transformed parameters {
  sparse_matrix[n, n] Q = tau * (add_diag(-0.3 * W, 1));
}
model {
  tau ~ gamma(2, 2);
  target += -0.5 * quad_form(Q, phi);
  y ~ normal(phi + W * phi, 1);
}
generated quantities {
  sparse_matrix[n, n] R = Q + W * W;
  row_vector[n] z = phi' * W;
}
