// Grades in an order, with an effect of who gives them.
data {
  int<lower=0> n;
  int<lower=2> k;
  int<lower=1> judges;
  array[n] int<lower=1, upper=judges> judge;
  matrix[n, 3] x;
  array[n] int<lower=1, upper=k> grade;
}
parameters {
  vector[3] slope;
  ordered[k - 1] cut;
  real<lower=0> spread;
  vector[judges] lenient;
}
model {
  slope ~ normal(0, 1);
  cut ~ student_t(4, 0, 3);
  spread ~ exponential(1);
  lenient ~ normal(0, spread);
  grade ~ ordered_logistic(x * slope + lenient[judge], cut);
}
