package diag

// Names and scopes. Reported by lang/check.
const (
	// UnknownVariable: a name is used that is not declared.
	//
	// Variables are visible from their declaration to the end of the enclosing
	// braces; those at the top level of a block also in the later blocks, but for
	// the model block.
	//
	// Example:
	//
	//	parameters {
	//	  real mu;
	//	}
	//	model {
	//	  mu ~ normal(0, sigma);
	//	}
	//
	// Fixed:
	//
	//	parameters {
	//	  real mu;
	//	  real<lower=0> sigma;
	//	}
	//	model {
	//	  mu ~ normal(0, sigma);
	//	}
	UnknownVariable Code = "E0201"

	// UnknownFunction: a function is called that does not exist.
	//
	// Example:
	//
	//	transformed data {
	//	  real x = squareroot(2);
	//	}
	//
	// Fixed:
	//
	//	transformed data {
	//	  real x = sqrt(2);
	//	}
	UnknownFunction Code = "E0202"

	// UnknownDistribution: the name after ~ is no distribution.
	//
	// A distribution NAME is one for which there is a function NAME_lpdf or NAME_lpmf.
	//
	// Example:
	//
	//	parameters {
	//	  real mu;
	//	}
	//	model {
	//	  mu ~ gaussian(0, 1);
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
	UnknownDistribution Code = "E0203"

	// Redeclared: a name is declared that is already in use.
	//
	// No variable may hide another one, even in an inner block.
	//
	// Example:
	//
	//	data {
	//	  int N;
	//	}
	//	transformed data {
	//	  real N = 1;
	//	}
	//
	// Fixed:
	//
	//	data {
	//	  int N;
	//	}
	//	transformed data {
	//	  real M = 1;
	//	}
	Redeclared Code = "E0204"

	// ReservedName: a name cannot be declared because the language keeps it.
	//
	// Example:
	//
	//	parameters {
	//	  real mu_lupdf;
	//	}
	//
	// Fixed:
	//
	//	parameters {
	//	  real mu;
	//	}
	ReservedName Code = "E0205"

	// CalledVariable: a variable is called like a function.
	//
	// Example:
	//
	//	data {
	//	  vector[3] x;
	//	}
	//	transformed data {
	//	  real y = x(1);
	//	}
	//
	// Fixed:
	//
	//	data {
	//	  vector[3] x;
	//	}
	//	transformed data {
	//	  real y = x[1];
	//	}
	CalledVariable Code = "E0206"

	// NotAVariable: a function is used like a variable.
	//
	// Example:
	//
	//	transformed data {
	//	  real x = exp + 1;
	//	}
	//
	// Fixed:
	//
	//	transformed data {
	//	  real x = exp(1) + 1;
	//	}
	NotAVariable Code = "E0207"

	// RemovedFunction: a function of older versions of Stan is called.
	//
	// The formatter rewrites a program in the older syntax (setting "upgrade").
	//
	// Example:
	//
	//	parameters {
	//	  real y;
	//	}
	//	model {
	//	  target += normal_log(y, 0, 1);
	//	}
	//
	// Fixed:
	//
	//	parameters {
	//	  real y;
	//	}
	//	model {
	//	  target += normal_lpdf(y | 0, 1);
	//	}
	RemovedFunction Code = "E0208"
)

