// A normal distribution with the same correlation between all coordinates.
data {
  int<lower=1> n;
  real<lower=0, upper=1> rho;
}
parameters {
  vector[n] x;
}
model {
  target += -0.5 * (dot_self(x) - rho / (1 + (n - 1) * rho) * square(sum(x))) / (1 - rho);
}
