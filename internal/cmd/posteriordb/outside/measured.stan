// A regression on what has been measured with error.
data {
  int<lower=0> n;
  vector[n] x_seen;
  vector[n] y;
}
parameters {
  vector[n] x;
  real centre;
  real<lower=0> spread;
  real intercept;
  real slope;
  real<lower=0> error;
  real<lower=0> sigma;
}
model {
  centre ~ normal(0, 5);
  spread ~ normal(0, 5);
  intercept ~ normal(0, 5);
  slope ~ normal(0, 2);
  error ~ lognormal(-1, 0.3);
  sigma ~ normal(0, 2);
  x ~ normal(centre, spread);
  x_seen ~ normal(x, error);
  y ~ normal(intercept + slope * x, sigma);
}
