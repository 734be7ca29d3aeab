// Answers of persons to questions that differ in how hard and how telling they are.
data {
  int<lower=1> persons;
  int<lower=1> questions;
  array[persons, questions] int<lower=0, upper=1> right;
}
parameters {
  vector[persons] able;
  vector[questions] hard;
  vector<lower=0>[questions] telling;
  real<lower=0> spread;
}
model {
  able ~ std_normal();
  spread ~ normal(0, 2);
  hard ~ normal(0, spread);
  telling ~ lognormal(0, 0.5);
  for (q in 1:questions)
    right[, q] ~ bernoulli_logit(telling[q] * (able - hard[q]));
}
