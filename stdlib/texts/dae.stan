// The equations of the stages of an implicit Runge-Kutta method with matrix a and
// nodes c, for a step of length h from y: k are the derivatives of the stages, one
// after another.
vector stage_residuals(real t, vector y, real h, matrix a, vector c, vector k $params) {
  int n = num_elements(y);
  int m = num_elements(c);
  matrix[n, m] slopes = to_matrix(k, n, m);
  matrix[n, m] out;
  for (i in 1:m)
    out[, i] = residual(t + c[i] * h, y + h * (slopes * a[i]'), slopes[, i] $args);
  return to_vector(out);
}

// A step of Newton's method for them.
vector newton(real t, vector y, real h, matrix a, vector c, vector k $params) {
  int n = num_elements(y);
  int m = num_elements(c);
  matrix[n, m] slopes = to_matrix(k, n, m);
  matrix[n * m, n * m] j;
  for (i in 1:m) {
    vector[n] w = y + h * (slopes * a[i]');
    matrix[n, n] by_state = jacobian_residual_1(t + c[i] * h, w, slopes[, i] $args);
    matrix[n, n] by_slope = jacobian_residual_2(t + c[i] * h, w, slopes[, i] $args);
    for (l in 1:m)
      j[((i - 1) * n + 1):(i * n), ((l - 1) * n + 1):(l * n)] = h * a[i, l] * by_state + (i == l ? 1 : 0) * by_slope;
  }
  return k - j \ stage_residuals(t, y, h, a, c, k $args);
}

// The solution of the equations, taken as constant by derivatives.
vector solved(real t, vector y, real h, matrix a, vector c, vector slope, real rtol, real atol $params) {
  int n = num_elements(y);
  int m = num_elements(c);
  vector[n * m] k = to_vector(rep_matrix(slope, m));
  vector[n * m] scale = to_vector(rep_matrix(y, m));
  real size = 1;
  int steps = 0;
  while (size > 1e-3 && steps < 10) {
    vector[n * m] next = detach(newton(t, y, h, a, c, k $args));
    size = size_of(h * (next - k), scale, scale, rtol, atol);
    k = next;
    steps += 1;
  }
  return k;
}

// The method Radau IIA of order 5, which is that of order 3 less the error estimate
// (Hairer and Wanner, Solving Ordinary Differential Equations II, sections IV.5 and
// VI.1). The derivatives follow from two more steps of Newton's method at the
// solution, as in algebraic equations. The lengths of the steps have none.
array[] vector integrate_implicit(vector y0, vector yp0, real t0, array[] real ts, real relative, real absolute, int most $params) {
  real rtol = tighter(relative);
  real atol = tighter(absolute);
  int n = num_elements(y0);
  int m = size(ts);
  array[m] vector[n] out;
  vector[n] y = y0;
  vector[n] yp = detach(yp0);
  real t = t0;
  real h = first_step(detach(y0), yp, rtol, atol);
  real r = sqrt(6);
  matrix[2, 2] a3 = [[5.0 / 12, -1.0 / 12], [0.75, 0.25]];
  vector[2] c3 = [1.0 / 3, 1]';
  matrix[3, 3] a5 = [[(88 - 7 * r) / 360, (296 - 169 * r) / 1800, (-2 + 3 * r) / 225],
                     [(296 + 169 * r) / 1800, (88 + 7 * r) / 360, (-2 - 3 * r) / 225],
                     [(16 - r) / 36, (16 + r) / 36, 1.0 / 9]];
  vector[3] c5 = [(4 - r) / 10, (4 + r) / 10, 1]';
  check_times(t0, ts, relative, absolute);
  if (num_elements(yp0) != n)
    reject("there must be as many derivatives as states, but there are ", num_elements(yp0), " and ", n);
  if (num_elements(residual(t0, y0, yp0 $args)) != n)
    reject("there must be as many equations as states, but there are ", num_elements(residual(t0, y0, yp0 $args)), " and ", n);
  for (i in 1:m) {
    real end = ts[i];
    int steps = 0;
    while (t < end) {
      int last = t + 1.001 * h >= end;
      real s = last ? end - t : h;
      vector[n] start = detach(y);
      vector[2 * n] k3 = solved(t, start, s, a3, c3, yp, rtol, atol $args);
      vector[3 * n] k = solved(t, start, s, a5, c5, yp, rtol, atol $args);
      vector[n] z;
      real error;
      for (l in 1:2)
        k = newton(t, y, s, a5, c5, k $args);
      z = y + s * (to_matrix(k, n, 3) * a5[3]');
      error = size_of(detach(z) - start - s * (to_matrix(k3, n, 2) * a3[2]'), start, detach(z), rtol, atol);
      steps += 1;
      if (steps > most)
        reject("the solution of the system took more than ", most, " steps, at time ", t);
      if (error <= 1) {
        y = z;
        yp = detach(k[(2 * n + 1):(3 * n)]);
        if (last) t = end; else t += s;
      }
      if (!(last && error <= 1))
        h = detach(s) * stretch(error, 4);
    }
    out[i] = y;
  }
  return out;
}
