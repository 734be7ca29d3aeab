// The way from a point within a radius, in unknowns that are scaled, that makes the
// residuals r of a linear model with slopes b least on a dogleg: first along the steepest
// descent, then to where they are 0. With its sign turned.
vector dogleg(matrix b, vector r, vector scale, real radius) {
  int n = num_elements(r);
  vector[n] whole = b \ r;
  real reach = norm2(scale .* whole);
  vector[n] descent;
  real slope;
  real least = 0;
  real share;
  if (!(reach < positive_infinity())) { // a slope that is 0 is taken for a very small one
    matrix[n, n] triangle = qr_thin_R(b);
    vector[n] rotated = qr_thin_Q(b)' * r;
    for (j in 1:n)
      if (triangle[j, j] == 0) {
        real largest = max(triangle[1:j, j]);
        triangle[j, j] = machine_precision() * (largest == 0 ? 1 : largest);
      }
    whole = triangle \ rotated;
    reach = norm2(scale .* whole);
  }
  if (reach <= radius)
    return whole;
  descent = (b' * r) ./ scale;
  slope = norm2(descent);
  share = radius / reach;
  if (slope > 0) {
    descent = descent ./ scale / slope;
    least = slope / dot_self(b * descent); // how far it descends
    if (least < radius) {
      real u = radius / reach;
      real v = least / radius;
      real w = norm2(r) / slope * (norm2(r) / reach) * v;
      share = u * (1 - square(v)) / (w - u * square(v) + sqrt(square(w - u) + (1 - square(u)) * (1 - square(v))));
    } else {
      share = 0;
    }
  }
  return (1 - share) * fmin(least, radius) * descent + share * whole;
}

// Powell's hybrid method (M. J. D. Powell, 1970), with the constants of MINPACK's hybrj, which
// Stan uses: where equations have several solutions, it finds the one that Stan finds. Of
// the slopes, those along a step are brought up to date by Broyden's formula; all are
// evaluated again when two steps in a row have failed: in Stan, and so here, at the last
// point that was tried, not at y.
vector hybrid(vector guess, real relative, real tolerance, int most $params) {
  int n = num_elements(guess);
  vector[n] y = detach(guess);
  vector[n] z = y; // the last point that was tried
  vector[n] r = detach(system(y $args));
  vector[n] scale = rep_vector(0, n);
  real norm = norm2(r);
  real size = 0; // of y, scaled
  real radius = 0;
  int first = 1; // no step has been taken
  int calls = 1;
  int gained = 0; // steps in a row
  int failed = 0;
  int slow = 0;
  int slowSlopes = 0;
  int stop = norm == 0 || n == 0;
  if (!(relative >= 0 && tolerance >= 0) || most < 1)
    reject("the tolerances must not be negative, and the evaluations must be positive, but they are ",
           relative, ", ", tolerance, " and ", most);
  while (!stop) {
    matrix[n, n] b = detach(jacobian_system_0(z $args));
    int fresh = 1;
    int again = 0;
    for (j in 1:n) {
      real slope = norm2(b[, j]);
      scale[j] = first ? (slope == 0 ? 1 : slope) : fmax(scale[j], slope);
    }
    if (first) {
      size = norm2(scale .* y);
      radius = size == 0 ? 100 : 100 * size;
    }
    while (!stop && !again) {
      vector[n] p = -dogleg(b, r, scale, radius);
      vector[n] s;
      vector[n] expected = r + b * p;
      real way = norm2(scale .* p);
      real next;
      real gain;
      real hope = norm2(expected) < norm ? 1 - square(norm2(expected) / norm) : 0;
      real ratio;
      z = y + p;
      s = detach(system(z $args));
      calls += 1;
      next = norm2(s);
      gain = next < norm ? 1 - square(next / norm) : -1;
      ratio = hope > 0 ? gain / hope : 0;
      if (first)
        radius = fmin(radius, way);
      if (ratio < 0.1) {
        gained = 0;
        failed += 1;
        radius *= 0.5;
      } else {
        failed = 0;
        gained += 1;
        if (ratio >= 0.5 || gained > 1)
          radius = fmax(radius, 2 * way);
        if (abs(ratio - 1) <= 0.1)
          radius = 2 * way;
      }
      if (ratio >= 1e-4) {
        y = z;
        r = s;
        norm = next;
        size = norm2(scale .* y);
        first = 0;
      }
      slow = gain >= 1e-3 ? 0 : slow + 1;
      slowSlopes = gain >= 0.1 ? 0 : slowSlopes + fresh;
      if (radius <= relative * size || norm == 0 || calls >= most || slow == 10 || slowSlopes == 5
          || 0.1 * fmax(0.1 * radius, way) <= machine_precision() * size) {
        stop = 1;
      } else if (failed == 2) {
        again = 1;
      } else {
        b += (s - expected) * (square(scale) .* p)' / square(way);
        fresh = 0;
      }
    }
  }
  if (calls >= most)
    reject("the equations are not solved after ", most, " evaluations; the norm of the residuals is ", norm);
  if (!(norm <= tolerance))
    reject("the equations cannot be solved from this guess; the norm of the residuals is ", norm);
  return exact(y $args);
}
