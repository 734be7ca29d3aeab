// Steady states of models with differential equations, which define slopes_at, the slopes under an inflow.

// At steady state, an interval changes nothing; under a constant inflow (still), the slopes are 0.
vector system(vector u, int still, vector dose, real amount, real rate, real part, real whole, real ii, array[] int into,
              real at $declared) {
  if (still)
    return slopes_at(at, u, rate * dose $passed);
  return over(u, dose, amount, rate, part, whole, ii, into, at $passed) - u;
}

matrix jacobian_system_0(vector u, int still, vector dose, real amount, real rate, real part, real whole, real ii,
                         array[] int into, real at $declared) { reject(""); }

// Newton's method, from the state after one dose into the empty system. Derivatives by all others follow from
// two more steps with the last slopes: the first is exact to first, the second to second order.
vector balanced(int n, int still, vector dose, real amount, real rate, real part, real whole, real ii, array[] int into,
                real at $declared) {
  vector[n] u = rep_vector(0, n);
  matrix[n, n] slopes;
  int steps = 0;
  int found = 0;
  while (!found) {
    vector[n] change = detach(system(u, still, dose, amount, rate, part, whole, ii, into, at $passed));
    slopes = detach(jacobian_system_0(u, still, dose, amount, rate, part, whole, ii, into, at $passed));
    if (steps > 0 || still)
      change = -(slopes \ change);
    u += change;
    steps += 1;
    if (!(norm2(u) < positive_infinity()))
      reject("there is no steady state at time ", at, $where ": the doses accumulate, or the solution is not finite");
    found = (steps > 1 || still) && max(abs(change) - as_rtol * abs(u)) <= as_atol;
    if (!found && steps > as_most)
      reject("the steady state at time ", at, $where " is not found after ", as_most, " steps; the last one has length ", norm2(change));
  }
  for (i in 1:2)
    u -= slopes \ system(u, still, dose, amount, rate, part, whole, ii, into, at $passed);
  return u;
}

vector periodic(vector dose, real amount, real rate, real part, real whole, real ii, array[] int into, real at $declared) {
  return balanced(num_elements(dose), 0, dose, amount, rate, part, whole, ii, into, at $passed);
}

vector constant(vector r, array[] int into, real at $declared) {
  return balanced(num_elements(r), 1, r, 0, 1, 0, 0, 0, into, at $passed);
}
