// A model in closed form with an effect compartment after the others, which follows the centre:
// de/dt = ke (centre - e). ke comes after the parameters of the model. It takes nothing from the centre.

real follows(array[] real p) { return nth(p, 2 * compartments()); }

vector advance(vector y, vector r, array[] int into, real from, real t, array[] real p) {
  int n = compartments() + 1;
  real ke = follows(p);
  real e = exp(-ke * t) * y[n] + followed(y, r, into, ke, t, p);
  if (into[n] == 2)
    e += r[n] * differ2(ke, 0, t);
  return append_row(kinetics(y, r, into, t, p), e);
}

vector settle(vector w, real t, array[] real p) {
  int n = compartments() + 1;
  real ke = follows(p);
  vector[n - 1] u = settled(w, t, p);
  return append_row(u, (w[n] + followed(u, rep_vector(0, n), rep_array(1, n), ke, t, p)) / -expm1(-ke * t));
}

vector constant(vector r, array[] int into, real at, array[] real p) {
  int n = compartments() + 1;
  vector[n - 1] u = held(r, p);
  return append_row(u, u[2] + (r[n] == 0 ? 0 : r[n] / follows(p)));
}

void check_effects(array[,] real theta) {
  check_parameters(theta, 0);
  for (i in 1:size(theta)) {
    if (size(theta[i]) != 2 * compartments())
      reject("an effect compartment has one parameter, ke0, after the ", 2 * compartments() - 1, " of its model, but there are ",
             size(theta[i]), " numbers");
    if (!(follows(theta[i]) > 0))
      reject("ke0 must be positive, but it is ", follows(theta[i]));
  }
}
