// A density that is not smooth: Laplace, and a bound in the bulk.
data {
  int<lower=1> n;
}
parameters {
  vector[n] x;
  real<lower=0> y;
}
model {
  x ~ double_exponential(0, 1);
  y ~ normal(0, 1);
}
