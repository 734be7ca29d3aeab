// The degree of a series that is a polynomial: with an upper parameter -m, m, if no lower one
// makes a denominator 0 before; otherwise infinity.
real degree(vector a, vector b) {
  real m = positive_infinity();
  for (i in 1:num_elements(a))
    if (a[i] <= 0 && a[i] == round(a[i]))
      m = fmin(m, -detach(a[i]));
  for (i in 1:num_elements(b))
    if (b[i] <= 0 && b[i] == round(b[i]) && -b[i] < m)
      reject("a lower parameter of a hypergeometric function must not be 0 or a negative whole number, but is ", b[i]);
  return m;
}

// The series Σ Π(a)ₙ/Π(b)ₙ zⁿ/n! (DLMF 16.2.1), up to where terms get smaller and
// all that follow together are below the rounding of the sum.
real series(vector a, vector b, real z) {
  real term = 1;
  real sum = 1;
  real largest = 1;
  real growth = 1;
  real k = 0;
  real last = degree(a, b);
  while (k < last && (k < 4 || term != 0 && !(growth < 1 && abs(detach(term)) <= 1e-17 * (1 - growth) * abs(detach(sum))))) {
    real r = z / (k + 1);
    for (i in 1:num_elements(a))
      r *= a[i] + k;
    for (i in 1:num_elements(b))
      r /= b[i] + k;
    growth = abs(detach(r));
    term *= r;
    sum += term;
    largest = fmax(largest, abs(detach(term)));
    k += 1;
    if (k > 1000000 || !(largest < 1e300))
      reject("the series of the hypergeometric function does not converge, at z = ", z);
  }
  if (!(1e-16 * largest <= 1e-6 * abs(detach(sum))))
    reject("the terms of the series of the hypergeometric function cancel, at z = ", z);
  return sum;
}

real generalised(vector a, vector b, real z) {
  int p = num_elements(a);
  int q = num_elements(b);
  if (degree(a, b) < positive_infinity())
    return series(a, b, z);
  if (p > q + 1 && z != 0)
    reject("the hypergeometric function of ", p, " upper and ", q, " lower parameters is not defined but at z = 0; z is ", z);
  if (p == q + 1 && !(abs(z) < 1 || abs(z) == 1 && sum(b) > sum(a)))
    reject("the series of the hypergeometric function converges for |z| < 1, but z is ", z);
  if (p == 1 && q == 1) {
    if (z < 0) // Kummer's transformation: no terms of changing sign
      return exp(z) * series(b - a, b, -z);
  }
  return series(a, b, z);
}

// The sign of the gamma function.
real sign_gamma(real x) {
  return x > 0 || fmod(floor(x), 2) == 0 ? 1 : -1;
}

real gauss(real a, real b, real c, real z) {
  if (degree([a, b]', [c]') < positive_infinity())
    return series([a, b]', [c]', z);
  if (z < 0) {
    if (abs(b) < abs(a))
      return pow(1 - z, -b) * series([b, c - a]', [c]', z / (z - 1));
    return pow(1 - z, -a) * series([a, c - b]', [c]', z / (z - 1));
  }
  if (z < 1)
    return series([a, b]', [c]', z);
  if (z == 1 && c - a - b > 0) {
    real d = c - a - b;
    return exp(lgamma(c) + lgamma(d) - lgamma(c - a) - lgamma(c - b)) * sign_gamma(c) * sign_gamma(c - a) * sign_gamma(c - b);
  }
  reject("the hypergeometric function is defined for z < 1, and for z = 1 if c > a + b, but z is ", z);
}
