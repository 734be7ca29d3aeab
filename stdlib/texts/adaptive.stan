// The norm of an error relative to what is allowed, and its square.
real size_of(vector e, vector a, vector b, real rtol, real atol) {
  return sqrt(square_size(e, a, b, rtol, atol));
}

real square_size(vector e, vector a, vector b, real rtol, real atol) {
  int n = num_elements(e);
  real s = 0;
  for (i in 1:n)
    s += square(e[i] / (atol + rtol * fmax(abs(a[i]), abs(b[i]))));
  return s * (1.0 / n);
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

// The longest step of an explicit method at which what decays fast does decay, from
// two slopes at the same time, at y and at z; before, if these are too near to each other to
// tell. Without it the error estimate alone keeps steps at the bound of stability, where
// the solution is held to its tolerance, but its derivatives, which the estimate does not
// see, are not damped: with an elimination that saturates, at 300 points up to 2 from
// where chains start, gradients of 22 were wrong by more than a tenth, some by a factor of 20000;
// with steps of at most 3 in units of the fastest decay by 4e-5 at most, with 4 by 2e-4.
// (DOP853 is stable up to 6.1. Hairer and Wanner, Solving Ordinary Differential Equations II,
// section IV.2, tell by this estimate that a system is stiff.)
real damped(vector slope_y, vector slope_z, vector y, vector z, real atol, real before) {
  real apart = 0;
  real slopes = 0;
  for (i in 1:num_elements(y)) {
    real scale = abs(y[i]) + atol;
    apart += square((z[i] - y[i]) / scale);
    slopes += square((slope_z[i] - slope_y[i]) / scale);
  }
  if (!(apart > 1e-24))
    return before;
  return 3 * sqrt(apart / slopes);
}

// beside is a small step in no particular direction, upwards in each.
vector beside(vector z, real atol) {
  int n = num_elements(z);
  vector[n] x;
  for (i in 1:n)
    x[i] = 1e-3 * (1 + cos(i)) * (abs(z[i]) + atol);
  return x;
}

// Steps that no longer move the time on are the end: the solution is not finite there, or
// the tolerances ask for more digits than numbers have.
void check_step(real t, real s, vector y $params) {
  if (!(t + 0.1 * s > t))
    reject("the steps of the solution become too short at time ", t, $where ", in the state ", y,
           ": it may not be finite beyond, or the tolerances are too small");
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
