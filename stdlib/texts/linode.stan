// A linear system with the matrix p.

vector advance(vector y, vector r, array[] int into, real from, real t, matrix p) {
  int n = num_elements(y);
  if (max(into) < 2)
    return matrix_exp(t * p) * y;
  // The inflow is one more compartment, which does not change.
  matrix[n + 1, n + 1] with;
  with[1:n, 1:n] = t * p;
  with[1:n, n + 1] = t * r;
  with[n + 1, ] = rep_row_vector(0, n + 1);
  return (matrix_exp(with) * append_row(y, 1))[1:n];
}

vector settle(vector w, real t, matrix p) {
  int n = num_elements(w);
  return (identity_matrix(n) - matrix_exp(t * p)) \ w;
}

vector constant(vector r, array[] int into, real at, matrix p) { return -(p \ r); }

void check_parameters(array[] matrix theta, int exact) {
  for (i in 1:size(theta)) {
    if (rows(theta[i]) != cols(theta[i]))
      reject("the matrix of a linear system must be square, but it has ", rows(theta[i]), " rows and ", cols(theta[i]), " columns");
  }
}
