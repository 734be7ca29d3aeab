// The equations of the stages of an implicit Runge-Kutta method with matrix a and
// nodes c, for a step of length h from y: k are the derivatives of the stages, one
// after another.
vector stage_residuals(real t, vector y, real h, matrix a, vector c, vector k $params) {
  int n = num_elements(y);
  int m = num_elements(c);
  matrix[n, m] slopes = to_matrix(k, n, m);
  matrix[n, m] moves = h * slopes * a';
  matrix[n, m] out;
  for (i in 1:m)
    out[, i] = residual(t + c[i] * h, y + moves[, i], slopes[, i] $args);
  return to_vector(out);
}

// The inverse of their derivatives by k.
matrix stage_inverse(real t, vector y, real h, matrix a, vector c, vector k $params) {
  int n = num_elements(y);
  int m = num_elements(c);
  matrix[n, m] slopes = to_matrix(k, n, m);
  matrix[n, m] moves = h * slopes * a';
  matrix[n * m, n * m] j;
  for (i in 1:m) {
    vector[n] w = y + moves[, i];
    matrix[n, n] by_state = jacobian_residual_1(t + c[i] * h, w, slopes[, i] $args);
    matrix[n, n] by_slope = jacobian_residual_2(t + c[i] * h, w, slopes[, i] $args);
    for (l in 1:m)
      j[((i - 1) * n + 1):(i * n), ((l - 1) * n + 1):(l * n)] = h * a[i, l] * by_state + (i == l ? 1 : 0) * by_slope;
  }
  return inverse(j);
}

// The solution of the equations near k, taken as constant by derivatives, by the
// simplified Newton method; not a number where that does not converge.
vector solved(real t, vector y, real h, matrix a, vector c, vector k0, real rtol, real atol $params) {
  int n = num_elements(y);
  int m = num_elements(c);
  vector[n * m] k = k0;
  vector[n * m] scale = to_vector(rep_matrix(y, m));
  matrix[n * m, n * m] inv = detach(stage_inverse(t, y, h, a, c, k $args));
  real size = 1;
  int steps = 0;
  while (size > 1e-3 && steps < 10) {
    vector[n * m] d = detach(inv * stage_residuals(t, y, h, a, c, k $args));
    size = size_of(h * d, scale, scale, rtol, atol);
    k -= d;
    steps += 1;
  }
  return size <= 1e-3 ? k : rep_vector(not_a_number(), n * m);
}

// The method Radau IIA of order 9, with the difference between the slope before the
// step and that of the collocation polynomial there as the estimate, of order 5, of
// the error (Hairer and Wanner, Solving Ordinary Differential Equations II, sections
// IV.5, IV.8 and VI.1). The derivatives follow from three more steps of the
// simplified Newton method at the solution, of which the first is exact to first, the
// second to second and the third to third order. The lengths of the steps have none.
//
// The errors of the solution and its derivatives are smaller than the estimate, the
// more so the smaller they are: for a reaction, a stiff oscillator and a pendulum with
// a constraint, 2e-11 to 3e-8 where the estimate is 1e-6, and at most 7e-12 where it is
// 1e-8. So the estimate is held to 1e-4 where the tolerance is 1e-4, and to 1e-8 where
// it is 1e-10. A pair of orders 3 and 5 took 40 times as many steps there.
array[] vector integrate_implicit(vector y0, vector yp0, real t0, array[] real ts, real relative, real absolute, int most $params) {
  real rtol = 0.0464 * pow(relative, 2.0 / 3);
  real atol = 0.0464 * pow(absolute, 2.0 / 3);
  int n = num_elements(y0);
  int m = size(ts);
  array[m] vector[n] out;
  vector[5] c = [0.0571041961145176821931, 0.2768430136381238276800, 0.5835904323689168200566, 0.8602401356562194478479, 1]';
  matrix[5, 5] powers;
  matrix[5, 5] integrals;
  vector[n] y = y0;
  vector[n] yp = detach(yp0);
  real t = t0;
  for (i in 1:5) {
    powers[, i] = c ^ (i - 1);
    integrals[, i] = c ^ i / i;
  }
  matrix[5, 5] a = integrals / powers;
  vector[5] before = powers' \ [1, 0, 0, 0, 0]'; // of the polynomial at the beginning of the step
  check_times(t0, ts, relative, absolute);
  if (num_elements(yp0) != n)
    reject("there must be as many derivatives as states, but there are ", num_elements(yp0), " and ", n);
  if (num_elements(residual(t0, y0, yp0 $args)) != n)
    reject("there must be as many equations as states, but there are ", num_elements(residual(t0, y0, yp0 $args)), " and ", n);
  // The derivatives that are given need not fit: those of a short step do.
  vector[n] fits = to_matrix(solved(t, detach(y0), 1e-6, a, c, to_vector(rep_matrix(yp, 5)), rtol, atol $args), n, 5) * before;
  if (!is_nan(sum(fits)))
    yp = fits;
  real h = first_step(detach(y0), yp, rtol, atol);
  // What a step finds is carried to the next trip, which makes the step, so that the
  // derivatives of a trip begin at what was found and do not find it again.
  vector[5 * n] k = rep_vector(0, 5 * n);
  real s = 0;
  // The slopes of the next step start where the polynomial of the one before goes, unless
  // that is far.
  matrix[5, 5] coefficients = inverse(powers)';
  vector[5 * n] next = to_vector(rep_matrix(yp, 5));
  real known = 0; // length of the step that they come from
  for (i in 1:m) {
    real end = ts[i];
    int steps = 0;
    int found = 0;
    while (t < end || found) {
      if (found) {
        vector[5 * n] now = k;
        matrix[5 * n, 5 * n] inv = detach(stage_inverse(t, detach(y), s, a, c, k $args));
        for (l in 1:3)
          now -= inv * stage_residuals(t, y, s, a, c, now $args);
        matrix[n, 5] slopes = to_matrix(now, n, 5);
        y += s * (slopes * a[5]');
        yp = detach(slopes[, 5]);
        next = detach(now);
        known = s;
        if (found == 2) t = end; else t += s;
      }
      found = 0;
      if (t < end) {
        int last = t + 1.001 * h >= end;
        s = last ? end - t : h;
        if (!last)
          check_step(t, detach(s), detach(y) $args);
        vector[n] start = detach(y);
        vector[5 * n] guess;
        if (s <= 2 * known) {
          vector[5] at = 1 + c * (s / known);
          matrix[5, 5] there;
          there[1] = rep_row_vector(1, 5);
          for (l in 2:5)
            there[l] = there[l - 1] .* at';
          guess = to_vector(to_matrix(next, n, 5) * (coefficients * there));
        } else
          guess = to_vector(rep_matrix(yp, 5));
        k = solved(t, start, s, a, c, guess, rtol, atol $args);
        matrix[n, 5] slopes = to_matrix(k, n, 5);
        real error = size_of(0.16 * s * (slopes * before - yp), start, start + s * (slopes * a[5]'), rtol, atol);
        if (is_nan(error))
          error = 1e6;
        steps += 1;
        if (steps > most)
          reject("the solution of the system took more than ", most, " steps, at time ", t, $where ", in the state ", y);
        if (error <= 1)
          found = 1 + last;
        if (!(last && error <= 1))
          h = detach(s) * stretch(error, 6);
      }
    }
    out[i] = y;
  }
  return out;
}
