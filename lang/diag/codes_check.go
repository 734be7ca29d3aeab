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
)

// Rules of blocks and statements. Reported by lang/check.
const (
	// ReadOnly: something is assigned to that cannot be changed here.
	//
	// Data, parameters, variables of earlier blocks, loop variables and arguments
	// of functions are read-only.
	//
	// Example:
	//
	//	data {
	//	  int N;
	//	}
	//	transformed data {
	//	  N = 3;
	//	}
	//
	// Fixed:
	//
	//	data {
	//	  int N;
	//	}
	//	transformed data {
	//	  int M = 3;
	//	}
	ReadOnly Code = "E0401"

	// MultiIndexAssign: an element of a multiple selection is assigned to.
	//
	// Example:
	//
	//	transformed data {
	//	  array[3, 3] real x;
	//	  x[1:2][1] = {1, 2, 3};
	//	}
	//
	// Fixed:
	//
	//	transformed data {
	//	  array[3, 3] real x;
	//	  x[1] = {1, 2, 3};
	//	}
	MultiIndexAssign Code = "E0402"

	// SizeNotData: the size of a variable depends on a parameter.
	//
	// Example:
	//
	//	parameters {
	//	  real mu;
	//	}
	//	transformed parameters {
	//	  vector[mu > 0 ? 1 : 2] x;
	//	}
	//
	// Fixed:
	//
	//	parameters {
	//	  real mu;
	//	}
	//	transformed parameters {
	//	  vector[2] x;
	//	}
	SizeNotData Code = "E0403"

	// IntParameter: a parameter or transformed parameter is an integer.
	//
	// Example:
	//
	//	parameters {
	//	  int k;
	//	}
	//
	// Fixed:
	//
	//	parameters {
	//	  real k;
	//	}
	IntParameter Code = "E0404"

	// NoTarget: the target is used where there is none.
	//
	// Example:
	//
	//	parameters {
	//	  real mu;
	//	}
	//	generated quantities {
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
	NoTarget Code = "E0405"

	// NoRandom: a random number is drawn where the program must be deterministic.
	//
	// Example:
	//
	//	model {
	//	  real x = normal_rng(0, 1);
	//	}
	//
	// Fixed:
	//
	//	generated quantities {
	//	  real x = normal_rng(0, 1);
	//	}
	NoRandom Code = "E0406"

	// Unnormalised: a density without its constants is used where it means nothing.
	//
	// Example:
	//
	//	parameters {
	//	  real mu;
	//	}
	//	generated quantities {
	//	  real lp = normal_lupdf(mu | 0, 1);
	//	}
	//
	// Fixed:
	//
	//	parameters {
	//	  real mu;
	//	}
	//	generated quantities {
	//	  real lp = normal_lpdf(mu | 0, 1);
	//	}
	Unnormalised Code = "E0407"

	// OutsideLoop: break or continue stands outside a loop.
	//
	// Example:
	//
	//	model {
	//	  break;
	//	}
	//
	// Fixed:
	//
	//	model {
	//	  while (1) {
	//	    break;
	//	  }
	//	}
	OutsideLoop Code = "E0408"

	// MisplacedReturn: return does not fit the place.
	//
	// It belongs into functions, with a value if and only if the function has a result.
	//
	// Example:
	//
	//	model {
	//	  return;
	//	}
	//
	// Fixed:
	//
	//	model {
	//	}
	MisplacedReturn Code = "E0409"

	// TildeSuffix: the name after ~ has a suffix.
	//
	// Example:
	//
	//	parameters {
	//	  real mu;
	//	}
	//	model {
	//	  mu ~ normal_lpdf(0, 1);
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
	TildeSuffix Code = "E0410"

	// ReadsAssigned: an index on the left of an assignment depends on the variable that is assigned to.
	//
	// Example:
	//
	//	transformed data {
	//	  array[2] int x = {1, 2};
	//	  x[x[1]] = 3;
	//	}
	//
	// Fixed:
	//
	//	transformed data {
	//	  array[2] int x = {1, 2};
	//	  int i = x[1];
	//	  x[i] = 3;
	//	}
	ReadsAssigned Code = "E0411"
)

// User functions. Reported by lang/check.
const (
	// FunctionRedefined: a function is defined that exists already.
	//
	// Functions may share a name if the types of their arguments differ.
	//
	// Example:
	//
	//	functions {
	//	  real f(real x) {
	//	    return x;
	//	  }
	//	  real f(real y) {
	//	    return -y;
	//	  }
	//	}
	//
	// Fixed:
	//
	//	functions {
	//	  real f(real x) {
	//	    return x;
	//	  }
	//	  real f(vector y) {
	//	    return sum(y);
	//	  }
	//	}
	FunctionRedefined Code = "E0501"

	// NoDefinition: a function is declared but not defined.
	//
	// Example:
	//
	//	functions {
	//	  real f(real x);
	//	}
	//
	// Fixed:
	//
	//	functions {
	//	  real f(real x) {
	//	    return x;
	//	  }
	//	}
	NoDefinition Code = "E0502"

	// DensityForm: a function does not have the form that its suffix promises.
	//
	// Densities and distribution functions return real; the first argument of
	// _lpdf is real, that of _lpmf is int.
	//
	// Example:
	//
	//	functions {
	//	  real f_lpmf(real x) {
	//	    return -x;
	//	  }
	//	}
	//
	// Fixed:
	//
	//	functions {
	//	  real f_lpdf(real x) {
	//	    return -x;
	//	  }
	//	}
	DensityForm Code = "E0503"

	// MissingReturn: a function can end without returning its value.
	//
	// Example:
	//
	//	functions {
	//	  real f(real x) {
	//	    if (x > 0) {
	//	      return x;
	//	    }
	//	  }
	//	}
	//
	// Fixed:
	//
	//	functions {
	//	  real f(real x) {
	//	    if (x > 0) {
	//	      return x;
	//	    }
	//	    return -x;
	//	  }
	//	}
	MissingReturn Code = "E0504"
)

// Understood but not supported. Reported by lang/check and compile.
const (
	// NotSupported: a part of Stan's language is used that ppl cannot run yet.
	//
	// Example:
	//
	//	parameters {
	//	  cov_matrix[3] S;
	//	}
	//
	// Fixed:
	//
	//	parameters {
	//	  simplex[3] s;
	//	}
	NotSupported Code = "E0901"
)

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

	// ChainedComparison: a comparison is compared.
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
)
