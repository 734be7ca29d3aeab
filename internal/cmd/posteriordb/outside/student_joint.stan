// Heavy tails that all coordinates share.
data {
  int<lower=1> n;
  real<lower=0> nu;
}
parameters {
  vector[n] x;
}
model {
  target += -0.5 * (nu + n) * log1p(dot_self(x) / nu);
}
