// Densities as the partial sums of reduce_sum: by which name one is passed decides
// whether it drops the terms that data alone decide, whatever the name of what is called
// in it.
functions {
  real counts_lpmf(array[] int k, int start, int end, vector z) {
    return poisson_log_lupmf(k | z[start:end]);
  }
  real whole_lpmf(array[] int k, int start, int end, vector z) {
    return poisson_log_lpmf(k | z[start:end]);
  }
  real values_lpdf(array[] real y, int start, int end, real m, real s) {
    return normal_lupdf(y | m, s);
  }
  real both_lpdf(array[] real y, real m) {
    return reduce_sum(values_lupdf, y, 1, m, 2.0) + reduce_sum(values_lpdf, y, 1, m, 3.0);
  }
}
data {
  int<lower=0> N;
  array[N] int<lower=0> k;
  array[N] real y;
}
parameters {
  vector[N] z;
  real m;
  real<lower=0> s;
}
model {
  target += reduce_sum(counts_lupmf, k, 1, z);
  target += reduce_sum(counts_lpmf, k, 1, 2 * z);
  target += reduce_sum_static(counts_lupmf, k, 2, 3 * z);
  target += reduce_sum(whole_lupmf, k, 1, z);
  target += reduce_sum(values_lupdf, y, 1, m, s);
  target += reduce_sum(values_lpdf, y, 1, m, s + 1);
  target += reduce_sum(values_lupdf, y, 1, m, 2.0);
  target += reduce_sum(values_lupdf, y, 1, 1.0, 2.0);
  y ~ both(m);
  target += both_lpdf(y | 2 * m) + both_lupdf(y | s);
}
