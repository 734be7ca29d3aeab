// Rates of reactions that saturate, of several preparations.
data {
  int<lower=0> n;
  int<lower=1> m;
  array[n] int<lower=1, upper=m> prep;
  vector<lower=0>[n] dose;
  vector[n] rate;
}
parameters {
  vector[2] centre;
  vector<lower=0>[2] spread;
  vector[m] log_top;
  vector[m] log_half;
  real<lower=0> noise;
}
model {
  centre ~ normal(0, 2);
  spread ~ exponential(2);
  log_top ~ normal(centre[1], spread[1]);
  log_half ~ normal(centre[2], spread[2]);
  noise ~ exponential(5);
  rate ~ normal(exp(log_top[prep]) .* dose ./ (exp(log_half[prep]) + dose), noise);
}
