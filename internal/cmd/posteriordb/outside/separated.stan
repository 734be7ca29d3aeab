// Logistic regression whose outcomes a plane separates.
data {
  int<lower=0> n;
  int<lower=1> k;
  matrix[n, k] x;
  array[n] int<lower=0, upper=1> y;
  real<lower=0> scale;
}
parameters {
  real alpha;
  vector[k] beta;
}
model {
  alpha ~ student_t(4, 0, scale);
  beta ~ student_t(4, 0, scale);
  y ~ bernoulli_logit_glm(x, alpha, beta);
}
