// Times to failure, some of which had not come, with an effect of the place.
data {
  int<lower=0> n;
  int<lower=1> m;
  array[n] int<lower=1, upper=m> place;
  vector[n] x;
  vector<lower=0>[n] time;
  array[n] int<lower=0, upper=1> failed;
}
parameters {
  real<lower=0> shape;
  real intercept;
  real slope;
  real<lower=0> spread;
  vector[m] z;
}
model {
  shape ~ lognormal(0, 0.5);
  intercept ~ normal(0, 3);
  slope ~ normal(0, 1);
  spread ~ normal(0, 1);
  z ~ std_normal();
  for (i in 1:n) {
    real scale = exp(intercept + slope * x[i] + spread * z[place[i]]);
    if (failed[i])
      target += weibull_lpdf(time[i] | shape, scale);
    else
      target += weibull_lccdf(time[i] | shape, scale);
  }
}
