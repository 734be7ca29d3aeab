// The events of a pharmacometric data set, as NONMEM has them. A record is a row of the data.
// A move is a change of the state at a time: the record itself (kind 0), a bolus dose (1), the
// start of an infusion (2) or its end (3). Between moves the state follows the model. A segment is
// a part of the records that begins with an empty system: the first record, a reset (evid 3 or 4)
// or a dose with ss = 1. A segment ends all doses of the segments before it that are still to come.
//
// $rated, $dosed and $spaced are 1 in programs whose rate, amt or ii may depend on parameters. The
// number of moves must not: with $rated, each dose is an infusion, which a rate of 0 makes a bolus
// dose.

array[,] real table(array[] real x) { return rep_array(x, 1); }
array[,] real table(array[,] real x) { return x; }
array[,] real table(array[] vector x) {
  array[size(x), size(x) == 0 ? 0 : num_elements(x[1])] real out;
  for (i in 1:size(x)) out[i] = to_array_1d(x[i]);
  return out;
}
array[] matrix table(matrix x) { return rep_array(x, 1); }
array[] matrix table(array[] matrix x) { return x; }

// The first columns of a table, fewer if it has fewer.
array[,] real first_columns(array[,] real x, int n) { return x[, 1:min(n, size(x[1]))]; }

// The row of a table for record i, of a subject. A table has one row for all records, one for each
// subject, or one for each of all records.
int row_of(int rows, int i, int subject, int all) { return rows == all ? i : rows == 1 ? 1 : subject; }

int is_dose(int evid) { return evid == 1 || evid == 4; }

// Whether the length of an infusion or the interval may depend on parameters.
int varying_doses() { return $rated || $dosed || $spaced; }

int may_last(real rate) { return $rated || rate > 0; }

// Whether a record is a constant infusion at steady state, which ends with the record.
int is_constant(int ss, real amt, real rate, real ii) {
  return ss > 0 && may_last(rate) && ($spaced ? !$dosed && amt == 0 : ii == 0);
}

// Compartments that exist. If one does not, check_events rejects it; an index out of range would be
// reported before.
array[] int within(array[] int cmt, int states) {
  array[size(cmt)] int out;
  for (i in 1:size(cmt))
    out[i] = max(1, min(cmt[i], states));
  return out;
}

void check_sizes(array[] int len, int n, int rows, array[,] real biovar, array[,] real tlag, int states) {
  int subjects = size(len);
  if (n == 0 || subjects == 0 || min(len) < 1)
    reject("there must be at least one record of events for each subject");
  if (sum(len) != n)
    reject("the numbers of records of the subjects must add up to ", n, ", but they add up to ", sum(len));
  for (k in {rows, size(biovar), size(tlag)})
    if (k != 1 && k != n && k != subjects)
      reject("parameters, bioavailabilities and lag times must be one row for all, one for each of the ", subjects,
             " subjects or one for each of the ", n, " records, but there are ", rows, ", ", size(biovar), " and ", size(tlag));
  if (size(biovar[1]) != states || size(tlag[1]) != states)
    reject("there must be one bioavailability and one lag time for each of the ", states, " compartments, but there are ",
           size(biovar[1]), " and ", size(tlag[1]));
}

