// Counts along a line whose logarithm is smooth: second differences are small.
data {
  int<lower=3> n;
  array[n] int<lower=0> y;
}
parameters {
  vector[n] f;
  real<lower=0> rough;
}
model {
  rough ~ exponential(4);
  f[1:2] ~ normal(0, 3);
  f[3:n] - 2 * f[2:(n - 1)] + f[1:(n - 2)] ~ normal(0, rough);
  y ~ poisson_log(f);
}
