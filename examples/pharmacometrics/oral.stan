// Doses by mouth, one compartment, several subjects. Clearance and volume differ between subjects.
data {
  int<lower=1> nt, nSubjects;
  int<lower=0> nObs;
  array[nSubjects] int start, end, len;
  array[nt] real time, amt, rate, ii;
  array[nt] int evid, cmt, addl, ss;
  array[nObs] int iObs;
  vector<lower=0>[nObs] cObs;
}
parameters {
  real<lower=0> CL, V;
  real<lower=CL / V> ka; // absorption is faster than elimination
  vector<lower=0>[2] omega;
  array[nSubjects] vector[2] eta;
  real<lower=0> sigma;
}
transformed parameters {
  array[nSubjects, 3] real theta;
  vector[nt] c;
  for (j in 1:nSubjects)
    theta[j] = {CL * exp(omega[1] * eta[j, 1]), V * exp(omega[2] * eta[j, 2]), ka};
  c = pmx_solve_group_onecpt(len, time, amt, rate, ii, evid, cmt, addl, ss, theta)[2]';
  for (j in 1:nSubjects)
    c[start[j]:end[j]] /= theta[j, 2];
}
model {
  CL ~ lognormal(log(5), 0.5);
  V ~ lognormal(log(30), 0.5);
  ka ~ lognormal(0, 0.5);
  omega ~ normal(0, 0.5);
  for (j in 1:nSubjects)
    eta[j] ~ std_normal();
  sigma ~ normal(0, 0.5);
  cObs ~ lognormal(log(c[iObs]), sigma);
}
