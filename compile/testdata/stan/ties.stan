// Where a derivative is not unique: ties of sort_*, max, min, fmax and fmin, the standard
// deviation of equal numbers, 0 to a power, and truncations at the ends of a support. The
// standard deviation of {x, x} is 0, and its derivative by x is not, which makes the ties.
functions {
  real weighted(vector v) {
    real s = 0;
    for (i in 1:size(v)) s += cos(i) * v[i];
    return s;
  }
  vector at(vector d, vector p) {
    vector[size(d)] y;
    for (i in 1:size(d)) y[i] = d[i] + cos(2 * i) * sd({p[i], p[i]});
    return y;
  }
}
data {
  int n;
  vector[n] d;
  vector[n] e;
  array[n] int k;
  real bottom;
  real top;
}
transformed data {
  array[n] int up = sort_indices_asc(d);
  array[n] int down = sort_indices_desc(k);
}
parameters {
  vector[n] p;
  real<lower=0> a;
  real<lower=0> b;
  real<lower=0> y;
}
transformed parameters {
  vector[n] places = to_vector(sort_indices_desc(at(e, p)));
}
model {
  vector[n] x = at(d, p);
  vector[n] z = at(e, p);
  target += weighted(p[up]) + weighted(p[down]) + dot_product(places, p) + weighted(p[sort_indices_asc(x[1:17])]);
  target += weighted(sort_asc(x)) + weighted(sort_desc(z)) + weighted(to_vector(sort_asc(to_array_1d(x[1:20]))));
  target += 2 * max(x) + 3 * min(z) + 5 * max(to_array_1d(z)) + 7 * min(to_matrix(x, 4, 10)) + 11 * max(to_matrix(z, 10, 4)');
  target += fmax(z[1], z[2]) + 2 * fmin(x[3], d[3]) + 3 * fmax(d[4], x[4]) + 5 * sum(fmax(x, d)) + 7 * fdim(x[5], d[5]);
  target += sd(rep_vector(p[7], 4)) + pow(sd({p[1], p[1]}), 1.0 / 3) + pow(sd({p[2], p[2]}), 2 + b);
  y ~ lognormal(p[1], a) T[0, ];
  y ~ inv_gamma(a, b) T[0, top];
  y ~ scaled_inv_chi_square(a, b) T[0, ];
  y ~ gamma(a, b) T[, top];
  y ~ chi_square(b) T[0, ];
  y ~ student_t(a, p[2], 2) T[bottom, top];
  y ~ double_exponential(p[3], 2) T[bottom, ];
  y ~ logistic(p[4], 2) T[, top];
}
