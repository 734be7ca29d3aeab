// Package interp interprets typed programs statement by statement on Go numbers, quickly, and
// records them for derivatives where needed.
//
// It has three uses. Transformed data run here, once, when a program is bound ([Data]). Programs
// that no graph can represent are evaluated here at every point ([Model]): parameters or draws
// decide sizes of values, the depth of a recursion, or the value of target() in a loop. The
// executed statements are recorded in an [ad.Graph], which package ad differentiates. And parts of
// loops that data decide are evaluated lane by lane ([Evaluator]).
//
// Map of the package:
//
//	interp.go    Options, Known, machine, frame: an evaluation and its variables
//	model.go     Model: log density, record, outputs of a program at a point
//	inverse.go   from constrained to unconstrained parameters
//	data.go      Data: the data block and transformed data, with all errors about them
//	declared.go  declared sizes, and checks of declared bounds and types
//	errors.go    Error: an error with its place, as a diagnostic and as a rejection
//	text.go      how messages write sizes, types and elements
//
//	resolve.go   scope, function: autodiff levels; a function is resolved for each combination of
//	             levels of its arguments
//	stmt.go      statements
//	expr.go      expressions, calls of user functions, Jacobians
//	index.go     elements and slices, read and assigned
//	library.go   calls of the library: of ints, of numbers, of anything
//	scalar.go    library functions of numbers as short lists of operations
//	plan.go      other library functions, for arguments of given shapes
//	record.go    what is kept of an evaluation for its derivative
//	evaluator.go Evaluator: expressions of known variables, for the inspection of loops
//	value.go     arrays
//
// # How it is fast
//
// A program is resolved once into closures over numbered slots. A scalar is an int64 or a float64
// in its slot, without a box; assignments to elements change an array in place. Nothing is kept per
// iteration. A library function of numbers, including densities and random number generators, is
// built once as a graph, whose operations are then applied to numbers (scalar.go); other functions
// once for each combination of sizes (plan.go). A function that needs values, for instance for the
// size of its result, is built on a graph of constants for every call, as in package direct.
//
// # Derivatives
//
// Every real has, besides its number, the node of the record that computed it, or none if it
// depends on no parameter; then nothing is recorded. Control flow uses numbers only, so that the
// record is straight-line code, valid at the point where it was made, for derivatives of any order
// there.
//
// # Relation to package direct
//
// Package direct is the test oracle and must be correct by inspection. It copies every value that
// it changes, decides nothing ahead and has no derivatives. What makes this package fast (slots,
// sharing, resolved functions) is what an oracle must avoid. The differential tests compare the
// two.
package interp
