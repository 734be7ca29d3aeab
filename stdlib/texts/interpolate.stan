// The value at a of the line through the points (x, y); outside of them, that of the nearest.
real interpolated(real a, array[] real x, array[] real y) {
  int n = size(x);
  int i = 1;
  if (n == 0 || size(y) != n)
    reject("x and y must have as many elements as each other, and at least one, but they have ", n, " and ", size(y));
  for (k in 2:n)
    if (!(x[k] > x[k - 1]))
      reject("x must increase, but element ", k, " is ", x[k], " after ", x[k - 1]);
  if (n == 1 || a < x[1])
    return y[1];
  if (a >= x[n])
    return y[n];
  while (a >= x[i + 1])
    i += 1;
  return y[i] + (y[i + 1] - y[i]) / (x[i + 1] - x[i]) * (a - x[i]);
}
