// The point of the double exponential formula at t (H. Takahasi, M. Mori, 1974),
// by the kind of interval: 0 finite, 1 to infinity, 2 from minus infinity, 3 both.
real weighted(real t, real a, real b, int kind $params) {
  real u = 0.5 * pi() * sinh(t);
  real w = 0.5 * pi() * cosh(t);
  if (kind == 0) {
    real half = 0.5 * (b - a);
    real near = half * 2 * inv_logit(-2 * abs(u)); // to the nearer end
    real x = t < 0 ? a + near : b - near;
    return half * w / square(cosh(u)) * integrand(x, t < 0 ? -near : near $args);
  }
  if (kind == 1)
    return exp(u) * w * integrand(a + exp(u), not_a_number() $args);
  if (kind == 2)
    return exp(u) * w * integrand(b - exp(u), not_a_number() $args);
  return cosh(u) * w * integrand(sinh(u), not_a_number() $args);
}

// The integral; each of the refinements halves the step. Where the difference that
// it makes is within a tolerance, that was the last.
real area(real a, real b, real tolerance, real absolute, int refinements $params) {
  int kind = (b == positive_infinity() ? 1 : 0) + (a == negative_infinity() ? 2 : 0);
  real range = kind == 0 ? 3.2 : 4.2;
  real sum = weighted(0, a, b, kind $args);
  real total;
  real error;
  if (a == b)
    return 0;
  if (!(a <= b))
    reject("the lower limit of the integral must not be above the upper one, but they are ", a, " and ", b);
  for (k in 1:8)
    sum += weighted(k * range / 8, a, b, kind $args) + weighted(-k * range / 8, a, b, kind $args);
  total = range / 8 * sum;
  error = positive_infinity();
  for (level in 1:refinements)
    if (error > fmax(absolute, tolerance * abs(detach(total)))) {
      real old = total;
      int n = 8;
      for (l in 2:level) n *= 2;
      for (k in 1:n)
        sum += weighted((2 * k - 1) * range / (2 * n), a, b, kind $args) + weighted(-(2 * k - 1) * range / (2 * n), a, b, kind $args);
      total = range / (2 * n) * sum;
      error = abs(detach(total - old));
    }
  if (refinements > 0 && !(error <= fmax(absolute, tolerance * abs(detach(total)))))
    reject("the integral does not converge to a relative error of ", tolerance, "; the estimate of the error is ", error);
  return total;
}
