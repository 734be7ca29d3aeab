// The norm of an error relative to what is allowed.
real size_of(vector e, vector a, vector b, real rtol, real atol) {
  int n = num_elements(e);
  real s = 0;
  for (i in 1:n)
    s += square(e[i] / (atol + rtol * fmax(abs(a[i]), abs(b[i]))));
  return sqrt(s / n);
}

// A first step so short that the solution hardly changes.
real first_step(vector y, vector slope, real rtol, real atol) {
  real d0 = size_of(y, y, y, rtol, atol);
  real d1 = size_of(slope, y, y, rtol, atol);
  if (d0 < 1e-5 || d1 < 1e-5)
    return 1e-6;
  return 0.01 * d0 / d1;
}

// How many times longer the next step may be, for an error that grows with that
// power of it.
real stretch(real error, real order) {
  return fmin(5, fmax(0.2, 0.9 * pow(error, -1 / order)));
}

// Steps that no longer move the time on are the end: the solution is not finite there, or
// the tolerances ask for more digits than numbers have.
void check_step(real t, real s) {
  if (!(t + 0.1 * s > t))
    reject("the steps of the solution become too short at time ", t, ": it may not be finite beyond, or the tolerances are too small");
}

void check_times(real t0, array[] real ts, real rtol, real atol) {
  if (size(ts) == 0)
    reject("there must be at least one time of the solution, but there is none");
  for (i in 1:size(ts)) {
    real before = i == 1 ? t0 : ts[i - 1];
    if (!(i == 1 ? ts[i] > before : ts[i] >= before))
      reject("the times of the solution must come in order after the initial time ", t0, ", but time number ", i, " is ", ts[i]);
  }
  if (!(rtol > 0 && atol > 0))
    reject("the tolerances must be positive, but are ", rtol, " and ", atol);
}

// What the error of the solution is held to: 3 % of the tolerance. The estimate
// does not look at the derivatives of the solution, whose errors are larger, while
// Stan integrates them along. The gradient of an epidemic model has errors up to
// 3.3 % then (Stan 4.4), 0.6 with 1 % of the tolerance and 9 with 10.
real tighter(real tolerance) {
  return fmax(0.03 * tolerance, fmin(tolerance, 1e-12));
}
