// The explicit method of Dormand and Prince of order 5, with its error estimate
// of order 4 (J. R. Dormand, P. J. Prince, J. Comp. Appl. Math. 6, 1980). The
// lengths of the steps have no derivatives: the steps are those of a fixed grid.
array[] vector integrate(vector y0, real t0, array[] real ts, real relative, real absolute, int most $params) {
  real rtol = tighter(relative);
  real atol = tighter(absolute);
  int n = num_elements(y0);
  int m = size(ts);
  array[m] vector[n] out;
  vector[n] y = y0;
  real t = t0;
  vector[n] k1 = rhs(t0, y0 $args);
  real h = first_step(detach(y0), detach(k1), rtol, atol);
  check_times(t0, ts, relative, absolute);
  for (i in 1:m) {
    real end = ts[i];
    int steps = 0;
    while (t < end) {
      int last = t + 1.001 * h >= end;
      real s = last ? end - t : h;
      vector[n] k2 = rhs(t + s / 5, y + s / 5 * k1 $args);
      vector[n] k3 = rhs(t + 3 * s / 10, y + s * (3.0 / 40 * k1 + 9.0 / 40 * k2) $args);
      vector[n] k4 = rhs(t + 4 * s / 5, y + s * (44.0 / 45 * k1 - 56.0 / 15 * k2 + 32.0 / 9 * k3) $args);
      vector[n] k5 = rhs(t + 8 * s / 9,
                         y + s * (19372.0 / 6561 * k1 - 25360.0 / 2187 * k2 + 64448.0 / 6561 * k3 - 212.0 / 729 * k4) $args);
      vector[n] k6 = rhs(t + s, y + s * (9017.0 / 3168 * k1 - 355.0 / 33 * k2 + 46732.0 / 5247 * k3 + 49.0 / 176 * k4
                                         - 5103.0 / 18656 * k5) $args);
      vector[n] z = y + s * (35.0 / 384 * k1 + 500.0 / 1113 * k3 + 125.0 / 192 * k4 - 2187.0 / 6784 * k5 + 11.0 / 84 * k6);
      vector[n] k7 = rhs(t + s, z $args);
      vector[n] e = s * (71.0 / 57600 * k1 - 71.0 / 16695 * k3 + 71.0 / 1920 * k4 - 17253.0 / 339200 * k5 + 22.0 / 525 * k6
                         - 1.0 / 40 * k7);
      real error = size_of(detach(e), detach(y), detach(z), rtol, atol);
      steps += 1;
      if (steps > most)
        reject("the solution of the differential equation took more than ", most, " steps, at time ", t);
      if (error <= 1) {
        y = z;
        k1 = k7;
        if (last) t = end; else t += s;
      }
      if (!(last && error <= 1))
        h = detach(s) * stretch(error, 5);
    }
    out[i] = y;
  }
  return out;
}
