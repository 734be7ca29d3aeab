// Newton's method with halved steps.
vector zero(vector guess, real tolerance, int most $params) {
  int n = num_elements(guess);
  vector[n] y = detach(guess);
  real r = max(abs(detach(system(y $args))));
  int steps = 0;
  while (r > tolerance) {
    vector[n] d = detach(jacobian_system_0(y $args) \ system(y $args));
    real a = 1;
    vector[n] z = y - d;
    real s = max(abs(detach(system(z $args))));
    while (!(s < r) && a > 1e-8) {
      a *= 0.5;
      z = y - a * d;
      s = max(abs(detach(system(z $args))));
    }
    y = z;
    r = s;
    steps += 1;
    if (steps > most)
      reject("the equations are not solved after ", most, " steps; the largest residual is ", r);
  }
  if (!(r <= tolerance))
    reject("the equations cannot be solved from this guess; the largest residual is ", r);
  return exact(y $args);
}
