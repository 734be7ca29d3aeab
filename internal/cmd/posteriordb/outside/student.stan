// Heavy tails.
data {
  int<lower=1> n;
  real<lower=0> nu;
}
parameters {
  vector[n] x;
}
model {
  x ~ student_t(nu, 0, 1);
}
