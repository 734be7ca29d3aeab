// Growth that slows down towards a limit, by its differential equation.
functions {
  vector slowing(real t, vector y, real rate, real limit) {
    return rate * y .* (1 - y / limit);
  }
}
data {
  int<lower=1> n;
  array[n] real<lower=0> t;
  array[n] real<lower=0> y;
}
parameters {
  real<lower=0> rate;
  real<lower=0> limit;
  real<lower=0> start;
  real<lower=0> sigma;
}
model {
  array[n] vector[1] z = ode_rk45(slowing, [start]', 0, t, rate, limit);
  rate ~ lognormal(-1, 1);
  limit ~ lognormal(3, 1);
  start ~ lognormal(0, 1);
  sigma ~ exponential(3);
  y ~ lognormal(log(z[, 1]), sigma);
}
