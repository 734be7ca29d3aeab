// Newton's method with a line search, as KINSOL has it (A. C. Hindmarsh et al., 2005; the
// conditions are those of J. E. Dennis and R. B. Schnabel, 1983), with what Stan sets:
// where equations have several solutions, it finds the one that Stan finds. Slopes are
// evaluated anew for every tenth step, where the residuals do not become small fast enough,
// and where no step can be found with old ones. Lengths are largest elements, divided by
// those of y where these are above 1.
vector zero(vector guess, real scale, real tolerance, int most $params) {
  int n = num_elements(guess);
  real small = tolerance > 0 ? tolerance : cbrt(machine_precision());
  real shortest = scale > 0 ? scale : cbrt(square(machine_precision()));
  vector[n] y = detach(guess);
  vector[n] r = detach(system(y $args));
  real half = 0.5 * dot_self(r); // the square of the residuals that is to become less
  real reached = norm2(r); // when the progress was last looked at
  real longest = norm2(y) == 0 ? n : fmax(1, 1000 * norm2(y));
  matrix[n, n] slopes;
  int steps = 0;
  int born = 0; // the step for which slopes were evaluated
  int watched = 0; // the step after which progress was last looked at
  int refresh = 1; // slopes are to be evaluated
  int again = 0; // a step is tried again with new slopes
  int long = 0; // steps in a row of the greatest length
  int overshot = 0; // steps that are still too short
  int stop = n == 0 || max(abs(r)) <= 0.01 * small;
  if (!(scale >= 0 && tolerance >= 0) || most < 1)
    reject("the scaled step and the tolerance must not be negative, and the steps must be positive, but they are ",
           scale, ", ", tolerance, " and ", most);
  while (!stop) {
    int due = 0;
    int fresh;
    int stuck = 0;
    vector[n] p;
    vector[n] z;
    vector[n] s;
    real length;
    real slope;
    real least;
    real a = 1; // the share of the step that is taken
    real before = 1;
    real now;
    steps += !again;
    if (steps - born >= 10) {
      refresh = 1;
      due = 1;
    }
    fresh = refresh;
    if (refresh) {
      slopes = detach(jacobian_system_0(y $args));
      born = steps;
      watched = steps;
    }
    p = -(slopes \ r);
    length = norm2(p);
    if (!(length < positive_infinity()))
      reject("the equations cannot be solved from this guess: their slopes are singular");
    slope = -dot_self(r);
    if (length > longest) {
      p *= longest / length;
      slope *= longest / length;
      length = longest;
    }
    least = shortest / max(abs(p) ./ fmax(1, abs(y)));
    z = y + p;
    s = detach(system(z $args));
    now = 0.5 * dot_self(s);
    {
      real past = now; // at the share before
      int tries = 0;
      while (!stuck && !(now <= half + 1e-4 * slope * a)) {
        real next = -slope / (2 * (now - half - slope));
        if (tries > 0) { // the least of a cubic
          real u = (now - half - a * slope) / square(a);
          real v = (past - half - before * slope) / square(before);
          real c = (u - v) / (a - before);
          real b = (a * v - before * u) / (a - before);
          next = abs(c) < machine_precision() ? -slope / (2 * b) : (sqrt(square(b) - 3 * c * slope) - b) / (3 * c);
          next = next > 0.5 * a ? 0.5 * a : next;
        }
        if (is_nan(next))
          reject("the equations cannot be solved from this guess: their residuals are not numbers");
        tries += 1;
        before = a;
        past = now;
        a = fmax(0.1 * a, next);
        z = y + a * p;
        s = detach(system(z $args));
        now = 0.5 * dot_self(s);
        stuck = a < least;
      }
    }
    if (!stuck && now < half + 0.9 * slope * a) {
      if (a == 1 && length < longest) {
        int further = 1;
        while (further) {
          before = a;
          a = fmin(2 * a, longest / length);
          z = y + a * p;
          s = detach(system(z $args));
          now = 0.5 * dot_self(s);
          further = now <= half + 1e-4 * slope * a && now < half + 0.9 * slope * a && a < longest / length;
        }
      }
      if (a < 1 || (a > 1 && now > half + 1e-4 * slope * a)) {
        real low = fmin(a, before);
        real width = abs(before - a);
        int further = 1;
        while (further) {
          width *= 0.5;
          a = low + width;
          z = y + a * p;
          s = detach(system(z $args));
          now = 0.5 * dot_self(s);
          further = now > half + 1e-4 * slope * a;
          if (!further && now < half + 0.9 * slope * a) {
            low = a;
            further = width >= least;
          }
        }
        if (now < half + 0.9 * slope * a) {
          z = y + low * p;
          s = detach(system(z $args));
          now = 0.5 * dot_self(s);
          overshot += 1;
        }
      }
    }
    if (overshot > 10)
      reject("the equations cannot be solved from this guess: steps remain too short");
    if (stuck) {
      if (fresh)
        reject("the equations cannot be solved from this guess; the norm of the residuals is ", sqrt(2 * half));
      refresh = 1;
      again = 1;
    } else {
      real moved = max(abs(z - y) ./ fmax(1, abs(z)));
      y = z;
      r = s;
      half = now;
      refresh = 0;
      if (max(abs(r)) <= small) {
        stop = 1;
      } else if (moved <= shortest) { // Stan takes this for a solution, too
        stop = fresh;
        refresh = 1;
      } else if (steps >= most) {
        reject("the equations are not solved after ", most, " steps; the norm of the residuals is ", norm2(r));
      } else {
        long = a * length > 0.99 * longest ? long + 1 : 0;
        if (long == 5)
          reject("the equations cannot be solved from this guess: the unknowns grow without end");
        if (steps - watched >= 5) {
          real excess = fmax(0, norm2(r) / small - 1);
          real share = excess > 12 ? 0.9 : fmin(1e-5 * exp(excess), 0.9);
          watched = steps;
          if (norm2(r) > share * reached)
            refresh = 1;
          else
            reached = norm2(r);
        } else if (again || due) {
          reached = norm2(r);
        }
      }
      again = 0;
    }
  }
  return exact(y $args);
}
