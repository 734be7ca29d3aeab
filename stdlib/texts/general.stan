// The system dy/dt = f(t, y, theta, x_r, x_i) + r, whose right-hand side rhs has all of these.

vector advance(vector y, vector r, array[] int into, real from, real t $declared) {
  return from + t > from ? $integrate(y, from, {from + t}, ode_rtol, ode_atol, ode_most, r, subject, of, x_r, x_i)[1] : y;
}

vector slopes_at(real at, vector y, vector r $declared) { return rhs(at, y, r, subject, of, x_r, x_i); }
