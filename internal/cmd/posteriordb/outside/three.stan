// Three groups, whose means are in order and whose shares are not known.
data {
  int<lower=0> n;
  vector[n] y;
}
parameters {
  ordered[3] mean_of;
  vector<lower=0>[3] scale;
  simplex[3] share;
}
model {
  mean_of ~ normal(0, 5);
  scale ~ lognormal(0, 0.5);
  share ~ dirichlet(rep_vector(3, 3));
  for (i in 1:n) {
    vector[3] part = log(share);
    for (k in 1:3)
      part[k] += normal_lpdf(y[i] | mean_of[k], scale[k]);
    target += log_sum_exp(part);
  }
}