void check_events(array[] int len, array[] real time, array[] real amt, array[] real rate, array[] real ii, array[] int evid,
                  array[] int cmt, array[] int addl, array[] int ss, int states, array[,] real biovar, array[,] real tlag) {
  int n = size(time);
  array[size(cmt)] int to = within(cmt, states);
  int last = 0;
  int first = 0;
  int subject = 0;
  if (size(amt) != n || size(rate) != n || size(ii) != n || size(evid) != n || size(cmt) != n || size(addl) != n || size(ss) != n)
    reject("time, amt, rate, ii, evid, cmt, addl and ss must have one element for each record, but they have ", n, ", ",
           size(amt), ", ", size(rate), ", ", size(ii), ", ", size(evid), ", ", size(cmt), ", ", size(addl), " and ", size(ss));
  for (i in 1:n) {
    if (i > last) {
      subject += 1;
      first = last + 1;
      last += len[subject];
    }
    if (evid[i] < 0 || evid[i] > 4)
      reject("evid must be 0 (observation), 1 (dose), 2 (other), 3 (reset) or 4 (reset and dose), but it is ", evid[i], " in record ", $record);
    if (i > first && evid[i] < 3 && !(time[i] >= time[i - 1]))
      reject("times must not decrease, except at resets (evid 3 or 4), but record ", $record, " is at ", time[i], " after ", time[i - 1]);
    if (is_dose(evid[i])) {
      if (cmt[i] < 1 || cmt[i] > states)
        reject("cmt of a dose must be a compartment from 1 to ", states, ", but it is ", cmt[i], " in record ", $record);
      if (addl[i] < 0 || (addl[i] > 0 && !(ii[i] > 0)))
        reject("addl must not be negative, and additional doses need an interval ii above 0, but addl is ", addl[i], " and ii is ",
               ii[i], " in record ", $record);
      if (!(rate[i] >= 0))
        reject("rate must not be negative, but it is ", rate[i], " in record ", $record, "; pass rates that the model sets as they are");
      if (!(amt[i] >= 0))
        reject("amt must not be negative, but it is ", amt[i], " in record ", $record);
      if (ss[i] < 0 || ss[i] > 2)
        reject("ss must be 0, 1 or 2, but it is ", ss[i], " in record ", $record);
      real part = biovar[row_of(size(biovar), i, subject, n), to[i]];
      real lag = tlag[row_of(size(tlag), i, subject, n), to[i]];
      if (!(part >= 0 && lag >= 0))
        reject("bioavailabilities and lag times must not be negative, but they are ", part, " and ", lag, " in record ", $record);
      if (is_constant(ss[i], amt[i], rate[i], ii[i])) {
        if (!(rate[i] > 0 && ii[i] == 0))
          reject("a dose at steady state needs an interval ii above 0, or is a constant infusion with a rate above 0, but ii is ", ii[i],
                 " and rate is ", rate[i], " in record ", $record);
        if (amt[i] > 0 || addl[i] > 0)
          reject("a constant infusion at steady state (ss above 0, ii 0) has amt 0 and addl 0, but they are ", amt[i], " and ",
                 addl[i], " in record ", $record);
      } else if (ss[i] > 0) {
        if (!(ii[i] > 0))
          reject("a dose at steady state needs an interval ii above 0, but it is ", ii[i], " in record ", $record);
        if (!(lag <= ii[i]))
          reject("the lag time of a dose at steady state must not exceed its interval ", ii[i], ", but it is ", lag, " in record ", $record);
        if (rate[i] > 0 && part * amt[i] / rate[i] + lag > (running(amt, rate, ii, evid, ss, i) + 1) * ii[i]) {
          if (varying_doses())
            reject("infusions at steady state whose amt, rate or ii is a parameter must end within two intervals, but with a duration of ",
                   part * amt[i] / rate[i], ", a lag time of ", lag, " and ii = ", ii[i], " that in record ", $record, " does not");
          reject("infusions at steady state must not overlap more than with a bioavailability of 1, but with ", part,
                 " they do in record ", $record);
        }
      }
      if (rate[i] > 0 && ii[i] >= 0 && !is_constant(ss[i], amt[i], rate[i], ii[i]) && !(amt[i] > 0))
        reject("an infusion needs an amount amt above 0, unless it is constant at steady state, but amt is ", amt[i], " in record ", $record);
    }
  }
}

// The number of doses of a record, with additional ones.
int doses(array[] real amt, array[] real rate, array[] real ii, array[] int evid, array[] int addl, array[] int ss, int i) {
  return is_dose(evid[i]) && !is_constant(ss[i], amt[i], rate[i], ii[i]) ? 1 + addl[i] : 0;
}

