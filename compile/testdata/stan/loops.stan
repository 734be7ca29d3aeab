// Loops whose bodies change what their bounds and elements are made of: the upper bound is
// evaluated before each iteration, the lower one once, elements at their turn. So it is where
// evaluating it does something. And the dimensions that loops go over.
functions {
  int counted_lp(int n, real x) {
    target += x;
    return n;
  }
  int twice_lp(int n, real x) {
    return counted_lp(n, x) + 0;
  }
  real shrinking(vector x) {
    real s = 0;
    int n = num_elements(x);
    for (i in 1:n) {
      if (x[i] > 0.5) {
        n -= 1;
        continue;
      }
      s += i * x[i];
    }
    return s + n;
  }
}
data {
  int<lower=3> N;
  vector[N] y;
}
parameters {
  vector[N] b;
}
model {
  {
    int i = N;
    for (j in 1:i) { i = 2; target += j * b[1]; }
    for (j in 1:i) { if (j == 2) i = N; target += -j * b[2]; }
    for (j in i:N) { i = N; target += square(j * b[3]) * -0.1; }
  }
  {
    vector[N] v = b;
    for (x in v) { v[3] = 10; target += x * b[1]; }
    for (x in v) { v = y; target += x * b[2]; }
  }
  {
    array[3] real v = {b[1], 2, 3};
    for (x in v) { v[2] = 10; if (x > 9) break; target += x * b[2]; }
    array[3] int k = {1, 2, 3};
    for (x in k) { k[3] = 10; target += x * b[3]; }
  }
  {
    matrix[2, 3] A = to_matrix([b[1], b[2], b[3], 1, 2, b[1]]', 2, 3);
    for (x in A) { A[2, 2] += x; target += x * A[1, 1]; }
    for (x in A) { A = A + 1; if (x > 4.5) break; target += x * b[2]; }
    int k = 0;
    for (x in A * A') { k += 1; if (k == 2) continue; target += k * x; if (k == 3) break; }
  }
  for (i in counted_lp(2, b[1]):counted_lp(4, b[2])) { target += i * b[3]; }
  for (i in 1:twice_lp(3, 0.5 * b[4])) { if (i == 2) continue; target += i; }
  for (i in 1:counted_lp(0, b[2])) { target += 100; }
  for (i in 1:9) { if (i > 3 * (target() > -1e6)) break; target += square(b[1]) * i; }
  for (i in 1:2 + (target() > 1e3)) { target += 1e4 + b[2]; }
  {
    array[2] row_vector[3] r = rep_array([1, 2, 3], 2);
    array[2, 0] vector[3] none;
    for (k in dims(r)) { target += k * b[1]; }
    for (k in dims(none)) { target += (k + 1) * b[2]; }
    for (k in dims(b)) { target += k * square(b[2]); }
    target += sum(append_array(dims(y'), dims(b[1:0]))) + size(dims(rep_matrix(0, 0, 3)));
  }
  target += shrinking(y) * b[1] + shrinking(b) - dot_self(b);
}
