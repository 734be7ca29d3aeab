package diag

// Warnings. Reported by lang/check.
const (
	// UsesItself: a variable is used in its own initial value.
	//
	// The variable has no value yet, so the result is meaningless. Use a constant or another
	// variable.
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

	// IntDivision: the division of integers drops the remainder.
	//
	// Write 1.0 / 2 for a real result. ppl does not warn where an int is expected, as in an
	// index, unless both operands are literals.
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

	// ChainedComparison: the result of a comparison or negation is compared.
	//
	// a < b < c compares 0 or 1 with c. Write a < b && b < c.
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

	// MatrixPower: ^ takes the power of each element of a matrix.
	//
	// If you mean the elements, write .^ instead. For the product of the matrix with itself, call
	// matrix_power.
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
	// Indices start at 1, not at 0 as in C or Python. Correct the index.
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

	// Unreachable: the statement can never be reached.
	//
	// A statement before it always leaves the loop or function. Delete the statement, or move it.
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
	// This has no effect. Delete the statement, or assign the value that you meant.
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
	// Delete the variable. If a result should be in the output, declare it in generated quantities.
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

	// DeprecatedForm: a later version of Stan will remove this.
	//
	// The program works today. Use the form that the message names.
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

	// Unassigned: a scalar is used but never assigned.
	//
	// An unassigned real is NaN, and an unassigned int is the smallest integer. Assign the
	// variable before you use it.
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
	// The parameter has neither a distribution nor bounds on both sides, so it has no proper
	// posterior. Give it a prior, or delete it.
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
	// The target must be the density of the parameter as declared. If you mean that f(x) has the
	// distribution, add log |f'(x)| to the target.
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

	// OutsideSupport: a parameter can take values that its distribution excludes.
	//
	// Points outside the support are rejected. Give the parameter the bounds of its distribution.
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

	// OutsideDomain: a parameter can take values that a distribution's argument does not allow.
	//
	// Declare the bounds or the type that the argument needs. A scale needs a lower bound of 0, a
	// covariance the type cov_matrix, and probabilities of outcomes a simplex.
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

	// ConstantOutside: a constant is outside the domain of the distribution's argument.
	//
	// The density is undefined there, so every point would be rejected. Correct the constant: a
	// scale, for instance, must be positive.
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

	// RealEquality: real numbers that depend on parameters are compared for equality.
	//
	// They are almost never equal. Compare their difference with a tolerance, or delete the
	// condition.
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

	// NoValues: no value satisfies the bounds of a variable.
	//
	// No point has positive density, so no chain can start. Correct the bounds.
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

	// CensoredValue: the values of censored data are used as if they were known.
	//
	// A censored value is given as its limit. Statements about the variable treat it as an
	// interval, other expressions use the limit.
	//
	// Example:
	//
	//	data {
	//	  vector<censored_below=0.5>[3] x;
	//	  vector[3] y;
	//	}
	//	parameters {
	//	  real b;
	//	}
	//	model {
	//	  y ~ normal(b * x, 1);
	//	}
	//
	// Fixed:
	//
	//	data {
	//	  vector[3] x;
	//	  vector<censored_below=0.5>[3] y;
	//	}
	//	parameters {
	//	  real b;
	//	}
	//	model {
	//	  y ~ normal(b * x, 1);
	//	}
	CensoredValue Code = "W0508"
)
