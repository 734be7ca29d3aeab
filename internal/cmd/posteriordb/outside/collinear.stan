// Regression with predictors that are nearly the same, in different units.
data {
  int<lower=0> n;
  int<lower=1> k;
  matrix[n, k] x;
  vector[n] y;
}
parameters {
  real alpha;
  vector[k] beta;
  real<lower=0> sigma;
}
model {
  y ~ normal_id_glm(x, alpha, beta, sigma);
}
