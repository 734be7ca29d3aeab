package diag

// Data and what they decide. Reported by compile when data are bound; the first
// line of an example holds the data.
const (
	// DataMissing: the data have no value for a declared variable.
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

	// DataSize: a value has other sizes than its declaration.
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

	// DataNotInt: a variable declared int was given a number with a fraction.
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

	// DataBounds: a value is outside its declared bounds.
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

	// OutsideBounds: transformed data has computed a value outside its declared
	// bounds.
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

	// SizeMismatch: the sizes of an assignment's two sides differ.
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

	// NegativeSize: a size is less than zero, or too small for its type.
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

	// Rejected: the program's own reject statement refuses the data.
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

	// BadCall: arguments of a call have the right types but do not fit together.
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

	// IntArithmetic: arithmetic with integers has no result.
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

	// NoReturn: a function came to its end without a return statement.
	//
	// The checker refuses most such functions; what is left is reported when the
	// end is reached.
	NoReturn Code = "E0612"

	// EndlessRecursion: a function calls itself without end.
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
	EndlessLoop Code = "E0614"

	// TooLarge: binding the model to these data, or an evaluation of it, would need more
	// memory or run more statements than is allowed.
	//
	// The limits keep a mistake in a size or in the end of a loop from taking the whole
	// machine. They can be raised: by options of the command, and by fields of BindOptions
	// in Go.
	TooLarge Code = "E0615"

	// UnknownInt: an integer that has to be known when data are bound, such as
	// a size, depends on parameters or on random draws.
	//
	// Programs may do that: their log density is then interpreted at every point.
	// What needs the log density as a graph, such as the metric "fisher", reports
	// it.
	UnknownInt Code = "E0616"

	// DataForm: the data cannot be read: the file is not in its format, or a value is no
	// number.
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
)

// Understood but not supported. Reported by compile.
const (
	// NotSupported: what parameters or random draws decide has no place in a graph.
	//
	// Programs may do that: their log density is then interpreted at every point.
	// What needs the log density as a graph, such as the metric "fisher", reports
	// it.
	NotSupported Code = "E0901"
)
