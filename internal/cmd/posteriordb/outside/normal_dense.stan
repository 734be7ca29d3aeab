// A normal distribution with any precision matrix, by its Cholesky factor.
data {
  int<lower=1> n;
  matrix[n, n] root;
}
parameters {
  vector[n] x;
}
model {
  target += -0.5 * dot_self(root * x);
}
