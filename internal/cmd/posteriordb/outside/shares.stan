// Shares between 0 and 1, whose precision depends on a predictor too.
data {
  int<lower=0> n;
  vector[n] x;
  vector<lower=0, upper=1>[n] share;
}
parameters {
  vector[2] mean_at;
  vector[2] precision_at;
}
model {
  vector[n] mu = inv_logit(mean_at[1] + mean_at[2] * x);
  vector[n] phi = exp(precision_at[1] + precision_at[2] * x);
  mean_at ~ normal(0, 2);
  precision_at ~ normal(2, 2);
  share ~ beta_proportion(mu, phi);
}
