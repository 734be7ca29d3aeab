// Choices among four, the first of which is the measure of the others.
data {
  int<lower=0> n;
  int<lower=1> p;
  matrix[n, p] x;
  array[n] int<lower=1, upper=4> choice;
}
parameters {
  matrix[p, 3] weight;
}
model {
  matrix[n, 4] utility = append_col(rep_vector(0, n), x * weight);
  to_vector(weight) ~ normal(0, 2);
  for (i in 1:n)
    choice[i] ~ categorical_logit(utility[i]');
}
