// A system dy/dt = f(t, y, z, theta, x_r, x_i) + r that is driven by the amounts z of a model in closed
// form. The state is z and, after it, y. pk is z at the time from, into which inflow goes.

vector rhs(real t, vector y, vector pk, vector inflow, array[] int into, real from, int subject, array[] real of, array[] real x_r,
           array[] int x_i) {
  return f(t, y, advance(pk, head(inflow, num_elements(pk)), into, from, t - from, of), of, x_r, x_i) + tail(inflow, num_elements(y));
}

vector advance(vector y, vector r, array[] int into, real from, real t $declared) {
  int n = compartments();
  int m = num_elements(y) - n;
  if (!(from + t > from))
    return y;
  return append_row(advance(head(y, n), head(r, n), into, from, t, of),
                    $integrate(tail(y, m), from, {from + t}, ode_rtol, ode_atol, ode_most, head(y, n), r, into, from, subject, of, x_r, x_i)[1]);
}

vector slopes_at(real at, vector y, vector r $declared) {
  int n = compartments();
  vector[n] pk = head(y, n);
  return append_row(slopes(pk, of) + head(r, n), f(at, tail(y, num_elements(y) - n), pk, of, x_r, x_i) + tail(r, num_elements(y) - n));
}
