// A mixture of two normal distributions in order.
data {
  int<lower=0> n;
  vector[n] y;
}
parameters {
  ordered[2] mu;
  vector<lower=0>[2] sigma;
  real<lower=0, upper=1> share;
}
model {
  mu ~ normal(0, 5);
  sigma ~ normal(0, 2);
  share ~ beta(2, 2);
  for (i in 1:n)
    target += log_mix(share, normal_lpdf(y[i] | mu[1], sigma[1]), normal_lpdf(y[i] | mu[2], sigma[2]));
}
