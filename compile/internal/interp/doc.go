// Package interp runs typed programs statement by statement on Go numbers,
// quickly, and with derivatives where they are asked for.
//
// It has three uses. Transformed data run here, once, when a program is bound
// ([Data]). And programs that no graph can hold, because parameters or draws
// decide the sizes of values, how deep a recursion goes, or what target() is in a
// loop, are evaluated here at every point ([Model]): the statements that are
// executed are recorded into an [ad.Graph], which package ad differentiates. And what data decide
// in a loop is evaluated lane by lane ([Evaluator]).
//
// Map of the package:
//
//	interp.go    Options, Known, machine, frame: an evaluation and its variables
//	model.go     Model: log density, record, outputs of a program at a point
//	inverse.go   from constrained to unconstrained parameters
//	data.go      Data: the data block and transformed data, with all complaints about them
//	declared.go  declared sizes, and checks of declared bounds and types
//	errors.go    Error: a complaint with its place, as a diagnostic and as a rejection
//	text.go      how messages write sizes, types and elements
//
//	resolve.go   scope, function: autodiff levels, functions anew for each levels of their arguments
//	stmt.go      statements
//	expr.go      expressions, calls of user functions, Jacobians
//	index.go     elements and slices, read and assigned
//	library.go   calls of the library: of ints, of numbers, of anything
//	scalar.go    library functions of numbers as short lists of operations
//	plan.go      others, for arguments of given shapes
//	record.go    what is kept of an evaluation for its derivative
//	evaluator.go Evaluator: expressions of known variables, for the inspection of loops
//	value.go     arrays
//
// # How it is fast
//
// A program is resolved once into closures over numbered slots: a scalar is an
// int64 or a float64 in its slot, without a box, and an array is changed in place
// by assignments to its elements. Nothing is kept per iteration. A library function
// of numbers, densities and generators included, is asked once for its graph, whose
// operations are then applied to numbers (scalar.go); other functions once for each
// combination of sizes (plan.go). What wants to know values, such as the size of
// what it makes, is built on a graph of constants for every call, as in package
// direct.
//
// # How derivatives arise
//
// Every real has, beside its number, the node of the record that it was
// computed as, or none if it depends on no parameter: then nothing is recorded.
// Control flow looks at numbers only, so that the record is straight-line code,
// right for the point where it was made and for derivatives of any order there.
//
// # Why beside package direct
//
// Package direct is the oracle of the tests: it must be right by inspection, so
// that it copies every value that it changes, decides nothing ahead and has no
// derivatives. What makes this package fast (slots, sharing, resolved functions)
// is what an oracle must not have. The differential tests compare the two.
package interp
