// Counts that vary more than Poisson's, of groups, non-centred.
data {
  int<lower=0> n;
  int<lower=1> m;
  array[n] int<lower=1, upper=m> group;
  vector[n] x;
  array[n] int<lower=0> y;
}
parameters {
  real intercept;
  real slope;
  real<lower=0> tau;
  vector[m] z;
  real<lower=0> inverse_phi;
}
model {
  intercept ~ normal(0, 3);
  slope ~ normal(0, 1);
  tau ~ cauchy(0, 1);
  z ~ std_normal();
  inverse_phi ~ exponential(1);
  y ~ neg_binomial_2_log(intercept + slope * x + tau * z[group], 1 / inverse_phi);
}
