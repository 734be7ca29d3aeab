// Divided differences of s -> exp(-s t): the response after time t of chains of compartments with
// these rate constants. Where the constants are near to each other, series replace quotients, so that values
// and derivatives are accurate for all constants, also equal ones.

// Parameter k. If there are too few, check_parameters rejects them; an index out of range would be
// reported before.
real nth(array[] real p, int k) { return p[min(k, size(p))]; }

// The sum of (-x)^n / (n + 1)!, for abs(x) < 0.1.
real series2(real x) {
  return 1 - x * (1.0 / 2 - x * (1.0 / 6 - x * (1.0 / 24 - x * (1.0 / 120 - x * (1.0 / 720 - x * (1.0 / 5040 - x * (1.0 / 40320
         - x * (1.0 / 362880 - x * (1.0 / 3628800)))))))));
}

real differ2(real a, real b, real t) {
  real x = (a - b) * t;
  real at_b = exp(-b * t);
  real at_a = exp(-a * t);
  return abs(x) < 0.1 ? t * at_b * series2(x) : (at_b - at_a) / (a - b);
}

// The sum of h_n(-x, -y) / (n + 2)!, with h_n the sum of all products of n factors.
real series3(real x, real y) {
  real sum = 0.5;
  real h = 1;
  real power = 1;
  real f = 2;
  for (n in 1:9) {
    power *= -x;
    h = power - y * h;
    f *= n + 2;
    sum += h * (1 / f);
  }
  return sum;
}

// The constants in ascending order, so that the difference of the ends is the largest.
real sorted3(real a, real b, real c, real t) {
  return (c - a) * t < 0.1 ? square(t) * exp(-a * t) * series3((b - a) * t, (c - a) * t)
                           : (differ2(a, b, t) - differ2(b, c, t)) / (c - a);
}

// The others sort by exchanges: a and b change places if b is less, so that each has its own
// derivative also where they are equal, which fmin and fmax would give to one of them.
vector ascending(real a, real b, real c) {
  real low = b < a ? b : a;
  real high = b < a ? a : b;
  real mid = c < high ? c : high;
  return [mid < low ? mid : low, mid < low ? low : mid, c < high ? high : c]';
}

real differ3(real a, real b, real c, real t) {
  vector[3] x = ascending(a, b, c);
  return sorted3(x[1], x[2], x[3], t);
}

// The sum of h_n(-x, -y, -z) / (n + 3)!.
real series4(real x, real y, real z) {
  real sum = 1.0 / 6;
  real g = 1;
  real h = 1;
  real power = 1;
  real f = 6;
  for (n in 1:9) {
    power *= -x;
    h = power - y * h;
    g = h - z * g;
    f *= n + 3;
    sum += g * (1 / f);
  }
  return sum;
}

// Of 0 and three constants.
real from_zero(real a, real b, real c, real t) {
  vector[3] x = ascending(a, b, c);
  return x[3] * t < 0.1 ? t * square(t) * series4(x[1] * t, x[2] * t, x[3] * t)
                        : (sorted3(0, x[1], x[2], t) - sorted3(x[1], x[2], x[3], t)) / x[3];
}

// Whether after n parameters a bioavailability of 1 and a lag time of 0 follow for each compartment: programs for
// Torsten's first versions have these, and later ones ignore them.
int earlier(array[] real p, int n, int compartments) {
  if (size(p) != n + 2 * compartments)
    return 0;
  for (i in 1:compartments)
    if (p[n + i] != 1 || p[n + compartments + i] != 0)
      return 0;
  return 1;
}
