// Counts with proportions on a simplex.
transformed data {
  int K = 4;
  vector[K] alpha = [0.8, 1.5, 2, 3]';
  vector[K] p_ = dirichlet_rng(alpha);
  array[K] int y = multinomial_rng(p_, 25);
}
parameters {
  simplex[K] p;
}
model {
  p ~ dirichlet(alpha);
  y ~ multinomial(p);
}
generated quantities {
  array[K] int below_p;
  for (k in 1:K) {
    below_p[k] = p[k] < p_[k];
  }
}
