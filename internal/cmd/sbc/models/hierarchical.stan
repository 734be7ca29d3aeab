// Effects of groups, not centred.
transformed data {
  int J = 6;
  int N = 30;
  array[N] int<lower=1, upper=J> g;
  real mu_ = normal_rng(0, 1);
  real tau_ = abs(normal_rng(0, 1));
  vector[J] theta_;
  vector[N] y;
  for (j in 1:J) {
    theta_[j] = normal_rng(mu_, tau_);
  }
  for (n in 1:N) {
    g[n] = 1 + n % J;
    y[n] = normal_rng(theta_[g[n]], 0.7);
  }
}
parameters {
  real mu;
  real<lower=0> tau;
  vector[J] z;
}
transformed parameters {
  vector[J] theta = mu + tau * z;
}
model {
  mu ~ std_normal();
  tau ~ std_normal();
  z ~ std_normal();
  y ~ normal(theta[g], 0.7);
}
generated quantities {
  int below_mu = mu < mu_;
  int below_tau = tau < tau_;
  array[2] int below_theta = {theta[1] < theta_[1], theta[J] < theta_[J]};
}
