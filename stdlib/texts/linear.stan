// Linear models: the state follows y' = K y + r between moves. Every model defines
//
//   advance(y, r, into, t, p)   the state after time t; into[c] is 0 if r[c] is 0 throughout
//   settle(w, t, p)             the solution u of u = exp(K t) u + w
//   constant(r, p)              the solution y of 0 = K y + r

// The state at the record of a dose at steady state, as long after the dose before it as the
// interval less the lag.
vector steady(vector dose, real amount, real rate, real ii, real lag, array[] int into, $model p) {
  int n = num_elements(dose);
  vector[n] zero = rep_vector(0, n);
  if (rate == 0) {
    vector[n] u = settle(advance(amount * dose, zero, rep_array(0, n), ii, p), ii, p);
    return lag == 0 ? u : advance(u + amount * dose, zero, rep_array(0, n), ii - lag, p);
  }
  if (ii == 0)
    return constant(rate * dose, p);
  // Infusions may overlap.
  real part = amount / rate;
  real whole = 0;
  while (part > ii) {
    part -= ii;
    whole += rate;
  }
  vector[n] u = settle(advance(advance(zero, (whole + rate) * dose, into, part, p), whole * dose, into, ii - part, p), ii, p);
  if (lag == 0)
    return u;
  real first = fmin(part, ii - lag);
  return advance(advance(u, (whole + rate) * dose, into, first, p), whole * dose, into, ii - lag - first, p);
}

matrix run(array[] real time, array[] real amt, array[] real rate, array[] real ii, array[] int evid, array[] int cmt,
           array[] int addl, array[] int ss, int states, array[] $model theta, array[,] real biovar, array[,] real tlag) {
  int n = size(time);
  check_events(time, amt, rate, ii, evid, cmt, addl, ss, states, size(theta), biovar, tlag);
  int m = size(moves(amt, rate, ii, evid, addl, ss));
  array[m, 4] int move = moves(amt, rate, ii, evid, addl, ss);
  array[m] real at = times_of(move, time, amt, rate, ii, cmt, biovar, tlag);
  array[m] int order = order_of(move, at);
  array[states] int into = rep_array(0, states);
  int infused = 0;
  for (i in 1:n) {
    if (is_dose(evid[i]) && rate[i] > 0) {
      into[cmt[i]] = 1;
      infused = 1;
    }
  }
  // What each move adds to the state, the time before it, the record whose parameters hold then, and
  // where the records are.
  array[m] vector[states] jump = rep_array(rep_vector(0, states), m);
  array[m] vector[states] inflow;
  array[m] real dt;
  array[m] int fresh;
  array[m] int row;
  array[n] int place;
  int next = n;
  for (k in 1:m) {
    int j = m + 1 - k;
    int e = order[j];
    if (move[e, 1] == 0) {
      next = move[e, 2];
      place[next] = j;
    }
    row[j] = row_of(size(theta), next);
    fresh[j] = j == 1 || move[e, 4] != move[order[j - 1], 4];
    dt[j] = fresh[j] ? 0 : at[e] - at[order[j - 1]];
  }
  for (j in 1:m) {
    int e = order[j];
    int i = move[e, 2];
    if (move[e, 1] == 1)
      jump[j, cmt[i]] = biovar[row_of(size(biovar), i), cmt[i]] * amt[i];
  }
  for (i in 1:n) {
    if (is_dose(evid[i]) && ss[i] > 0) {
      vector[states] dose = rep_vector(0, states);
      dose[cmt[i]] = 1;
      jump[place[i]] = steady(dose, biovar[row_of(size(biovar), i), cmt[i]] * amt[i], rate[i], ii[i],
                              tlag[row_of(size(tlag), i), cmt[i]], into, theta[row_of(size(theta), i)]);
    }
  }
  if (infused) {
    vector[states] now = rep_vector(0, states);
    for (j in 1:m) {
      int e = order[j];
      int i = move[e, 2];
      if (fresh[j])
        now = rep_vector(0, states);
      inflow[j] = now;
      if (move[e, 1] == 2)
        now[cmt[i]] += rate[i];
      if (move[e, 1] == 3)
        now[cmt[i]] -= rate[i];
    }
  } else
    inflow = rep_array(rep_vector(0, states), m);
  array[m] vector[states] y;
  vector[states] state = rep_vector(0, states);
  for (j in 1:m) {
    if (fresh[j])
      state = jump[j];
    else
      state = advance(state, inflow[j], into, dt[j], theta[row[j]]) + jump[j];
    y[j] = state;
  }
  matrix[states, n] out;
  for (i in 1:n)
    out[, i] = y[place[i]];
  return out;
}
