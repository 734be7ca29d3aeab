// A level with a slope, both of which wander.
data {
  int<lower=2> n;
  vector[n] y;
}
parameters {
  vector[n] level;
  vector[n] slope;
  real<lower=0> of_level;
  real<lower=0> of_slope;
  real<lower=0> noise;
}
model {
  of_level ~ normal(0, 0.5);
  of_slope ~ normal(0, 0.1);
  noise ~ normal(0, 1);
  level[1] ~ normal(0, 5);
  slope[1] ~ normal(0, 1);
  slope[2:n] ~ normal(slope[1:(n - 1)], of_slope);
  level[2:n] ~ normal(level[1:(n - 1)] + slope[1:(n - 1)], of_level);
  y ~ normal(level, noise);
}
