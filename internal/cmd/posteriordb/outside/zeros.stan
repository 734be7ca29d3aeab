// Counts with more zeros than a Poisson distribution has.
data {
  int<lower=0> n;
  vector[n] x;
  array[n] int<lower=0> y;
}
parameters {
  vector[2] rate_at;
  vector[2] zero_at;
}
model {
  rate_at ~ normal(0, 2);
  zero_at ~ normal(0, 2);
  for (i in 1:n) {
    real eta = rate_at[1] + rate_at[2] * x[i];
    real zero = zero_at[1] + zero_at[2] * x[i];
    if (y[i] == 0)
      target += log_sum_exp(bernoulli_logit_lpmf(1 | zero), bernoulli_logit_lpmf(0 | zero) + poisson_log_lpmf(0 | eta));
    else
      target += bernoulli_logit_lpmf(0 | zero) + poisson_log_lpmf(y[i] | eta);
  }
}
