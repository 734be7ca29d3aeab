// A series with a trend; the mean and scale are the data's.
data {
  int<lower=3> N;
  vector[N] y;
}
transformed data {
  real m = mean(y);
  real s = sd(y) + 1e-9;
}
parameters {
  real level;
  real slope;
  real<lower=0> sigma;
}
model {
  level ~ normal(0, 2);
  slope ~ normal(0, 2);
  sigma ~ exponential(1);
  for (t in 1:N) {
    (y[t] - m) / s ~ normal(level + slope * (t - 0.5 * (N + 1)) / N, sigma);
  }
}
generated quantities {
  real next = m + s * normal_rng(level + slope * 0.5 * (N + 1) / N, sigma);
}
