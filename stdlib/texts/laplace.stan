// The embedded Laplace approximation (C. E. Rasmussen, C. K. I. Williams, 2006,
// section 3.4; C. C. Margossian, arXiv:2306.14976): theta ~ N(0, K), the log
// likelihood l(theta), its negative Hessian W. With theta = K a, which needs no
// inverse of K, the mode is where the gradient of l is a; Newton's step is
// (I + W K)⁻¹ (gradient - a).
vector slope(vector theta $params) { return jacobian_likelihood_0(theta $args)[1]'; }
real along(vector theta, vector v $params) { return dot_product(slope(theta $args), v); }

// W, of which only blocks along the diagonal are not zero: a derivative of the
// gradient for each position in a block.
matrix curvature(vector theta, int block $params) {
  int n = num_elements(theta);
  matrix[n, n] w = rep_matrix(0, n, n);
  if (block == n)
    return -jacobian_slope_0(theta $args);
  for (k in 1:block) {
    vector[n] v = rep_vector(0, n);
    vector[n] h;
    for (j in 1:(n %/% block)) v[(j - 1) * block + k] = 1;
    h = -jacobian_along_0(theta, v $args)[1]';
    for (j in 1:(n %/% block))
      w[((j - 1) * block + 1):(j * block), (j - 1) * block + k] = h[((j - 1) * block + 1):(j * block)];
  }
  return w;
}

// I + W K
matrix newton_matrix(vector theta, matrix K, int block $params) {
  if (block == 1)
    return add_diag(diag_pre_multiply(-jacobian_along_0(theta, rep_vector(1, rows(K)) $args)[1]', K), 1);
  return add_diag(curvature(theta, block $args) * K, 1);
}

// The a of the mode, by Newton's method with halved steps; it ends where a step
// would add less than the tolerance to the log density. Steps of theta are first
// limited, so that likelihoods of exp(theta) do not overflow.
vector search(matrix K, int block, vector guess, real tolerance, int most, int halvings $params) {
  int n = rows(K);
  vector[n] a = rep_vector(0, n);
  vector[n] theta = a;
  real value = detach(likelihood(theta $args));
  real gain = positive_infinity();
  real limit = 10;
  int steps = 0;
  if (max(abs(guess)) > 0) {
    vector[n] b = detach(newton_matrix(guess, K, block $args)
                         \ (slope(guess $args) - jacobian_along_0(guess, guess $args)[1]'));
    vector[n] z = K * b;
    real other = detach(likelihood(z $args) - 0.5 * dot_product(b, z));
    if (other > value) {
      a = b;
      theta = z;
      value = other;
    }
  }
  while (gain > tolerance) {
    vector[n] r = detach(slope(theta $args)) - a;
    vector[n] d = detach(newton_matrix(theta, K, block $args) \ r);
    vector[n] move = K * d;
    real s;
    gain = 0.5 * dot_product(move, r);
    if (gain < 0) { // where the curvature is of the wrong sign
      d = -d;
      move = -move;
      gain = -gain;
    }
    s = gain > tolerance ? fmin(1, limit / max(abs(move))) : 1;
    if (gain > tolerance) {
      int tries = 0;
      real next = detach(likelihood(theta + s * move $args) - 0.5 * dot_product(a + s * d, theta + s * move));
      while (!(next >= value - 1e-13 * abs(value)) && tries < halvings && s > 1e-10) {
        s *= 0.5;
        next = detach(likelihood(theta + s * move $args) - 0.5 * dot_product(a + s * d, theta + s * move));
        tries += 1;
      }
      if (!(next >= value - 1e-13 * abs(value)) && halvings > 0)
        reject("the mode cannot be found: no step from where the log density is ", value, " increases it");
      value = next;
      limit *= 2;
    }
    a += s * d;
    theta = K * a;
    steps += 1;
    if (steps > most)
      reject("the mode is not found after ", most, " steps; the last would have added ", gain, " to the log density");
  }
  if (!(gain <= tolerance))
    reject("the mode cannot be found: the log density or its derivatives are not numbers where the search came to");
  return a;
}

// The a of the mode with its derivatives, which are those of steps from the mode
// whose matrix stays: after k of them all derivatives up to order k are right.
vector mode(matrix K, int block, vector guess, real tolerance, int most, int solver, int halvings $params) {
  int n = rows(K);
  vector[n] a;
  matrix[n, n] inverse_matrix;
  if (cols(K) != n)
    reject("the covariance matrix must be square, but has ", n, " rows and ", cols(K), " columns");
  if (num_elements(guess) != n)
    reject("the initial guess must have ", n, " elements, as the covariance matrix has rows, but has ", num_elements(guess));
  if (block < 1 || n % block != 0)
    reject("the size of the blocks of the Hessian must divide the number of latent variables, ", n, ", but is ", block);
  if (!(tolerance >= 0) || most < 1 || halvings < 0)
    reject("the tolerance and the steps of the line search must not be negative, and the steps must be positive, but they are ",
           tolerance, ", ", halvings, " and ", most);
  if (solver < 1 || solver > 3)
    reject("the solver must be 1, 2 or 3, but is ", solver);
  a = search(detach(K), block, detach(guess), tolerance, most, halvings $args);
  inverse_matrix = detach(inverse(newton_matrix(K * a, K, block $args)));
  for (i in 1:3)
    a += inverse_matrix * (slope(K * a $args) - a);
  return a;
}

// The log marginal likelihood.
real marginal(matrix K, int block, vector guess, real tolerance, int most, int solver, int halvings $params) {
  int n = rows(K);
  vector[n] a = mode(K, block, guess, tolerance, most, solver, halvings $args);
  vector[n] theta = K * a;
  return likelihood(theta $args) - 0.5 * dot_product(a, theta) - 0.5 * log_determinant(newton_matrix(theta, K, block $args));
}

// The covariance matrix of the approximation, (K⁻¹ + W)⁻¹, at a mode.
matrix spread(vector theta, matrix K, int block $params) {
  matrix[rows(K), rows(K)] s = newton_matrix(theta, K, block $args)' \ K;
  return 0.5 * (s + s');
}

vector draw_rng(matrix K, int block, vector guess, real tolerance, int most, int solver, int halvings $params) {
  vector[rows(K)] theta = K * mode(K, block, guess, tolerance, most, solver, halvings $args);
  return multi_normal_rng(theta, spread(theta, K, block $args));
}

tuple(vector, matrix) approximation(matrix K, int block, vector guess, real tolerance, int most, int solver, int halvings $params) {
  vector[rows(K)] theta = K * mode(K, block, guess, tolerance, most, solver, halvings $args);
  return (theta, cholesky_decompose(spread(theta, K, block $args)));
}
