// Groups of very different sizes, non-centred.
data {
  int<lower=0> n;
  int<lower=1> m;
  array[n] int<lower=1, upper=m> group;
  vector[n] x;
  vector[n] y;
}
parameters {
  real mu;
  real slope;
  vector[m] z;
  real<lower=0> tau;
  real<lower=0> sigma;
}
model {
  vector[m] alpha = mu + tau * z;
  mu ~ normal(0, 5);
  slope ~ normal(0, 5);
  tau ~ normal(0, 1);
  sigma ~ normal(0, 1);
  z ~ std_normal();
  y ~ normal(alpha[group] + slope * x, sigma);
}
