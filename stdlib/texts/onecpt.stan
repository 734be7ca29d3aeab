// One compartment with absorption from a depot. p: CL, V2, ka.

vector kinetics(vector y, vector r, array[] int into, real t, array[] real p) {
  real k = nth(p, 1) / nth(p, 2);
  real ka = nth(p, 3);
  real depot = 0;
  real centre = exp(-k * t) * y[2];
  if (into[1]) {
    depot = exp(-ka * t) * y[1];
    centre += ka * differ2(ka, k, t) * y[1];
  }
  if (into[1] == 2) {
    depot += r[1] * differ2(ka, 0, t);
    centre += r[1] * ka * differ3(0, ka, k, t);
  }
  if (into[2] == 2)
    centre += r[2] * differ2(k, 0, t);
  return [depot, centre]';
}

// What a compartment that follows the centre with rate ke has after t, of one that was empty.
real followed(vector y, vector r, array[] int into, real ke, real t, array[] real p) {
  real k = nth(p, 1) / nth(p, 2);
  real ka = nth(p, 3);
  real e = ke * differ2(k, ke, t) * y[2];
  if (into[1])
    e += ka * ke * differ3(ka, k, ke, t) * y[1];
  if (into[1] == 2)
    e += r[1] * ka * ke * from_zero(ka, k, ke, t);
  if (into[2] == 2)
    e += r[2] * ke * differ3(0, k, ke, t);
  return e;
}

vector settled(vector w, real t, array[] real p) {
  real k = nth(p, 1) / nth(p, 2);
  real ka = nth(p, 3);
  real depot = w[1] == 0 ? 0 : w[1] / -expm1(-ka * t);
  return [depot, (w[2] + ka * differ2(ka, k, t) * depot) / -expm1(-k * t)]';
}

vector held(vector r, array[] real p) {
  return [r[1] == 0 ? 0 : r[1] / nth(p, 3), (r[1] + r[2]) * nth(p, 2) / nth(p, 1)]';
}

// With exact = 0, more numbers may follow.
void check_parameters(array[,] real theta, int exact) {
  for (i in 1:size(theta)) {
    if (size(theta[i]) < 3 || (exact && size(theta[i]) > 3 && !earlier(theta[i], 3, 2)))
      reject("the parameters of a one-compartment model are CL, V2 and ka, but there are ", size(theta[i]),
             " numbers: bioavailabilities and lag times are further arguments");
    if (!(nth(theta[i], 1) > 0 && nth(theta[i], 2) > 0 && nth(theta[i], 3) >= 0))
      reject("CL and V2 must be positive, and ka must not be negative, but they are ", nth(theta[i], 1), ", ", nth(theta[i], 2), " and ", nth(theta[i], 3));
  }
}

int compartments() { return 2; }

vector slopes(vector y, array[] real p) {
  real absorbed = nth(p, 3) * y[1];
  return [-absorbed, absorbed - nth(p, 1) / nth(p, 2) * y[2]]';
}
