// An ordered outcome with ordered cut points.
transformed data {
  int N = 50;
  int K = 4;
  vector[N] x;
  real b_ = normal_rng(0, 1);
  vector[K - 1] c_ = sort_asc(to_vector(normal_rng(rep_vector(0, K - 1), 2)));
  array[N] int y;
  for (n in 1:N) {
    x[n] = cos(1.7 * n);
    y[n] = ordered_logistic_rng(b_ * x[n], c_);
  }
}
parameters {
  real b;
  ordered[K - 1] c;
}
model {
  b ~ normal(0, 1);
  c ~ normal(0, 2);
  y ~ ordered_logistic(b * x, c);
}
generated quantities {
  int below_b = b < b_;
  array[K - 1] int below_c;
  for (k in 1:(K - 1)) {
    below_c[k] = c[k] < c_[k];
  }
}
