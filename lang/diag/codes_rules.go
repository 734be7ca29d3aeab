package diag

// Rules of blocks and statements. Reported by lang/check.
const (
	// ReadOnly: the variable cannot be assigned to here.
	//
	// Data, parameters, variables of earlier blocks, loop variables and function arguments are
	// read-only. Assign to a new variable instead.
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

	// MultiIndexAssign: you cannot assign to an element of a multiple selection.
	//
	// x[1:2] is a copy, so an assignment to an element of it would be lost. Index the variable
	// itself, as in x[1].
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
	// Sizes must be known when the data are read. Use data or transformed data.
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

	// IntParameter: an integer parameter has no lower bound, or is a transformed parameter.
	//
	// An integer parameter is summed out of the density: the bounds say which values the sum goes
	// over. Give it a lower bound, and an upper one if there is one; or declare it real. An integer
	// among transformed parameters must be computed from such parameters. Another one can be
	// computed in generated quantities, or in braces.
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
	//	  int<lower=0, upper=1> k;
	//	}
	IntParameter Code = "E0404"

	// NoTarget: the target cannot be used here.
	//
	// Only the model block, and functions whose name ends in _lp, add to the target. jacobian +=
	// belongs in transformed parameters, or in functions whose name ends in _jacobian.
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

	// NoRandom: random numbers are not allowed here.
	//
	// Random numbers would change the log density. Call functions that end in _rng in transformed
	// data or generated quantities.
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

	// Unnormalised: a density without its constants is meaningless here.
	//
	// Functions that end in _lupdf and _lupmf drop constants, which is right only for the
	// target. Use _lpdf or _lpmf.
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

	// OutsideLoop: break and continue are allowed only in loops.
	//
	// Use if and else to skip statements outside a loop.
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

	// MisplacedReturn: the return statement does not fit here.
	//
	// Use return in functions only: with a value if the function has a result, otherwise
	// without.
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

	// TildeSuffix: the name after ~ must not have a suffix.
	//
	// Write y ~ normal(mu, sigma), not normal_lpdf.
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

	// ReadsAssigned: an index in a tuple assignment depends on a variable that it assigns.
	//
	// The order of the assignments would decide which element is meant. Copy the variable first.
	//
	// Example:
	//
	//	transformed data {
	//	  int i = 1;
	//	  array[2] real x;
	//	  (i, x[i]) = (2, 0.5);
	//	}
	//
	// Fixed:
	//
	//	transformed data {
	//	  int i = 1;
	//	  array[2] real x;
	//	  int j = i;
	//	  (i, x[j]) = (2, 0.5);
	//	}
	ReadsAssigned Code = "E0411"

	// StoredTwice: a tuple assignment stores two members in the same place.
	//
	// The second value would overwrite the first. Use two variables.
	//
	// Example:
	//
	//	transformed data {
	//	  real x;
	//	  (x, x) = (1, 2);
	//	}
	//
	// Fixed:
	//
	//	transformed data {
	//	  real x;
	//	  real y;
	//	  (x, y) = (1, 2);
	//	}
	StoredTwice Code = "E0412"

	// DiscreteUse: a discrete parameter is used where it cannot be summed out.
	//
	// An integer parameter has no value while the density is evaluated: the density is a sum over
	// its values. So it cannot decide a size or a bound, or be printed. In generated quantities it
	// is drawn, and may be used like data.
	//
	// The sum over a count, which has no upper bound, ends where a bound of the mass beyond is
	// small. So a count needs a distribution, it cannot be an index or the end of a loop, and the
	// statements about it must have forms with such a bound. Otherwise give it an upper bound.
	//
	// Example:
	//
	//	parameters {
	//	  int<lower=1, upper=3> k;
	//	  real<upper=k> x;
	//	}
	//
	// Fixed:
	//
	//	parameters {
	//	  int<lower=1, upper=3> k;
	//	  real<upper=3> x;
	//	}
	DiscreteUse Code = "E0413"
)

// User functions. Reported by lang/check.
const (
	// FunctionRedefined: a function with this name and these argument types exists already.
	//
	// Functions can share a name if the types of their arguments differ. Rename or delete one of
	// the two.
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
	// Write the body of the function, or delete the declaration.
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

	// DensityForm: the function does not have the form that its suffix requires.
	//
	// Densities and distribution functions return real. The first argument of _lpdf is real, and
	// that of _lpmf is int. Change the declaration or the suffix.
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

	// MissingReturn: a function can end without returning a value.
	//
	// Each path through the function must end in return, reject or fatal_error. Add a return at
	// the end.
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

	// RaggedType: a variable cannot be ragged in the way in which it is declared.
	//
	// An array of sizes, one for each row, makes an array ragged. The number of rows comes first.
	// One dimension may be ragged, of real numbers, integers, vectors or matrices.
	//
	// Example:
	//
	//	data {
	//	  array[3] int<lower=0> n;
	//	  vector[n] y;
	//	}
	//
	// Fixed:
	//
	//	data {
	//	  array[3] int<lower=0> n;
	//	  array[3] vector[n] y;
	//	}
	RaggedType Code = "E0324"

	// RaggedUse: a ragged variable is used where its rows must have one size.
	//
	// Use its rows, which are ordinary vectors or arrays, or all its elements, one row after
	// another, as to_vector(y).
	//
	// Example:
	//
	//	data {
	//	  array[3] int<lower=0> n;
	//	  array[3] vector[n] y;
	//	}
	//	model {
	//	  y ~ normal(0, 1);
	//	}
	//
	// Fixed:
	//
	//	data {
	//	  array[3] int<lower=0> n;
	//	  array[3] vector[n] y;
	//	}
	//	model {
	//	  to_vector(y) ~ normal(0, 1);
	//	}
	RaggedUse Code = "E0325"

	// SparseType: a sparse matrix cannot be declared in this way.
	//
	// The places of the values of a sparse matrix must be known before sampling. A variable gets
	// them from its data, or from the value in its declaration. The values may depend on
	// parameters, but a sparse matrix is no parameter: declare a vector of its values. Arrays and
	// tuples cannot have sparse matrices as elements, and functions cannot return them.
	//
	// Example:
	//
	//	data {
	//	  int<lower=0> n;
	//	  sparse_matrix[n, n] W;
	//	}
	//	model {
	//	  sparse_matrix[n, n] Q;
	//	  Q = W;
	//	  target += Q[1, 1];
	//	}
	//
	// Fixed:
	//
	//	data {
	//	  int<lower=0> n;
	//	  sparse_matrix[n, n] W;
	//	}
	//	model {
	//	  sparse_matrix[n, n] Q = W;
	//	  target += Q[1, 1];
	//	}
	SparseType Code = "E0326"

	// SparseUse: a sparse matrix is used in a way that needs all of its elements.
	//
	// A sparse matrix has no rows, columns or blocks that can be taken or assigned, and only some
	// functions take it. S[i, j] is an element. to_matrix(S) is the ordinary matrix.
	//
	// Example:
	//
	//	data {
	//	  int<lower=0> n;
	//	  sparse_matrix[n, n] W;
	//	}
	//	transformed data {
	//	  real first = W[1][1];
	//	}
	//
	// Fixed:
	//
	//	data {
	//	  int<lower=0> n;
	//	  sparse_matrix[n, n] W;
	//	}
	//	transformed data {
	//	  real first = W[1, 1];
	//	}
	SparseUse Code = "E0327"
)
