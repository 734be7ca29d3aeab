// Counts with effects of rows and of columns that cross.
data {
  int<lower=0> r;
  int<lower=0> c;
  array[r, c] int<lower=0> y;
}
parameters {
  real base;
  real<lower=0> spread_rows;
  real<lower=0> spread_columns;
  vector[r] row;
  vector[c] column;
}
model {
  base ~ normal(0, 2);
  spread_rows ~ normal(0, 1);
  spread_columns ~ normal(0, 1);
  row ~ normal(0, spread_rows);
  column ~ normal(0, spread_columns);
  for (i in 1:r)
    y[i] ~ poisson_log(base + row[i] + column);
}
