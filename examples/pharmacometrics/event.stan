// Time to an event whose hazard falls with the concentration of a drug. The kinetics are known:
// a clearance for each subject, a volume of 35 and an absorption rate of 1.1.
functions {
  // The hazard, which is the slope of the cumulative hazard. z has the amounts in depot and centre.
  vector hazard(real t, vector y, vector z, array[] real theta, array[] real x_r, array[] int x_i) {
    return [theta[4] * exp(-theta[5] * z[2] / theta[2])]';
  }
}
data {
  int<lower=1> nt, nSubjects;
  int<lower=0> nObs;
  array[nSubjects] int start, len;
  array[nt] real time, amt, rate, ii;
  array[nt] int evid, cmt, addl, ss;
  array[nt] real CL;
  array[nObs] int iObs;
  vector<lower=0, upper=1>[nObs] cObs; // 1: event, 0: followed until then without one
}
parameters {
  real<lower=0> h0;
  real b;
}
transformed parameters {
  vector[nObs] cumulative, log_hazard;
  {
    array[nSubjects, 5] real theta;
    for (j in 1:nSubjects)
      theta[j] = {CL[start[j]], 35, 1.1, h0, b};
    matrix[3, nt] y = pmx_solve_group_onecpt_rk45(hazard, 1, len, time, amt, rate, ii, evid, cmt, addl, ss,
                                                  theta, 1e-6, 1e-6, 1000);
    cumulative = y[3, iObs]';
    log_hazard = log(h0) - b * y[2, iObs]' / 35;
  }
}
model {
  h0 ~ lognormal(log(0.05), 1);
  b ~ normal(0, 1);
  target += dot_product(cObs, log_hazard) - sum(cumulative);
}
generated quantities {
  real hazard_ratio = exp(-b); // of a concentration of 1 to none
}
