// Rosenbrock's function as a density.
parameters {
  real a;
  real b;
}
model {
  target += -(100 * square(b - square(a)) + square(1 - a)) / 20;
}