// Types and calls. Reported by lang/check.
const (
	// TypeMismatch: a value has another type than its place.
	//
	// An int may stand where a real is wanted; nothing else is converted.
	//
	// Example:
	//
	//	data {
	//	  vector[3] x;
	//	}
	//	transformed data {
	//	  real y;
	//	  y = x;
	//	}
	//
	// Fixed:
	//
	//	data {
	//	  vector[3] x;
	//	}
	//	transformed data {
	//	  real y;
	//	  y = sum(x);
	//	}
	TypeMismatch Code = "E0301"

	// BadArguments: a function does not take these arguments.
	//
	// Example:
	//
	//	data {
	//	  vector[3] x;
	//	}
	//	transformed data {
	//	  real y = sum(x, x);
	//	}
	//
	// Fixed:
	//
	//	data {
	//	  vector[3] x;
	//	}
	//	transformed data {
	//	  real y = sum(x);
	//	}
	BadArguments Code = "E0302"

	// AmbiguousCall: a call fits several forms of a function equally well.
	//
	// The form that needs the fewest promotions is called; if there are two, an
	// argument has to be converted.
	//
	// Example:
	//
	//	functions {
	//	  real f(int a, real b) {
	//	    return a + b;
	//	  }
	//	  real f(real a, int b) {
	//	    return a - b;
	//	  }
	//	}
	//	transformed data {
	//	  real x = f(1, 2);
	//	}
	//
	// Fixed:
	//
	//	functions {
	//	  real f(int a, real b) {
	//	    return a + b;
	//	  }
	//	  real f(real a, int b) {
	//	    return a - b;
	//	  }
	//	}
	//	transformed data {
	//	  real x = f(1, 2.0);
	//	}
	AmbiguousCall Code = "E0303"

	// BadOperand: an operator does not take these operands.
	//
	// Example:
	//
	//	data {
	//	  vector[3] x;
	//	  row_vector[3] y;
	//	}
	//	transformed data {
	//	  vector[3] z = x + y;
	//	}
	//
	// Fixed:
	//
	//	data {
	//	  vector[3] x;
	//	  row_vector[3] y;
	//	}
	//	transformed data {
	//	  vector[3] z = x + y';
	//	}
	BadOperand Code = "E0304"

	// TooManyIndices: a value is indexed with more indices than it has dimensions.
	//
	// Example:
	//
	//	data {
	//	  vector[3] x;
	//	}
	//	transformed data {
	//	  real y = x[1, 2];
	//	}
	//
	// Fixed:
	//
	//	data {
	//	  vector[3] x;
	//	}
	//	transformed data {
	//	  real y = x[1];
	//	}
	TooManyIndices Code = "E0305"

	// BadIndex: an index is neither an int nor an array of int.
	//
	// Example:
	//
	//	data {
	//	  vector[3] x;
	//	}
	//	transformed data {
	//	  real y = x[1.0];
	//	}
	//
	// Fixed:
	//
	//	data {
	//	  vector[3] x;
	//	}
	//	transformed data {
	//	  real y = x[1];
	//	}
	BadIndex Code = "E0306"

	// IntExpected: an int is wanted.
	//
	// Sizes, bounds of loops and of index ranges, and conditions are int.
	//
	// Example:
	//
	//	data {
	//	  real N;
	//	  vector[N] x;
	//	}
	//
	// Fixed:
	//
	//	data {
	//	  int N;
	//	  vector[N] x;
	//	}
	IntExpected Code = "E0307"

	// MixedTypes: things that must have one type have several.
	//
	// The elements of an array or row_vector, and the two results of ?:.
	//
	// Example:
	//
	//	data {
	//	  vector[2] x;
	//	}
	//	transformed data {
	//	  array[2] real y = {1, x};
	//	}
	//
	// Fixed:
	//
	//	data {
	//	  vector[2] x;
	//	}
	//	transformed data {
	//	  array[2] real y = {1, x[1]};
	//	}
	MixedTypes Code = "E0308"

	// VoidValue: a call without a value is used as one, or a value is not used.
	//
	// Example:
	//
	//	transformed data {
	//	  exp(1);
	//	}
	//
	// Fixed:
	//
	//	transformed data {
	//	  real x = exp(1);
	//	}
	VoidValue Code = "E0309"

	// BoundMismatch: a bound of a declaration does not fit the variable.
	//
	// Example:
	//
	//	data {
	//	  vector[2] x;
	//	}
	//	parameters {
	//	  real<lower=x> y;
	//	}
	//
	// Fixed:
	//
	//	data {
	//	  vector[2] x;
	//	}
	//	parameters {
	//	  real<lower=x[1]> y;
	//	}
	BoundMismatch Code = "E0310"

	// IntVariate: a distribution of integers is used for real values.
	//
	// Example:
	//
	//	data {
	//	  vector[3] y;
	//	}
	//	model {
	//	  y ~ poisson(2);
	//	}
	//
	// Fixed:
	//
	//	data {
	//	  array[3] int y;
	//	}
	//	model {
	//	  y ~ poisson(2);
	//	}
	IntVariate Code = "E0311"

	// Bar: a bar is missing after the variate, or stands where there is none.
	//
	// Example:
	//
	//	parameters {
	//	  real mu;
	//	}
	//	model {
	//	  target += normal_lpdf(mu, 0, 1);
	//	}
	//
	// Fixed:
	//
	//	parameters {
	//	  real mu;
	//	}
	//	model {
	//	  target += normal_lpdf(mu | 0, 1);
	//	}
	Bar Code = "E0312"

	// NotIterable: a loop runs over something that has no elements.
	//
	// Example:
	//
	//	transformed data {
	//	  int N = 3;
	//	  for (i in N) {
	//	    print(i);
	//	  }
	//	}
	//
	// Fixed:
	//
	//	transformed data {
	//	  int N = 3;
	//	  for (i in 1:N) {
	//	    print(i);
	//	  }
	//	}
	NotIterable Code = "E0313"

	// IntTooLarge: an integer does not fit into 32 bits.
	//
	// Example:
	//
	//	transformed data {
	//	  int x = 3000000000;
	//	}
	//
	// Fixed:
	//
	//	transformed data {
	//	  real x = 3e9;
	//	}
	IntTooLarge Code = "E0314"

	// NotATuple: a member is taken of something that is no tuple.
	//
	// Example:
	//
	//	data {
	//	  vector[3] x;
	//	}
	//	transformed data {
	//	  real y = x.1;
	//	}
	//
	// Fixed:
	//
	//	data {
	//	  vector[3] x;
	//	}
	//	transformed data {
	//	  real y = x[1];
	//	}
	NotATuple Code = "E0315"

	// NoMember: a tuple has fewer members.
	//
	// Example:
	//
	//	data {
	//	  tuple(int, real) x;
	//	}
	//	transformed data {
	//	  real y = x.3;
	//	}
	//
	// Fixed:
	//
	//	data {
	//	  tuple(int, real) x;
	//	}
	//	transformed data {
	//	  real y = x.2;
	//	}
	NoMember Code = "E0316"

	// BadFunctor: a function is passed that the other function cannot call.
	//
	// The library calls what it is given as often as it likes, so that drawing
	// random numbers or adding to the target would have no defined effect.
	//
	// Example:
	//
	//	functions {
	//	  vector f_rng(real t, vector y) {
	//	    return y;
	//	  }
	//	}
	//	generated quantities {
	//	  array[1] vector[1] y = ode_rk45(f_rng, [1]', 0, {1.0});
	//	}
	//
	// Fixed:
	//
	//	functions {
	//	  vector f(real t, vector y) {
	//	    return y;
	//	  }
	//	}
	//	generated quantities {
	//	  array[1] vector[1] y = ode_rk45(f, [1]', 0, {1.0});
	//	}
	BadFunctor Code = "E0317"

	// NoTruncation: a distribution is truncated whose distribution function is
	// not known.
	//
	// Truncation divides by the probability between the bounds, which takes
	// NAME_lcdf and NAME_lccdf for these arguments.
	//
	// Example:
	//
	//	parameters {
	//	  vector<lower=0>[3] x;
	//	}
	//	model {
	//	  x ~ multi_normal([0, 0, 0]', [[1, 0, 0], [0, 1, 0], [0, 0, 1]]) T[0, ];
	//	}
	//
	// Fixed:
	//
	//	parameters {
	//	  vector<lower=0>[3] x;
	//	}
	//	model {
	//	  x ~ normal(0, 1) T[0, ];
	//	}
	NoTruncation Code = "E0318"
)
