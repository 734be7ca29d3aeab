// Every constrained type that Stan 2.32 has, alone and in arrays, with a density
// that weighs every element differently.
functions {
  real weigh(vector x) {
    real s = 0;
    for (i in 1:size(x)) s += cos(i) * x[i] + 0.1 * square(x[i]);
    return s;
  }
  real weigh_matrix(matrix x) {
    return weigh(to_vector(x));
  }
}
data {
  int<lower=1> K;
  int<lower=0> J;
  simplex[K] shares;
  corr_matrix[2] together;
  cholesky_factor_cov[3, 2] high;
}
transformed data {
  cov_matrix[3] spread = high * high' + diag_matrix(rep_vector(1, 3));
}
parameters {
  ordered[K] o;
  array[2] positive_ordered[K] po;
  simplex[K] s;
  array[J, 2] simplex[3] sa;
  unit_vector[K] u;
  array[J] unit_vector[2] ua;
  corr_matrix[K] R;
  array[J] corr_matrix[3] Ra;
  cov_matrix[K] S;
  array[2, J] cov_matrix[2] Sa;
  cholesky_factor_corr[K] L;
  array[J] cholesky_factor_corr[3] La;
  cholesky_factor_cov[K] C;
  array[J] cholesky_factor_cov[3, 2] Ca;
  simplex[1] one;
  corr_matrix[1] unit;
}
transformed parameters {
  simplex[K] mixed = 0.5 * (s + shares);
  cov_matrix[3] sum_of = spread + Ra[1];
}
model {
  target += weigh(o) + weigh(s) + weigh(u) + weigh_matrix(R) + weigh_matrix(S);
  target += weigh_matrix(L) + weigh_matrix(C) + weigh(mixed) + weigh_matrix(sum_of);
  target += sum(one) + sum(unit) + sum(together);
  for (i in 1:2) target += i * weigh(po[i]);
  for (j in 1:J) {
    target += j * (weigh(ua[j]) + weigh_matrix(Ra[j]) + weigh_matrix(La[j]) + weigh_matrix(Ca[j]));
    for (i in 1:2) target += (i + j) * (weigh(sa[j, i]) + weigh_matrix(Sa[i, j]));
  }
  o ~ normal(0, 2);
  to_vector(S) ~ normal(1, 2);
}
