// A normal distribution whose neighbours are correlated, with scales that differ.
data {
  int<lower=1> n;
  real rho;
  vector<lower=0>[n] scale;
}
parameters {
  vector[n] x;
}
model {
  vector[n] z = x ./ scale;
  z[1] ~ std_normal();
  z[2:n] ~ normal(rho * z[1:n - 1], sqrt(1 - square(rho)));
}
