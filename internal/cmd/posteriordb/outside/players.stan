// Who wins, by strengths that add up to about zero.
data {
  int<lower=0> games;
  int<lower=2> players;
  array[games] int<lower=1, upper=players> one;
  array[games] int<lower=1, upper=players> other;
  array[games] int<lower=0, upper=1> won;
}
parameters {
  vector[players] strength;
  real<lower=0> spread;
  real advantage;
}
model {
  spread ~ normal(0, 1);
  strength ~ normal(0, spread);
  sum(strength) ~ normal(0, 0.01 * players);
  advantage ~ normal(0, 1);
  won ~ bernoulli_logit(advantage + strength[one] - strength[other]);
}
