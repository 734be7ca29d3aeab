// For linear models, which define settle(w, t, p), the solution u of u = exp(K t) u + w.
vector periodic(vector dose, real amount, real rate, real part, real whole, real ii, array[] int into, real at $declared) {
  return settle(over(rep_vector(0, num_elements(dose)), dose, amount, rate, part, whole, ii, into, at $passed), ii $passed);
}
