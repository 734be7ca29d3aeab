package diag

// Names and scopes. Reported by lang/check.
const (
	// UnknownVariable: a variable is not declared.
	//
	// Declare it, or correct the name. A variable is visible from its declaration to the closing
	// brace. Variables at the top level of a block are also visible in later blocks, except those
	// of the model block.
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

	// UnknownFunction: no function has this name.
	//
	// Correct the name, or define the function in the functions block. `ppl doc` lists the
	// functions of the library.
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

	// UnknownDistribution: no distribution has this name.
	//
	// Correct the name. You can use NAME after ~ if there is a function NAME_lpdf or NAME_lpmf.
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

	// Redeclared: the name is already in use.
	//
	// A variable cannot hide another one, even in an inner block. Choose another name.
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

	// ReservedName: the language reserves this name.
	//
	// Names that end in a suffix of densities, such as _lpdf or _lupdf, are for functions. Choose
	// another name.
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

	// CalledVariable: a variable is called as if it were a function.
	//
	// To select an element, use brackets, as in x[1].
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

	// NotAVariable: a function is used as if it were a variable.
	//
	// To call the function, add its arguments in parentheses.
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

	// RemovedFunction: the function belongs to an older version of Stan.
	//
	// Use the function that the message names. `ppl fmt` can upgrade the whole program.
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
	// TypeMismatch: a value has the wrong type.
	//
	// Convert the value, or change a declaration. ppl accepts an int where a real is expected,
	// and a real where a complex is.
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

	// BadArguments: the function does not accept these arguments.
	//
	// Change the arguments so that they fit one of the forms. `ppl doc NAME` lists the forms of a
	// library function.
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

	// AmbiguousCall: the call fits several forms of a function equally well.
	//
	// ppl calls the form that needs the fewest conversions from int to real. Here two forms need
	// equally many. Convert an argument yourself, for instance by writing 1.0 for 1.
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

	// BadOperand: the operator does not accept these operands.
	//
	// Vectors and matrices must have matching shapes and kinds. An apostrophe transposes: y' is a
	// row_vector if y is a vector. Operators do not apply to arrays.
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

	// TooManyIndices: there are more indices than the value has dimensions.
	//
	// Delete the indices that are too many. An array[N] vector[K] has two dimensions, a matrix
	// two, a vector one.
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

	// BadIndex: an index must be an int or an array of int.
	//
	// Declare the index int. The function to_int converts data of type real.
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

	// IntExpected: an int is expected here.
	//
	// Sizes, bounds of loops, index ranges and conditions are int. Declare the variable int, or
	// correct the expression.
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

	// MixedTypes: values that must have one type have several.
	//
	// The elements of an array or row_vector must have the same type, and so must the two results
	// of ?:. Convert the value that differs.
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

	// VoidValue: a function without a value is used as a value, or a value is not used.
	//
	// Assign the value, or delete the call. Call a void function as a statement.
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

	// BoundMismatch: the bound has the wrong type or size for the variable.
	//
	// Give one number as the bound, or a value with the shape of the variable. With the latter,
	// each element has its own bound.
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

	// IntVariate: a distribution of integers is used for a real variable.
	//
	// Declare counts and outcomes as int, or as array[N] int. If the values have fractions,
	// choose a continuous distribution.
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

	// Bar: the bar after the variate is missing, or there is one too many.
	//
	// Write normal_lpdf(y | mu, sigma): the bar separates the variate from the parameters of a
	// density or distribution function.
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

	// NotIterable: the loop runs over a value that has no elements.
	//
	// Write 1:N to count from 1 to N.
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
	// The largest int is 2147483647. Use a real instead, such as 3e9.
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

	// NotATuple: only tuples have numbered members.
	//
	// To select an element of a vector or array, use brackets, as in x[1].
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

	// NoMember: the tuple has no member with this number.
	//
	// Members are numbered from 1 in the order of the declaration. Correct the number.
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

	// BadFunctor: the function cannot be passed here.
	//
	// The library calls a passed function an unspecified number of times. So pass one that neither
	// draws random numbers nor adds to the target.
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

	// NoTruncation: the distribution cannot be truncated.
	//
	// Truncation divides by the probability between the bounds, so it needs NAME_lcdf and
	// NAME_lccdf. Delete T[ ], or use a distribution that has both for these arguments.
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

	// MissingNotAllowed: a variable that cannot have missing values is declared with missing.
	//
	// Missing values become parameters with the declared bounds. So only data can have them: real,
	// vector, row_vector, matrix, int, and arrays of these. Missing integers are summed out of the
	// density, over their values from the lower bound, so that they need one. Without an upper
	// bound, they are counts, and need a distribution.
	//
	// Example:
	//
	//	data {
	//	  array[3] int<missing> y;
	//	}
	//
	// Fixed:
	//
	//	data {
	//	  array[3] int<lower=0, missing> y;
	//	}
	MissingNotAllowed Code = "E0319"

	// MissingNotKnown: data with missing values are used before sampling.
	//
	// Their missing elements are parameters. Sizes, other data, transformed data and bounds of
	// parameters must be known before sampling. Use them in transformed parameters, in the model
	// or in generated quantities.
	//
	// Example:
	//
	//	data {
	//	  vector<missing>[3] y;
	//	}
	//	transformed data {
	//	  vector[3] z = y - 1;
	//	}
	//
	// Fixed:
	//
	//	data {
	//	  vector<missing>[3] y;
	//	}
	//	transformed parameters {
	//	  vector[3] z = y - 1;
	//	}
	MissingNotKnown Code = "E0320"

	// BeyondStan: an extension of ppl is used, but only Stan's language is allowed.
	//
	// This is checked on demand, for programs that others run with Stan. The command `ppl fmt` can
	// write discrete parameters, missing and censored values, and ragged arrays as Stan needs them.
	//
	// Example:
	//
	//	parameters {
	//	  array[2] int<lower=0, upper=1> z;
	//	}
	//	model {
	//	  z ~ bernoulli(0.3);
	//	}
	//
	// Fixed:
	//
	//	data {
	//	  array[2] int<lower=0, upper=1> z;
	//	}
	//	model {
	//	  z ~ bernoulli(0.3);
	//	}
	BeyondStan Code = "E0321"

	// CensoredNotAllowed: a declaration cannot have this entry that makes data censored.
	//
	// Data are censored by limits (censored_below, censored_above), or by a variable that says for
	// each value how it is censored (censored) or where its interval ends (censored_to). They are
	// real numbers or integers of the data block.
	//
	// Example:
	//
	//	data {
	//	  array[3] int<lower=-1, upper=1> side;
	//	  vector<censored=side, censored_below=0.5>[3] y;
	//	}
	//
	// Fixed:
	//
	//	data {
	//	  vector<censored_below=0.5>[3] y;
	//	}
	CensoredNotAllowed Code = "E0322"

	// CensoredVariate: a density of censored data cannot be computed.
	//
	// A censored value contributes the probability of its interval, which is computed from the
	// distribution functions of the distribution. So these must exist, the distribution must not be
	// truncated, and the left side must be the variable or elements of it.
	//
	// Example:
	//
	//	data {
	//	  vector<censored_below=0.5>[3] y;
	//	}
	//	parameters {
	//	  real mu;
	//	}
	//	model {
	//	  log(y) ~ normal(mu, 1);
	//	}
	//
	// Fixed:
	//
	//	data {
	//	  vector<censored_below=-0.7>[3] log_y;
	//	}
	//	parameters {
	//	  real mu;
	//	}
	//	model {
	//	  log_y ~ normal(mu, 1);
	//	}
	CensoredVariate Code = "E0323"
)
