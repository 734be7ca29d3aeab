// The explicit method of Dormand and Prince of order 8, with the error estimate of
// orders 5 and 3 of Hairer, Nørsett and Wanner (Solving Ordinary Differential
// Equations I, section II.10). The lengths of the steps have no derivatives: the
// steps are those of a fixed grid.
// Where stability and not accuracy has bounded 100 steps before one of the times, the stiff solver
// goes on to that time. Programs that leave this to another one, see LowerLeaving in package ir, do so
// after 1000 steps, since then everything is computed again.
array[] vector integrate(vector y0, real t0, array[] real ts, real relative, real absolute, int most $params) {
  real rtol = tighter(relative);
  real atol = tighter(absolute);
  int n = num_elements(y0);
  int m = size(ts);
  array[m] vector[n] out;
  vector[n] y = y0;
  real t = t0;
  check_times(t0, ts, relative, absolute);
  vector[n] k1 = rhs(t0, y0 $args);
  real h = first_step(detach(y0), detach(k1), rtol, atol);
  real longest = positive_infinity();
  if (dot_self(detach(k1)) == 0) {
    // At an equilibrium two values at the same time are the same.
    vector[n] aside = beside(detach(y0), atol);
    longest = detach(damped(k1, rhs(t0, y0 + aside $args), y0, y0 + aside, atol, longest));
  }
  for (i in 1:m) {
    real end = ts[i];
    int steps = 0;
    int bounded = 0;
    while (t < end && steps < most && bounded < ($leaves ? 1000 : 100)) {
      int last = t + 1.001 * h >= end;
      real s = last ? end - t : h;
      if (!last)
        check_step(t, detach(s), detach(y) $args);
      vector[n] k2 = rhs(t + s * 0.05260015195876773, y + s * (0.05260015195876773 * k1) $args);
      vector[n] k3 = rhs(t + s * 0.0789002279381516, y + s * (0.0197250569845379 * k1 + 0.0591751709536137 * k2) $args);
      vector[n] k4 = rhs(t + s * 0.1183503419072274, y + s * (0.02958758547680685 * k1 + 0.08876275643042054 * k3) $args);
      vector[n] k5 = rhs(t + s * 0.2816496580927726, y + s * (0.2413651341592667 * k1 - 0.8845494793282861 * k3 + 0.924834003261792 * k4) $args);
      vector[n] k6 = rhs(t + s * 1.0 / 3, y + s * (0.037037037037037035 * k1 + 0.17082860872947386 * k4 + 0.12546768756682242 * k5) $args);
      vector[n] k7 = rhs(t + s * 0.25, y + s * (0.037109375 * k1 + 0.17025221101954405 * k4 + 0.06021653898045596 * k5
                               - 0.017578125 * k6) $args);
      vector[n] k8 = rhs(t + s * 4.0 / 13, y + s * (0.03709200011850479 * k1 + 0.17038392571223998 * k4 + 0.10726203044637328 * k5
                               - 0.015319437748624402 * k6 + 0.008273789163814023 * k7) $args);
      vector[n] k9 = rhs(t + s * 127.0 / 195, y + s * (0.6241109587160757 * k1 - 3.3608926294469414 * k4 - 0.868219346841726 * k5
                               + 27.59209969944671 * k6 + 20.154067550477894 * k7 - 43.48988418106996 * k8) $args);
      vector[n] k10 = rhs(t + s * 0.6, y + s * (0.47766253643826434 * k1 - 2.4881146199716677 * k4 - 0.590290826836843 * k5
                               + 21.230051448181193 * k6 + 15.279233632882423 * k7 - 33.28821096898486 * k8
                               - 0.020331201708508627 * k9) $args);
      vector[n] k11 = rhs(t + s * 6.0 / 7, y + s * (-0.9371424300859873 * k1 + 5.186372428844064 * k4 + 1.0914373489967295 * k5
                               - 8.149787010746927 * k6 - 18.52006565999696 * k7 + 22.739487099350505 * k8
                               + 2.4936055526796523 * k9 - 3.0467644718982196 * k10) $args);
      vector[n] x12 = y + s * (2.273310147516538 * k1 - 10.53449546673725 * k4 - 2.0008720582248625 * k5
                               - 17.9589318631188 * k6 + 27.94888452941996 * k7 - 2.8589982771350235 * k8
                               - 8.87285693353063 * k9 + 12.360567175794303 * k10 + 0.6433927460157636 * k11);
      vector[n] k12 = rhs(t + s, x12 $args);
      vector[n] slope = 0.054293734116568765 * k1 + 4.450312892752409 * k6 + 1.8915178993145003 * k7
                       - 5.801203960010585 * k8 + 0.3111643669578199 * k9 - 0.1521609496625161 * k10
                       + 0.20136540080403034 * k11 + 0.04471061572777259 * k12;
      vector[n] z = y + s * slope;
      vector[n] fifth = 0.01312004499419488 * k1 - 1.2251564463762044 * k6 - 0.4957589496572502 * k7
                      + 1.6643771824549864 * k8 - 0.35032884874997366 * k9 + 0.3341791187130175 * k10
                      + 0.08192320648511571 * k11 - 0.022355307863886294 * k12;
      vector[n] third = slope - 0.2440944881889764 * k1 - 0.7338466882816118 * k9 - 0.022058823529411766 * k12;
      real error5 = square_size(detach(s * fifth), detach(y), detach(z), rtol, atol);
      real error3 = square_size(detach(s * third), detach(y), detach(z), rtol, atol);
      // The square of the estimate, without roots, for which the next step would wait.
      real error = error5 == 0 ? 0 : square(error5) / (error5 + 0.01 * error3);
      steps += 1;
      if (!(last && error <= 1))
        h = detach(s) * stretch(error, 16);
      if (error <= 1) {
        y = z;
        if (last) t = end; else t += s;
        k1 = rhs(t, y $args);
        longest = detach(damped(k1, k12, z, x12, atol, longest));
        bounded += h > 2 * longest;
        h = fmin(h, longest);
      }
    }
    if (t < end) {
      if (steps >= most)
        reject("the solution of the differential equation took more than ", most, " steps, at time ", t, $where ", in the state ", y);
      if ($leaves) {
        reject("");
      } else { // not part of the program that leaves
        y = integrate_stiff(y, t, {t + 0.25 * (end - t), t + 0.5 * (end - t), t + 0.75 * (end - t), end}, relative, absolute, most $args)[4];
        t = end;
        k1 = rhs(t, y $args);
      }
    }
    out[i] = y;
  }
  return out;
}
