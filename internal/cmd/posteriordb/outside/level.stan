// A level that wanders, seen with noise.
data {
  int<lower=0> n;
  vector[n] y;
}
parameters {
  vector[n] level;
  real<lower=0> step;
  real<lower=0> noise;
}
model {
  step ~ normal(0, 1);
  noise ~ normal(0, 1);
  level[1] ~ normal(0, 5);
  level[2:n] ~ normal(level[1:n - 1], step);
  y ~ normal(level, noise);
}
