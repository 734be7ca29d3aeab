// Several ridges along parabolas.
data {
  int<lower=1> n;
}
parameters {
  vector[n] a;
  vector[n] b;
}
model {
  a ~ std_normal();
  b ~ normal(square(a), 0.2);
}
