// A series that depends on its last two values, with noise of unknown tails.
data {
  int<lower=2> n;
  vector[n] y;
}
parameters {
  real level;
  vector[2] phi;
  real<lower=0> sigma;
  real<lower=1> nu;
}
model {
  level ~ normal(0, 10);
  phi ~ normal(0, 1);
  sigma ~ exponential(1);
  nu ~ gamma(2, 0.1);
  y[3:n] ~ student_t(nu, level + phi[1] * y[2:(n - 1)] + phi[2] * y[1:(n - 2)], sigma);
}
