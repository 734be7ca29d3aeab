// The point of the double exponential formula at t (H. Takahasi, M. Mori, 1974),
// by the kind of interval: 0 finite, 1 to infinity, 2 from minus infinity, 3 both.
real weighted(real t, real a, real b, int kind $params) {
  real u = 0.5 * pi() * sinh(t);
  real w = 0.5 * pi() * cosh(t);
  if (kind == 0) {
    real half = 0.5 * (b - a);
    real near = half * 2 * inv_logit(-2 * abs(u)); // to the nearer end
    real left = t < 0; // as a number: no conditional for each point
    real x = left * (a + near) + (1 - left) * (b - near);
    return half * w / square(cosh(u)) * integrand(x, (1 - 2 * left) * near $args);
  }
  if (kind == 1)
    return exp(u) * w * integrand(a + exp(u), not_a_number() $args);
  if (kind == 2)
    return exp(u) * w * integrand(b - exp(u), not_a_number() $args);
  return cosh(u) * w * integrand(sinh(u), not_a_number() $args);
}

// The integral from its estimate by n steps, old, where sum is that of their points:
// each of the refinements that are left halves the step. Where the difference that it
// makes is within a tolerance, that was the last. One calls the next, and is no
// iteration of a loop, so that each knows its points, which run in lanes.
real refined(real sum, real old, int n, real range, real a, real b, int kind, real tolerance, real absolute, int refinements $params) {
  real more = sum;
  real total;
  real error;
  real allowed;
  for (k in 1:n)
    more += weighted((2 * k - n - 1) * range / n, a, b, kind $args);
  total = range / n * more;
  error = abs(detach(total - old));
  allowed = fmax(absolute, tolerance * abs(detach(total)));
  if (refinements > 1 && error > allowed)
    return refined(more, total, 2 * n, range, a, b, kind, tolerance, absolute, refinements - 1 $args);
  if (!(error <= allowed))
    reject("the integral does not converge to a relative error of ", tolerance, "; the estimate of the error is ", error);
  return total;
}

// The integral, by as many refinements as it takes. Two, where there may be more, are
// made at once: few integrals are good to a part in 10^8 without, and where there is one
// for each row of data all points of all rows run in lanes, which those of refinements
// that only some rows need do not.
real area(real a, real b, real tolerance, real absolute, int refinements $params) {
  int kind = (b == positive_infinity() ? 1 : 0) + (a == negative_infinity() ? 2 : 0);
  real range = kind == 0 ? 3.2 : 4.2;
  int atOnce = min(2, max(refinements - 1, 0));
  int n = atOnce == 2 ? 32 : atOnce == 1 ? 16 : 8;
  real sum = 0;
  if (a == b)
    return 0;
  if (!(a <= b))
    reject("the lower limit of the integral must not be above the upper one, but they are ", a, " and ", b);
  for (k in -n:n)
    sum += weighted(k * range / n, a, b, kind $args);
  if (refinements == 0)
    return range / n * sum;
  return refined(sum, range / n * sum, 2 * n, range, a, b, kind, tolerance, absolute, refinements - atOnce $args);
}
