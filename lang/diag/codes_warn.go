package diag

// Warnings. Reported by lang/check.
const (
	// UsesItself: a variable is used in its own initial value.
	//
	// Example:
	//
	//	transformed data {
	//	  real x = x + 1;
	//	}
	//
	// Fixed:
	//
	//	transformed data {
	//	  real x = 1;
	//	}
	UsesItself Code = "W0201"

	// IntDivision: the remainder of a division of integers is dropped.
	//
	// Nothing is said where an int is wanted, as in an index, unless both are
	// literals.
	//
	// Example:
	//
	//	transformed data {
	//	  real x = 1 / 2;
	//	}
	//
	// Fixed:
	//
	//	transformed data {
	//	  real x = 1.0 / 2;
	//	}
	IntDivision Code = "W0301"

	// ChainedComparison: a comparison, or a negation, is compared.
	//
	// Example:
	//
	//	data {
	//	  real x;
	//	}
	//	transformed data {
	//	  int ok = 0 < x < 1;
	//	}
	//
	// Fixed:
	//
	//	data {
	//	  real x;
	//	}
	//	transformed data {
	//	  int ok = 0 < x && x < 1;
	//	}
	ChainedComparison Code = "W0302"

	// MatrixPower: the power of a matrix is taken element by element.
	//
	// Example:
	//
	//	data {
	//	  matrix[2, 2] x;
	//	}
	//	transformed data {
	//	  matrix[2, 2] y = x ^ 2;
	//	}
	//
	// Fixed:
	//
	//	data {
	//	  matrix[2, 2] x;
	//	}
	//	transformed data {
	//	  matrix[2, 2] y = x .^ 2;
	//	}
	MatrixPower Code = "W0303"

	// IndexFromOne: an index is less than 1.
	//
	// Example:
	//
	//	data {
	//	  vector[3] x;
	//	}
	//	transformed data {
	//	  real first = x[0];
	//	  print(first);
	//	}
	//
	// Fixed:
	//
	//	data {
	//	  vector[3] x;
	//	}
	//	transformed data {
	//	  real first = x[1];
	//	  print(first);
	//	}
	IndexFromOne Code = "W0304"

	// Unreachable: a statement can never be reached.
	//
	// Example:
	//
	//	model {
	//	  while (1) {
	//	    break;
	//	    print("here");
	//	  }
	//	}
	//
	// Fixed:
	//
	//	model {
	//	  while (1) {
	//	    print("here");
	//	    break;
	//	  }
	//	}
	Unreachable Code = "W0401"

	// SelfAssignment: a variable is assigned to itself.
	//
	// Example:
	//
	//	transformed data {
	//	  real x = 1;
	//	  x = x;
	//	}
	//
	// Fixed:
	//
	//	transformed data {
	//	  real x = 1;
	//	}
	SelfAssignment Code = "W0402"

	// Unused: a variable gets a value that nothing reads.
	//
	// Example:
	//
	//	transformed data {
	//	  real x = 1;
	//	}
	//
	// Fixed:
	//
	//	transformed data {
	//	  real x = 1;
	//	  print(x);
	//	}
	Unused Code = "W0403"

	// DeprecatedForm: Stan will remove this in a later version.
	//
	// Example:
	//
	//	functions {
	//	  real term_lp(real x) {
	//	    target += x;
	//	    return exp(x);
	//	  }
	//	}
	//	parameters {
	//	  real x;
	//	}
	//	transformed parameters {
	//	  real y = term_lp(x);
	//	}
	//
	// Fixed:
	//
	//	functions {
	//	  real term_jacobian(real x) {
	//	    jacobian += x;
	//	    return exp(x);
	//	  }
	//	}
	//	parameters {
	//	  real x;
	//	}
	//	transformed parameters {
	//	  real y = term_jacobian(x);
	//	}
	DeprecatedForm Code = "W0404"

	// Unassigned: a scalar is used that is never given a value.
	//
	// Example:
	//
	//	parameters {
	//	  real mu;
	//	}
	//	model {
	//	  real scale;
	//	  mu ~ normal(0, scale);
	//	}
	//
	// Fixed:
	//
	//	parameters {
	//	  real mu;
	//	}
	//	model {
	//	  real scale = 10;
	//	  mu ~ normal(0, scale);
	//	}
	Unassigned Code = "W0405"

	// NoPrior: the density does not depend on a parameter.
	//
	// Without a distribution and without bounds on both sides it has no proper
	// posterior.
	//
	// Example:
	//
	//	parameters {
	//	  real mu;
	//	  real nu;
	//	}
	//	model {
	//	  mu ~ normal(0, 1);
	//	}
	//
	// Fixed:
	//
	//	parameters {
	//	  real mu;
	//	}
	//	model {
	//	  mu ~ normal(0, 1);
	//	}
	NoPrior Code = "W0501"

	// NoJacobian: a nonlinear function of a parameter has a distribution.
	//
	// The density is one of the parameters as they are declared. A distribution of
	// f(x) says how probable x is only together with log |f'(x)|.
	//
	// Example:
	//
	//	parameters {
	//	  real<lower=0> sigma;
	//	}
	//	model {
	//	  log(sigma) ~ normal(0, 1);
	//	}
	//
	// Fixed:
	//
	//	parameters {
	//	  real<lower=0> sigma;
	//	}
	//	model {
	//	  log(sigma) ~ normal(0, 1);
	//	  target += -log(sigma);
	//	}
	NoJacobian Code = "W0502"

	// OutsideSupport: a parameter can have values that its distribution excludes.
	//
	// Example:
	//
	//	parameters {
	//	  real x;
	//	}
	//	model {
	//	  x ~ uniform(0, 1);
	//	}
	//
	// Fixed:
	//
	//	parameters {
	//	  real<lower=0, upper=1> x;
	//	}
	//	model {
	//	  x ~ uniform(0, 1);
	//	}
	OutsideSupport Code = "W0503"

	// OutsideDomain: a parameter can have values that a distribution does not take for an argument.
	//
	// A scale needs a lower bound of 0, a covariance the type cov_matrix, the
	// probabilities of outcomes a simplex, and so on.
	//
	// Example:
	//
	//	data {
	//	  vector[5] y;
	//	}
	//	parameters {
	//	  real mu;
	//	  real sigma;
	//	}
	//	model {
	//	  y ~ normal(mu, sigma);
	//	}
	//
	// Fixed:
	//
	//	data {
	//	  vector[5] y;
	//	}
	//	parameters {
	//	  real mu;
	//	  real<lower=0> sigma;
	//	}
	//	model {
	//	  y ~ normal(mu, sigma);
	//	}
	OutsideDomain Code = "W0504"

	// ConstantOutside: a constant is outside the domain of a distribution's argument.
	//
	// Example:
	//
	//	parameters {
	//	  real mu;
	//	}
	//	model {
	//	  mu ~ normal(0, -1);
	//	}
	//
	// Fixed:
	//
	//	parameters {
	//	  real mu;
	//	}
	//	model {
	//	  mu ~ normal(0, 1);
	//	}
	ConstantOutside Code = "W0505"

	// RealEquality: real numbers that parameters decide are compared for equality.
	//
	// Example:
	//
	//	parameters {
	//	  real<lower=0> x;
	//	}
	//	model {
	//	  if (x == 0) {
	//	    target += 1;
	//	  }
	//	  x ~ normal(0, 1);
	//	}
	//
	// Fixed:
	//
	//	parameters {
	//	  real<lower=0> x;
	//	}
	//	model {
	//	  x ~ normal(0, 1);
	//	}
	RealEquality Code = "W0506"

	// NoValues: the bounds of a variable leave it no value.
	//
	// Example:
	//
	//	parameters {
	//	  real<lower=1, upper=0> p;
	//	}
	//	model {
	//	  p ~ beta(2, 2);
	//	}
	//
	// Fixed:
	//
	//	parameters {
	//	  real<lower=0, upper=1> p;
	//	}
	//	model {
	//	  p ~ beta(2, 2);
	//	}
	NoValues Code = "W0507"
)
