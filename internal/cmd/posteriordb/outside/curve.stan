// A Gaussian process seen with noise, its length, height and noise unknown.
data {
  int<lower=1> n;
  array[n] real x;
  vector[n] y;
}
parameters {
  real<lower=0> reach;
  real<lower=0> height;
  real<lower=0> noise;
}
model {
  matrix[n, n] k = gp_exp_quad_cov(x, height, reach);
  reach ~ inv_gamma(3, 3);
  height ~ normal(0, 2);
  noise ~ normal(0, 1);
  for (i in 1:n)
    k[i, i] += square(noise) + 1e-9;
  y ~ multi_normal_cholesky(rep_vector(0, n), cholesky_decompose(k));
}
