// Sparse regression with the horseshoe, non-centred.
data {
  int<lower=0> n;
  int<lower=1> k;
  matrix[n, k] x;
  vector[n] y;
}
parameters {
  vector[k] z;
  vector<lower=0>[k] lambda;
  real<lower=0> tau;
  real<lower=0> sigma;
}
model {
  z ~ std_normal();
  lambda ~ student_t(3, 0, 1);
  tau ~ student_t(3, 0, 0.1);
  sigma ~ normal(0, 2);
  y ~ normal(x * (tau * lambda .* z), sigma);
}
