package diag

// Data and what they decide. Reported by compile when data are bound; the first
// line of an example holds the data.
const (
	// DataMissing: the data lack a value for a declared variable.
	//
	// Add it to the data file, or delete the declaration.
	//
	// Example:
	//
	//	// {"n": 3}
	//	data {
	//	  int N;
	//	}
	//
	// Fixed:
	//
	//	// {"N": 3}
	//	data {
	//	  int N;
	//	}
	DataMissing Code = "E0601"

	// DataSize: the sizes of a value differ from its declaration.
	//
	// Correct the declaration or the data. Often a count, such as N, does not match the data.
	//
	// Example:
	//
	//	// {"N": 3, "y": [1.5, 2.5]}
	//	data {
	//	  int N;
	//	  vector[N] y;
	//	}
	//
	// Fixed:
	//
	//	// {"N": 2, "y": [1.5, 2.5]}
	//	data {
	//	  int N;
	//	  vector[N] y;
	//	}
	DataSize Code = "E0602"

	// DataNotInt: a value for an int variable has a fraction.
	//
	// Round the value, or declare the variable real.
	//
	// Example:
	//
	//	// {"N": 2.5}
	//	data {
	//	  int N;
	//	}
	//
	// Fixed:
	//
	//	// {"N": 2}
	//	data {
	//	  int N;
	//	}
	DataNotInt Code = "E0603"

	// DataBounds: a value is outside the declared bounds of its variable.
	//
	// Correct the value. If it is right, widen the bounds of the declaration.
	//
	// Example:
	//
	//	// {"N": -1}
	//	data {
	//	  int<lower=0> N;
	//	}
	//
	// Fixed:
	//
	//	// {"N": 1}
	//	data {
	//	  int<lower=0> N;
	//	}
	DataBounds Code = "E0604"

	// OutsideBounds: transformed data computed a value outside its declared bounds.
	//
	// Correct the computation. If the value is right, widen the bounds of the declaration.
	//
	// Example:
	//
	//	transformed data {
	//	  real<lower=0> x = log(0.5);
	//	}
	//
	// Fixed:
	//
	//	transformed data {
	//	  real<upper=0> x = log(0.5);
	//	}
	OutsideBounds Code = "E0605"

	// IndexRange: an index is less than 1 or greater than the size.
	//
	// Indices run from 1 to the size. Correct the index, or the size of the variable.
	//
	// Example:
	//
	//	parameters {
	//	  vector[3] theta;
	//	}
	//	model {
	//	  target += theta[4];
	//	}
	//
	// Fixed:
	//
	//	parameters {
	//	  vector[3] theta;
	//	}
	//	model {
	//	  target += theta[3];
	//	}
	IndexRange Code = "E0606"

	// SizeMismatch: the two sides of an assignment have different sizes.
	//
	// An assignment cannot change the size of a variable. Declare it with the size of the value.
	//
	// Example:
	//
	//	transformed data {
	//	  vector[3] x = [1, 2]';
	//	}
	//
	// Fixed:
	//
	//	transformed data {
	//	  vector[2] x = [1, 2]';
	//	}
	SizeMismatch Code = "E0607"

	// NegativeSize: a size is negative, or too small for its type.
	//
	// Sizes are 0 or more; a simplex, for instance, needs at least one element. Correct the data
	// or the expression.
	//
	// Example:
	//
	//	// {"N": 0}
	//	data {
	//	  int N;
	//	}
	//	parameters {
	//	  vector[N - 1] x;
	//	}
	//
	// Fixed:
	//
	//	// {"N": 1}
	//	data {
	//	  int N;
	//	}
	//	parameters {
	//	  vector[N - 1] x;
	//	}
	NegativeSize Code = "E0608"

	// Rejected: a reject statement of the program refused the data.
	//
	// The message comes from the model: its author stops the run for such data. Correct the data.
	//
	// Example:
	//
	//	// {"N": 1}
	//	data {
	//	  int N;
	//	}
	//	transformed data {
	//	  if (N < 2) reject("need at least two, got ", N);
	//	}
	//
	// Fixed:
	//
	//	// {"N": 2}
	//	data {
	//	  int N;
	//	}
	//	transformed data {
	//	  if (N < 2) reject("need at least two, got ", N);
	//	}
	Rejected Code = "E0609"

	// BadCall: the arguments of a call do not fit together.
	//
	// The types of the arguments are right, but not their sizes or values. Correct the argument
	// that the message names.
	//
	// Example:
	//
	//	transformed data {
	//	  real x = dot_product([1, 2], [1, 2, 3]);
	//	}
	//
	// Fixed:
	//
	//	transformed data {
	//	  real x = dot_product([1, 2], [1, 2]);
	//	}
	BadCall Code = "E0610"

	// IntArithmetic: an operation on integers has no result.
	//
	// Examples are a division by zero and a result above 2147483647. Correct the data, or compute
	// with real numbers.
	//
	// Example:
	//
	//	// {"N": 0}
	//	data {
	//	  int N;
	//	}
	//	transformed data {
	//	  int k = 10 % N;
	//	}
	//
	// Fixed:
	//
	//	// {"N": 3}
	//	data {
	//	  int N;
	//	}
	//	transformed data {
	//	  int k = 10 % N;
	//	}
	IntArithmetic Code = "E0611"

	// NoReturn: a function ended without a return statement.
	//
	// ppl rejects most such functions before a run. It reports the others when a call reaches
	// the end. Add a return statement there.
	NoReturn Code = "E0612"

	// EndlessRecursion: a function calls itself without end.
	//
	// Add a case that returns without a call.
	//
	// Example:
	//
	//	functions {
	//	  int f(int n) {
	//	    return f(n + 1);
	//	  }
	//	}
	//	transformed data {
	//	  int k = f(0);
	//	}
	//
	// Fixed:
	//
	//	functions {
	//	  int f(int n) {
	//	    if (n > 9) return n;
	//	    return f(n + 1);
	//	  }
	//	}
	//	transformed data {
	//	  int k = f(0);
	//	}
	EndlessRecursion Code = "E0613"

	// EndlessLoop: a while loop does not end.
	//
	// Change the condition, or let the loop change a variable that the condition reads.
	EndlessLoop Code = "E0614"

	// TooLarge: the model with these data needs more memory than is allowed.
	//
	// The limit protects the machine from a wrong size. The help of the message names the flag
	// that raises it; in Go, set fields of BindOptions.
	TooLarge Code = "E0615"

	// UnknownInt: a size or other fixed integer depends on parameters or random draws.
	//
	// ppl runs such programs, but interprets them at each point, which is slower. Only features
	// that need a compiled log density, such as the metric "fisher", report this error. Leave out
	// the feature, or compute the integer from data alone.
	UnknownInt Code = "E0616"

	// DataForm: the data cannot be read.
	//
	// The file is not valid JSON, CSV or R dump, or a value is not a number. Correct the file at
	// the place that the message names.
	//
	// Example:
	//
	//	// {"N": "three"}
	//	data {
	//	  int N;
	//	}
	//
	// Fixed:
	//
	//	// {"N": 3}
	//	data {
	//	  int N;
	//	}
	DataForm Code = "E0617"

	// Impossible: the data alone make a statement of the model fail, whatever the parameters are.
	//
	// No chain could start, because every point is rejected or has density zero. Correct the data
	// or the statement.
	//
	// Example:
	//
	//	// {"N": 2, "n": [3, 4], "y": [5, 1]}
	//	data {
	//	  int<lower=0> N;
	//	  array[N] int n;
	//	  array[N] int y;
	//	}
	//	parameters {
	//	  real<lower=0, upper=1> p;
	//	}
	//	model {
	//	  y ~ binomial(n, p);
	//	}
	//
	// Fixed:
	//
	//	// {"N": 2, "n": [5, 4], "y": [5, 1]}
	//	data {
	//	  int<lower=0> N;
	//	  array[N] int n;
	//	  array[N] int y;
	//	}
	//	parameters {
	//	  real<lower=0, upper=1> p;
	//	}
	//	model {
	//	  y ~ binomial(n, p);
	//	}
	Impossible Code = "E0618"

	// DataUnknown: a Go map or struct has a key or field that the model does not declare.
	//
	// A map or struct is written for one model, so the name is probably misspelt. To leave a
	// field out, give it the tag `ppl:"-"`. Files, and data that ReadData has read, may have
	// more variables than the model declares.
	DataUnknown Code = "E0619"

	// SlowLoop: a long loop changes arrays one iteration after another.
	//
	// The results are right, but each number takes 20 to 100 ns, about fifty times as long as in a
	// vector. ppl turns most loops into vector operations, or into recurrences that keep a few
	// numbers. This loop reads earlier elements at varying distances, or a parameter decides where
	// it ends. Read at a fixed distance if you can. Iterations of other loops copy whole arrays:
	// they move slices, or change arrays and contain a `while` loop. `ppl run`, `ppl explain` and
	// pedantic checks with data report this.
	//
	// Example:
	//
	//	transformed data {
	//	  int T = 5000;
	//	}
	//	parameters {
	//	  real<lower=-1, upper=1> phi;
	//	}
	//	model {
	//	  vector[T] x;
	//	  for (t in 1:3) x[t] = 1;
	//	  for (t in 4:T) x[t] = phi * x[t - 1 - t % 3];
	//	  x ~ normal(0, 1);
	//	}
	//
	// Fixed:
	//
	//	transformed data {
	//	  int T = 5000;
	//	}
	//	parameters {
	//	  real<lower=-1, upper=1> phi;
	//	}
	//	model {
	//	  vector[T] x;
	//	  for (t in 1:3) x[t] = 1;
	//	  for (t in 4:T) x[t] = phi * x[t - 3];
	//	  x ~ normal(0, 1);
	//	}
	SlowLoop Code = "W0607"

	// TooManyStatements: the model with these data runs more statements than is allowed.
	//
	// The limit stops an endless loop. If the model needs more, the help of the message names
	// the flag that raises the limit; in Go, set BindOptions.Statements.
	TooManyStatements Code = "E0620"

	// DiscreteParameter: a discrete parameter has no value, an impossible size or no distribution.
	//
	// An integer parameter is summed over the values between its bounds. With these data there are
	// none, or its size is negative: check the data that decide its bounds and its size. Or it has
	// no upper bound, and no statement makes its larger values improbable: give it a distribution.
	DiscreteParameter Code = "E0621"

	// DiscreteWidth: the sum over the discrete parameters is too large.
	//
	// Integer parameters are summed out one after another. A step needs a table with an entry for
	// each combination of values of the elements that statements connect with it. The message lists
	// them. Write each statement about as few elements as possible, for instance in a loop over
	// them; give the parameters closer bounds; or let data decide some of them.
	DiscreteWidth Code = "E0622"
)

// Understood but not supported. Reported by compile.
const (
	// NotSupported: a feature needs a compiled log density, which this program does not have.
	//
	// ppl runs such programs, but interprets them at each point, which is slower. Only features
	// that need a compiled log density, such as the metric "fisher", report this error. Leave out
	// the feature, or rewrite the statement that the message points at.
	NotSupported Code = "E0901"
)
