// A regression whose outcome cannot be seen below a limit.
data {
  int<lower=0> n;
  int<lower=0> below;
  matrix[n, 4] x;
  vector[n] y;
  matrix[below, 4] x_below;
  real limit;
}
parameters {
  real intercept;
  vector[4] slope;
  real<lower=0> sigma;
}
model {
  intercept ~ normal(0, 5);
  slope ~ normal(0, 2);
  sigma ~ exponential(1);
  y ~ normal(intercept + x * slope, sigma);
  target += normal_lcdf(rep_vector(limit, below) | intercept + x_below * slope, sigma);
}
