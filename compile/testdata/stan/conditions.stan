data {
  int<lower=0> N;
  vector[N] u;
  array[N] int k;
}
transformed data {
  int odd = 0;
  real nan = not_a_number();
  for (n in 1:N) {
    if (u[n]) odd += 1;
    if (!u[n]) odd += 10;
    if (u[n] && k[n]) odd += 100;
    if (u[n] || k[n]) odd += 1000;
  }
  if (nan) odd += 10000;
  if (!nan) odd += 100000;
  real left = 3;
  while (left) left -= 1;
}
parameters {
  vector[2] a;
  real b;
}
model {
  a ~ normal(0, 1);
  b ~ normal(odd * 1e-4, 1);
  for (n in 1:N) {
    if (u[n] * a[1]) target += a[1] * b;
    if (u[n] && a[1] > 0 || k[n]) target += a[2]^2 / 10;
    if (!(u[n] * b)) target += sin(b);
    target += (a[1] && u[n]) * a[2];
    target += logical_or(b, u[n]) + logical_and(u[n], k[n]) * b + logical_negation(u[n]) * a[1];
  }
  target += left;
}