// The most infusions of the time before a dose at steady state that can be running at its record,
// for bioavailabilities up to 1. It is 1 if their length may depend on parameters.
int running(array[] real amt, array[] real rate, array[] real ii, array[] int evid, array[] int ss, int i) {
  int k = 0;
  if (!is_dose(evid[i]) || ss[i] == 0 || is_constant(ss[i], amt[i], rate[i], ii[i]))
    return 0;
  if (varying_doses())
    return may_last(rate[i]);
  if (rate[i] > 0 && ii[i] > 0) {
    real most = amt[i] / rate[i] / ii[i];
    while (k < most)
      k += 1;
  }
  return k;
}

// The moves: kind, record, number and segment of each. The number is that of the dose (0, 1, …) or, below
// 0, that of an infusion before the record. Moves at equal times take place in this order, which is
// NONMEM's: additional doses come first, then records as they are in the data. A dose comes
// just before its record.
array[,] int moves(int first, int last, array[] real amt, array[] real rate, array[] real ii, array[] int evid, array[] int addl,
                   array[] int ss) {
  int m = last - first + 1;
  for (i in first:last)
    m += doses(amt, rate, ii, evid, addl, ss, i) * (1 + may_last(rate[i])) + 2 * running(amt, rate, ii, evid, ss, i);
  array[m, 4] int out;
  int at = 0;
  int segment = 0;
  array[last] int of;
  for (i in first:last) {
    segment += evid[i] >= 3 || (is_dose(evid[i]) && ss[i] == 1);
    of[i] = segment;
  }
  for (i in first:last) {
    for (k in 1:running(amt, rate, ii, evid, ss, i)) {
      out[at + 1] = {2, i, -k, of[i]};
      out[at + 2] = {3, i, -k, of[i]};
      at += 2;
    }
    for (k in 1:doses(amt, rate, ii, evid, addl, ss, i)) {
      if (may_last(rate[i])) {
        at += 1;
        out[at] = {3, i, k - 1, of[i]};
      }
      if (k > 1) {
        at += 1;
        out[at] = {1 + may_last(rate[i]), i, k - 1, of[i]};
      }
    }
  }
  for (i in first:last) {
    if (doses(amt, rate, ii, evid, addl, ss, i) > 0) {
      at += 1;
      out[at] = {1 + may_last(rate[i]), i, 0, of[i]};
    }
    at += 1;
    out[at] = {0, i, 0, of[i]};
  }
  return out;
}

// The times of the moves.
array[] real times_of(array[,] int move, array[] real time, array[] real amt, array[] real rate, array[] real ii,
                      array[] int cmt, array[,] real biovar, array[,] real tlag, int subject) {
  int m = size(move);
  int n = size(time);
  array[m] real at;
  for (e in 1:m) {
    int i = move[e, 2];
    at[e] = time[i];
    if (move[e, 1] > 0) {
      real start = tlag[row_of(size(tlag), i, subject, n), cmt[i]];
      if (move[e, 3] != 0)
        start += move[e, 3] * ii[i];
      if (move[e, 1] == 3)
        start += rate[i] > 0 ? biovar[row_of(size(biovar), i, subject, n), cmt[i]] * amt[i] / rate[i] : 0;
      if (move[e, 3] < 0)
        start = move[e, 1] == 2 ? 0 : fmax(0, start);
      at[e] += start;
    }
  }
  return at;
}

// The order of the moves. Times are equal if they differ by rounding, as 0.3 and three intervals of
// 0.1 do.
array[] int order_of(array[,] int move, array[] real at) {
  int m = size(move);
  array[m] int by_time = sort_indices_asc(at);
  array[m] real key;
  real later = 0;
  for (j in 1:m) {
    int e = by_time[j];
    if (j > 1)
      later += at[e] - at[by_time[j - 1]] > 1e-12 * abs(at[e]);
    key[e] = (move[e, 4] * (m + 1.0) + later) * (m + 1.0) + e;
  }
  return sort_indices_asc(key);
}
