package diag

// Code identifies a kind of diagnostic. It is what users search for and what
// tests and editors match on, so a published code never changes its meaning
// and is never used again for another one.
//
// Codes are declared in codes.go (syntax) and in one codes_STAGE.go per further
// stage. The doc comment of the constant is the only declaration of the rest:
// "Name: title", text, an Example that the code is reported for, and the
// program with the mistake Fixed. [Explain] reads it at run time and tests
// execute it: the example must report that code (and no other error), the fixed
// program must have no error.
//
//	E01xx  syntax                          lang.Parse
//	E02xx  names and scopes                lang/check
//	E03xx  types and calls                 lang/check
//	E04xx  rules of blocks and statements  lang/check
//	E05xx  user functions                  lang/check
//	E09xx  understood but not supported    lang/check, compile
//	Wnnxx  warnings, numbered as errors; W06xx on demand, see Code.Pedantic
type Code string

// Errors in the form of the text. Reported by lang.Parse.
const (
	// UnexpectedToken: the parser expected something else here.
	//
	// This is the general syntax error. ppl reports it where no more helpful code applies. The
	// message lists what is allowed here. Often a character is missing just before this place.
	//
	// Example:
	//
	//	model {
	//	  target += 1 + * 2;
	//	}
	//
	// Fixed:
	//
	//	model {
	//	  target += 1 + 2;
	//	}
	UnexpectedToken Code = "E0100"

	// MissingSemicolon: a statement or declaration does not end in a semicolon.
	//
	// End each statement and declaration with a semicolon. Blocks in braces need none.
	//
	// Example:
	//
	//	parameters {
	//	  real mu
	//	  real<lower=0> sigma;
	//	}
	//
	// Fixed:
	//
	//	parameters {
	//	  real mu;
	//	  real<lower=0> sigma;
	//	}
	MissingSemicolon Code = "E0101"

	// UnclosedBracket: parentheses or brackets do not match.
	//
	// Add the missing bracket, or delete the one that is too many.
	//
	// Example:
	//
	//	parameters {
	//	  real y;
	//	}
	//	model {
	//	  y ~ normal(0, exp(1);
	//	}
	//
	// Fixed:
	//
	//	parameters {
	//	  real y;
	//	}
	//	model {
	//	  y ~ normal(0, exp(1));
	//	}
	UnclosedBracket Code = "E0102"

	// UnclosedBrace: a block is not closed.
	//
	// Add the missing closing brace. If several braces are open, ppl reports the one that the
	// indentation points to.
	//
	// Example:
	//
	//	data {
	//	  int N;
	//
	//	model {
	//	}
	//
	// Fixed:
	//
	//	data {
	//	  int N;
	//	}
	//
	//	model {
	//	}
	UnclosedBrace Code = "E0103"

	// StrayBrace: a closing brace has no matching opening brace.
	//
	// Delete it, or add the opening brace that is missing before it.
	//
	// Example:
	//
	//	model {
	//	  target += 1;
	//	}
	//	}
	//
	// Fixed:
	//
	//	model {
	//	  target += 1;
	//	}
	StrayBrace Code = "E0104"

	// InvalidCharacter: the character has no meaning in the language.
	//
	// Use ASCII letters, digits and operators. Comments and strings may contain any text.
	//
	// Example:
	//
	//	parameters {
	//	  real μ;
	//	}
	//
	// Fixed:
	//
	//	parameters {
	//	  real mu;
	//	}
	InvalidCharacter Code = "E0105"

	// BidiControl: a comment or string contains a bidirectional control character.
	//
	// An editor then shows the text in a different order from the one that the compiler reads,
	// so a program can look as if it did something else. Delete the character.
	//
	// Example:
	//
	//	parameters {
	//	  real mu; // the ⁦mean⁩
	//	}
	//
	// Fixed:
	//
	//	parameters {
	//	  real mu; // the mean
	//	}
	BidiControl Code = "W0102"

	// HashComment: # does not start a comment.
	//
	// Older versions of Stan allowed it. Write // instead.
	//
	// Example:
	//
	//	data {
	//	  int N; # number of rows
	//	}
	//
	// Fixed:
	//
	//	data {
	//	  int N; // number of rows
	//	}
	HashComment Code = "E0106"

	// UnterminatedComment: a comment is not closed.
	//
	// Add */ at the end of the comment. Comments cannot be nested: the first */ ends the comment.
	//
	// Example:
	//
	//	model {
	//	}
	//	/* the end
	//
	// Fixed:
	//
	//	model {
	//	}
	//	/* the end */
	UnterminatedComment Code = "E0107"

	// UnterminatedString: a string is not closed on its line.
	//
	// Close it with " on the same line. You can split a long message into several strings,
	// separated by commas.
	//
	// Example:
	//
	//	model {
	//	  print("here);
	//	}
	//
	// Fixed:
	//
	//	model {
	//	  print("here");
	//	}
	UnterminatedString Code = "E0108"

	// BadNumber: a number is malformed or out of range.
	//
	// Correct the number. You can group digits with single underscores, as in 1_000_000.
	//
	// Example:
	//
	//	transformed data {
	//	  int n = 1__000;
	//	}
	//
	// Fixed:
	//
	//	transformed data {
	//	  int n = 1_000;
	//	}
	BadNumber Code = "E0109"

	// TooDeep: brackets, statements or operators are nested too deeply.
	//
	// The limit is a thousand levels. If another program writes your model, let it store
	// intermediate results in variables.
	TooDeep Code = "E0110"

	// TooLong: the program is longer than the limit.
	//
	// The limit is one megabyte, with all included files. It keeps a file that is not a program
	// from using up the memory. The setting max-source raises it.
	TooLong Code = "E0138"

	// Include: a file cannot be included.
	//
	// The line `#include FILE` inserts the text of a file. ppl looks for the file in the folder of
	// the program and in the include paths. Correct the name, or add the folder of the file to the
	// include paths.
	//
	// Example:
	//
	//	functions {
	//	  #include helpers.stan
	//	}
	//
	// Fixed:
	//
	//	functions {
	//	  real twice(real x) {
	//	    return 2 * x;
	//	  }
	//	}
	Include Code = "E0111"

	// ReservedWord: a reserved word is used as a name.
	//
	// Choose another name. Keywords, names of types, a few words kept for future versions, and
	// names that end in two underscores are reserved.
	//
	// Example:
	//
	//	data {
	//	  real lower;
	//	}
	//
	// Fixed:
	//
	//	data {
	//	  real lowest;
	//	}
	ReservedWord Code = "E0112"

	// UnknownBlock: no program block has this name.
	//
	// The blocks are: functions, data, transformed data, parameters, transformed parameters,
	// model, generated quantities.
	//
	// Example:
	//
	//	parameter {
	//	  real mu;
	//	}
	//
	// Fixed:
	//
	//	parameters {
	//	  real mu;
	//	}
	UnknownBlock Code = "E0113"

	// BlockOrder: the program blocks are out of order.
	//
	// The order is: functions, data, transformed data, parameters, transformed parameters,
	// model, generated quantities. You may leave out any of them.
	//
	// Example:
	//
	//	model {
	//	  mu ~ normal(0, 1);
	//	}
	//	parameters {
	//	  real mu;
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
	BlockOrder Code = "E0114"

	// DuplicateBlock: a program block occurs twice.
	//
	// Merge the two blocks.
	//
	// Example:
	//
	//	data {
	//	  int N;
	//	}
	//	data {
	//	  vector[N] y;
	//	}
	//
	// Fixed:
	//
	//	data {
	//	  int N;
	//	  vector[N] y;
	//	}
	DuplicateBlock Code = "E0115"

	// OutsideBlock: a declaration or statement is outside all blocks.
	//
	// Move it into the block it belongs to.
	//
	// Example:
	//
	//	real mu;
	//	model {
	//	}
	//
	// Fixed:
	//
	//	parameters {
	//	  real mu;
	//	}
	//	model {
	//	}
	OutsideBlock Code = "E0116"

	// ArrowAssign: an assignment is written with <- or :=.
	//
	// Assign with = instead.
	//
	// Example:
	//
	//	transformed data {
	//	  real x;
	//	  x <- 3;
	//	}
	//
	// Fixed:
	//
	//	transformed data {
	//	  real x;
	//	  x = 3;
	//	}
	ArrowAssign Code = "E0120"

	// EqualsAsComparison: = is written where == is meant.
	//
	// A single = assigns a value; == compares two.
	//
	// Example:
	//
	//	data {
	//	  int n;
	//	}
	//	model {
	//	  if (n = 1) {
	//	    target += 1;
	//	  }
	//	}
	//
	// Fixed:
	//
	//	data {
	//	  int n;
	//	}
	//	model {
	//	  if (n == 1) {
	//	    target += 1;
	//	  }
	//	}
	EqualsAsComparison Code = "E0121"

	// ComparisonAsStatement: == is written where = is meant.
	//
	// A comparison alone has no effect. Write = to assign the value.
	//
	// Example:
	//
	//	transformed data {
	//	  real x;
	//	  x == 3;
	//	}
	//
	// Fixed:
	//
	//	transformed data {
	//	  real x;
	//	  x = 3;
	//	}
	ComparisonAsStatement Code = "E0122"

	// IncrementLogProb: increment_log_prob is no longer part of the language.
	//
	// Write target += instead.
	//
	// Example:
	//
	//	parameters {
	//	  real x;
	//	}
	//	model {
	//	  increment_log_prob(-0.5 * x ^ 2);
	//	}
	//
	// Fixed:
	//
	//	parameters {
	//	  real x;
	//	}
	//	model {
	//	  target += -0.5 * x ^ 2;
	//	}
	IncrementLogProb Code = "E0123"

	// OldArraySyntax: an array is declared with its sizes after the name.
	//
	// Older versions of Stan wrote real y[N]. Now the type is array[N] real.
	//
	// Example:
	//
	//	data {
	//	  int N;
	//	  real y[N];
	//	}
	//
	// Fixed:
	//
	//	data {
	//	  int N;
	//	  array[N] real y;
	//	}
	OldArraySyntax Code = "E0124"

	// NotAStatement: an expression is not a statement.
	//
	// Assign its value to a variable, or add it to the target.
	//
	// Example:
	//
	//	parameters {
	//	  real x;
	//	}
	//	model {
	//	  -0.5 * x ^ 2;
	//	}
	//
	// Fixed:
	//
	//	parameters {
	//	  real x;
	//	}
	//	model {
	//	  target += -0.5 * x ^ 2;
	//	}
	NotAStatement Code = "E0125"

	// BadAssignTarget: you cannot assign to the left side of this assignment.
	//
	// The left side must be a variable, or elements of one. Move the rest of the expression to the
	// right side.
	//
	// Example:
	//
	//	transformed data {
	//	  vector[2] x;
	//	  x' = [1, 2];
	//	}
	//
	// Fixed:
	//
	//	transformed data {
	//	  vector[2] x;
	//	  x = [1, 2]';
	//	}
	BadAssignTarget Code = "E0126"

	// TargetMisuse: target and jacobian can only be added to.
	//
	// Write target += or jacobian +=. To read the value, call target().
	//
	// Example:
	//
	//	parameters {
	//	  real x;
	//	}
	//	model {
	//	  target = -0.5 * x ^ 2;
	//	}
	//
	// Fixed:
	//
	//	parameters {
	//	  real x;
	//	}
	//	model {
	//	  target += -0.5 * x ^ 2;
	//	}
	TargetMisuse Code = "E0127"

	// BadLoop: the header of a loop or condition is malformed.
	//
	// Write for (i in 1:N), for (x in xs), while (condition) or if (condition). A loop variable is
	// declared without a type.
	//
	// Example:
	//
	//	model {
	//	  for (int i in 1:3) {
	//	    target += i;
	//	  }
	//	}
	//
	// Fixed:
	//
	//	model {
	//	  for (i in 1:3) {
	//	    target += i;
	//	  }
	//	}
	BadLoop Code = "E0128"

	// StringNotAllowed: strings are allowed only in print, reject, fatal_error and profile.
	//
	// The language has no variables for text. Use numbers for categories, such as 1 and 2.
	//
	// Example:
	//
	//	transformed data {
	//	  int s = "one";
	//	}
	//
	// Fixed:
	//
	//	transformed data {
	//	  int s = 1;
	//	}
	StringNotAllowed Code = "E0129"

	// UnknownType: no type has this name.
	//
	// The scalar types are int, real and complex. Containers are vector, row_vector, matrix,
	// array and tuple.
	//
	// Example:
	//
	//	data {
	//	  float x;
	//	}
	//
	// Fixed:
	//
	//	data {
	//	  real x;
	//	}
	UnknownType Code = "E0130"

	// BadSize: the sizes of a type are missing, too many, or not allowed.
	//
	// A variable needs all its sizes. Leave them out for the parameters and the result of a
	// function, because a function takes containers of any size.
	//
	// Example:
	//
	//	data {
	//	  vector y;
	//	}
	//
	// Fixed:
	//
	//	data {
	//	  int N;
	//	  vector[N] y;
	//	}
	BadSize Code = "E0131"

	// BadBound: the type does not allow these bounds.
	//
	// Write lower and upper, or offset and multiplier, between the name of the type and its
	// sizes. Constrained types such as simplex take no bounds.
	//
	// Example:
	//
	//	parameters {
	//	  real<lo=0> sigma;
	//	}
	//
	// Fixed:
	//
	//	parameters {
	//	  real<lower=0> sigma;
	//	}
	BadBound Code = "E0132"

	// BoundNotAllowed: a local variable or a function parameter has a constraint.
	//
	// Only variables at the top level of a block can have constraints, and those of the model
	// block cannot. Delete the constraint, or declare the variable in another block.
	//
	// Example:
	//
	//	model {
	//	  real<lower=0> s = 1;
	//	  target += s;
	//	}
	//
	// Fixed:
	//
	//	model {
	//	  real s = 1;
	//	  target += s;
	//	}
	BoundNotAllowed Code = "E0133"

	// InitNotAllowed: a variable in data or parameters cannot be given a value.
	//
	// Values of data come from the data file, values of parameters from the sampler. Move a
	// constant to transformed data.
	//
	// Example:
	//
	//	data {
	//	  int N = 3;
	//	}
	//
	// Fixed:
	//
	//	transformed data {
	//	  int N = 3;
	//	}
	InitNotAllowed Code = "E0134"

	// StatementNotAllowed: the data and parameters blocks contain only declarations.
	//
	// Move the statement to transformed data or transformed parameters.
	//
	// Example:
	//
	//	data {
	//	  int N;
	//	  print(N);
	//	}
	//
	// Fixed:
	//
	//	data {
	//	  int N;
	//	}
	//	transformed data {
	//	  print(N);
	//	}
	StatementNotAllowed Code = "E0135"

	// FunctionElsewhere: a function is defined outside the functions block.
	//
	// Move the function to a functions block at the beginning of the program.
	//
	// Example:
	//
	//	model {
	//	  real twice(real x) {
	//	    return 2 * x;
	//	  }
	//	}
	//
	// Fixed:
	//
	//	functions {
	//	  real twice(real x) {
	//	    return 2 * x;
	//	  }
	//	}
	//	model {
	//	}
	FunctionElsewhere Code = "E0136"

	// OtherLanguage: the text is a program in another language.
	//
	// A Stan program has blocks. Declare what you know in data and what you want to know in
	// parameters. State the distributions in model.
	//
	// Example:
	//
	//	import pymc as pm
	//	with pm.Model():
	//	    mu = pm.Normal("mu", 0, 1)
	//	    y = pm.Normal("y", mu, 1, observed=values)
	//
	// Fixed:
	//
	//	data {
	//	  int N;
	//	  vector[N] y;
	//	}
	//	parameters {
	//	  real mu;
	//	}
	//	model {
	//	  mu ~ normal(0, 1);
	//	  y ~ normal(mu, 1);
	//	}
	OtherLanguage Code = "E0139"

	// NotAFunction: the functions block contains only functions.
	//
	// Move variables to the block that they belong to, or pass them to the function as arguments.
	//
	// Example:
	//
	//	functions {
	//	  real x;
	//	}
	//
	// Fixed:
	//
	//	functions {
	//	  real x() {
	//	    return 1;
	//	  }
	//	}
	NotAFunction Code = "E0137"
)
