// Neal's funnel, written so that no statement tells of it, and not so wide.
data {
  int<lower=1> n;
}
parameters {
  real v;
  vector[n] x;
}
model {
  target += -0.5 * square(v) - 0.5 * exp(-v) * dot_self(x) - 0.5 * n * v;
}
