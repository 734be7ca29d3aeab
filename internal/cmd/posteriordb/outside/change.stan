// Counts whose rate changes once, nobody knows when.
data {
  int<lower=1> n;
  array[n] int<lower=0> y;
}
parameters {
  real<lower=0> early;
  real<lower=0> late;
}
model {
  vector[n] at = rep_vector(-log(n), n);
  early ~ exponential(0.3);
  late ~ exponential(0.3);
  for (s in 1:n)
    for (t in 1:n)
      at[s] += poisson_lpmf(y[t] | t < s ? early : late);
  target += log_sum_exp(at);
}
