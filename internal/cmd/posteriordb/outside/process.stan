// Counts whose rate is a Gaussian process.
data {
  int<lower=1> n;
  array[n] real x;
  array[n] int<lower=0> y;
}
parameters {
  real<lower=0> length;
  real<lower=0> size;
  real mean;
  vector[n] z;
}
model {
  matrix[n, n] k = gp_exp_quad_cov(x, size, length);
  for (i in 1:n)
    k[i, i] += 1e-9;
  length ~ inv_gamma(5, 5);
  size ~ normal(0, 1);
  mean ~ normal(0, 2);
  z ~ std_normal();
  y ~ poisson_log(mean + cholesky_decompose(k) * z);
}
