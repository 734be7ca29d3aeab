// For stiff systems: the linearly implicit Euler method, extrapolated to order 8
// (P. Deuflhard, SIAM Review 27, 1985; Hairer and Wanner, Solving Ordinary
// Differential Equations II, section IV.9). The lengths of the steps have no
// derivatives: the steps are those of a fixed grid.
array[] vector integrate_stiff(vector y0, real t0, array[] real ts, real relative, real absolute, int most $params) {
  real rtol = tighter(relative);
  real atol = tighter(absolute);
  int n = num_elements(y0);
  int m = size(ts);
  array[m] vector[n] out;
  vector[n] y = y0;
  real t = t0;
  real h = first_step(detach(y0), detach(rhs(t0, y0 $args)), rtol, atol);
  check_times(t0, ts, relative, absolute);
  for (i in 1:m) {
    real end = ts[i];
    int steps = 0;
    while (t < end) {
      int last = t + 1.001 * h >= end;
      real s = last ? end - t : h;
      if (!last)
        check_step(t, detach(s), detach(y) $args);
      matrix[n, n] slope = jacobian_rhs_1(t, y $args);
      array[8] vector[n] table;
      real error;
      for (j in 1:8) {
        real g = s / j;
        matrix[n, n] a = identity_matrix(n) - g * slope;
        vector[n] w = y;
        for (k in 1:j)
          w += a \ (g * rhs(t + k * g, w $args));
        table[j] = w;
        for (k in 1:(j - 1))
          table[j - k] = table[j - k + 1] + (table[j - k + 1] - table[j - k]) / (j * 1.0 / (j - k) - 1);
      }
      error = size_of(detach(table[1] - table[2]), detach(y), detach(table[1]), rtol, atol);
      steps += 1;
      if (steps > most)
        reject("the solution of the differential equation took more than ", most, " steps, at time ", t, $where ", in the state ", y);
      if (error <= 1) {
        y = table[1];
        if (last) t = end; else t += s;
      }
      if (!(last && error <= 1))
        h = detach(s) * stretch(error, 8);
    }
    out[i] = y;
  }
  return out;
}
