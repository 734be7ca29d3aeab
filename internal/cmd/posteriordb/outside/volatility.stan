// Volatility that changes in time, centred.
data {
  int<lower=0> n;
  vector[n] y;
}
parameters {
  real mu;
  real<lower=-1, upper=1> phi;
  real<lower=0> sigma;
  vector[n] h;
}
model {
  phi ~ uniform(-1, 1);
  sigma ~ cauchy(0, 5);
  mu ~ cauchy(0, 10);
  h[1] ~ normal(mu, sigma / sqrt(1 - square(phi)));
  h[2:n] ~ normal(mu + phi * (h[1:n - 1] - mu), sigma);
  y ~ normal(0, exp(h / 2));
}
