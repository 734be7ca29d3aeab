package diag

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

	// ReadsAssigned: an index on the left of an assignment to a tuple depends on a variable that is
	// assigned to.
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

	// StoredTwice: two members of a tuple are stored in one place.
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
