// Logistic regression.
transformed data {
  int N = 40;
  int K = 3;
  matrix[N, K] x;
  real a_ = normal_rng(0, 1);
  vector[K] b_;
  array[N] int y;
  for (k in 1:K) {
    b_[k] = normal_rng(0, 1.5);
    for (n in 1:N) {
      x[n, k] = sin(n * (k + 0.3));
    }
  }
  y = bernoulli_logit_rng(a_ + x * b_);
}
parameters {
  real a;
  vector[K] b;
}
model {
  a ~ normal(0, 1);
  b ~ normal(0, 1.5);
  y ~ bernoulli_logit_glm(x, a, b);
}
generated quantities {
  int below_a = a < a_;
  array[K] int below_b;
  for (k in 1:K) {
    below_b[k] = b[k] < b_[k];
  }
}
