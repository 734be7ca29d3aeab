// Indirect response: a drug inhibits the production of a substance. The kinetics are known: a
// clearance for each subject, a volume of 35 and an absorption rate of 1.1.
functions {
  // The slope of the response. y is its distance from the baseline, as a share of the baseline: it
  // begins at 0.
  vector turnover(real t, vector y, vector z, array[] real theta, array[] real x_r, array[] int x_i) {
    real c = z[2] / theta[2];
    return [theta[4] * (theta[5] / (theta[5] + c) - (1 + y[1]))]';
  }
}
data {
  int<lower=1> nt, nSubjects;
  int<lower=0> nObs;
  array[nSubjects] int start, len;
  array[nt] real time, amt, rate, ii;
  array[nt] int evid, cmt, addl, ss, id;
  array[nt] real CL;
  array[nObs] int iObs;
  vector<lower=0>[nObs] cObs;
}
parameters {
  real<lower=0> base, kout, IC50, omega, sigma;
  vector[nSubjects] eta;
}
transformed parameters {
  vector<lower=0>[nObs] expected;
  {
    array[nSubjects, 5] real theta;
    for (j in 1:nSubjects)
      theta[j] = {CL[start[j]], 35, 1.1, kout, IC50};
    matrix[3, nt] y = pmx_solve_group_onecpt_rk45(turnover, 1, len, time, amt, rate, ii, evid, cmt, addl, ss,
                                                  theta, 1e-6, 1e-6, 1000);
    expected = base * exp(omega * eta[id[iObs]]) .* (1 + y[3, iObs]');
  }
}
model {
  base ~ lognormal(log(100), 0.5);
  kout ~ lognormal(log(0.2), 0.5);
  IC50 ~ lognormal(0, 0.5);
  omega ~ normal(0, 0.5);
  eta ~ std_normal();
  sigma ~ normal(0, 0.2);
  cObs ~ lognormal(log(expected), sigma);
}
