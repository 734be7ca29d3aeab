// Two compartments with absorption from a depot. p: CL, Q, V2, V3, ka.

// The rate constants of the two exponentials, the larger one first; how far the first is above
// the rate at which the peripheral compartment empties and how far the second is below; and the distance
// of the two. No difference of nearly equal numbers is formed.
vector modes(array[] real p) {
  real k10 = nth(p, 1) / nth(p, 3);
  real k12 = nth(p, 2) / nth(p, 3);
  real k21 = nth(p, 2) / nth(p, 4);
  real d = k10 + k12 - k21;
  real s = sqrt(square(d) + 4 * k12 * k21);
  real a = (k10 + k12 + k21 + s) / 2;
  real big = (abs(d) + s) / 2;
  real small = k12 * k21 / big;
  return [a, k10 * k21 / a, d >= 0 ? big : small, d >= 0 ? small : big, s]';
}

vector kinetics(vector y, vector r, array[] int into, real t, array[] real p) {
  real k12 = nth(p, 2) / nth(p, 3);
  real k21 = nth(p, 2) / nth(p, 4);
  real ka = nth(p, 5);
  vector[5] z = modes(p);
  real a = z[1];
  real b = z[2];
  real u = z[3] / z[5];
  real v = z[4] / z[5];
  real both = differ2(a, b, t);
  real fast = exp(-a * t);
  real slow = exp(-b * t);
  real depot = 0;
  real centre = (u * fast + v * slow) * y[2] + k21 * both * y[3];
  real outer = k12 * both * y[2] + (v * fast + u * slow) * y[3];
  if (into[1]) {
    depot = exp(-ka * t) * y[1];
    centre += ka * (u * differ2(ka, a, t) + v * differ2(ka, b, t)) * y[1];
    outer += ka * k12 * differ3(b, a, ka, t) * y[1];
  }
  if (into[1] == 2) {
    depot += r[1] * differ2(ka, 0, t);
    centre += r[1] * ka * (u * differ3(0, ka, a, t) + v * differ3(0, ka, b, t));
    outer += r[1] * ka * k12 * from_zero(ka, a, b, t);
  }
  if (into[2] == 2 || into[3] == 2) {
    real a0 = differ2(a, 0, t);
    real b0 = differ2(b, 0, t);
    real across = sorted3(0, b, a, t);
    centre += r[2] * (u * a0 + v * b0) + r[3] * k21 * across;
    outer += r[2] * k12 * across + r[3] * (v * a0 + u * b0);
  }
  return [depot, centre, outer]';
}

// What a compartment that follows the centre with rate ke has after t, of one that was empty.
real followed(vector y, vector r, array[] int into, real ke, real t, array[] real p) {
  real k21 = nth(p, 2) / nth(p, 4);
  real ka = nth(p, 5);
  vector[5] z = modes(p);
  real a = z[1];
  real b = z[2];
  real u = z[3] / z[5];
  real v = z[4] / z[5];
  real e = ke * ((u * differ2(a, ke, t) + v * differ2(b, ke, t)) * y[2] + k21 * differ3(a, b, ke, t) * y[3]);
  if (into[1])
    e += ka * ke * (u * differ3(ka, a, ke, t) + v * differ3(ka, b, ke, t)) * y[1];
  if (into[1] == 2)
    e += r[1] * ka * ke * (u * from_zero(ka, a, ke, t) + v * from_zero(ka, b, ke, t));
  if (into[2] == 2)
    e += r[2] * ke * (u * differ3(0, a, ke, t) + v * differ3(0, b, ke, t));
  if (into[3] == 2)
    e += r[3] * k21 * ke * from_zero(a, b, ke, t);
  return e;
}

vector settled(vector w, real t, array[] real p) {
  real k12 = nth(p, 2) / nth(p, 3);
  real k21 = nth(p, 2) / nth(p, 4);
  real ka = nth(p, 5);
  vector[5] z = modes(p);
  real a = z[1];
  real b = z[2];
  real u = z[3] / z[5];
  real v = z[4] / z[5];
  real both = differ2(a, b, t);
  real fast = -expm1(-a * t);
  real slow = -expm1(-b * t);
  real depot = w[1] == 0 ? 0 : w[1] / -expm1(-ka * t);
  real centre = w[2] + ka * (u * differ2(ka, a, t) + v * differ2(ka, b, t)) * depot;
  real outer = w[3] + ka * k12 * differ3(b, a, ka, t) * depot;
  return [depot, ((v * fast + u * slow) * centre + k21 * both * outer) / (fast * slow),
          (k12 * both * centre + (u * fast + v * slow) * outer) / (fast * slow)]';
}

vector held(vector r, array[] real p) {
  real centre = (r[1] + r[2] + r[3]) * nth(p, 3) / nth(p, 1);
  return [r[1] == 0 ? 0 : r[1] / nth(p, 5), centre, centre * nth(p, 4) / nth(p, 3) + (r[3] == 0 ? 0 : r[3] * nth(p, 4) / nth(p, 2))]';
}

// With exact = 0, more numbers may follow.
void check_parameters(array[,] real theta, int exact) {
  for (i in 1:size(theta)) {
    if (size(theta[i]) < 5 || (exact && size(theta[i]) > 5 && !earlier(theta[i], 5, 3)))
      reject("the parameters of a two-compartment model are CL, Q, V2, V3 and ka, but there are ", size(theta[i]),
             " numbers: bioavailabilities and lag times are further arguments");
    if (!(nth(theta[i], 1) > 0 && nth(theta[i], 2) >= 0 && nth(theta[i], 3) > 0 && nth(theta[i], 4) > 0 && nth(theta[i], 5) >= 0))
      reject("CL, V2 and V3 must be positive, and Q and ka must not be negative, but they are ", nth(theta[i], 1), ", ", nth(theta[i], 3), ", ",
             nth(theta[i], 4), ", ", nth(theta[i], 2), " and ", nth(theta[i], 5));
  }
}

int compartments() { return 3; }

vector slopes(vector y, array[] real p) {
  real absorbed = nth(p, 5) * y[1];
  real across = nth(p, 2) * (y[2] / nth(p, 3) - y[3] / nth(p, 4));
  return [-absorbed, absorbed - nth(p, 1) / nth(p, 3) * y[2] - across, across]';
}
