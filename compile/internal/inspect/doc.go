// Package inspect finds out what a loop does before anything of it is evaluated: which statements
// it consists of, over which iterations they run, and which elements of variables they read and
// write. The result, a [Nest], is what package plan orders and package emit evaluates. It knows no
// graph.
//
//	variable.go  Variable: variables as they are at a statement; Outside: those around the loop
//	loop.go      Loop, Nest: what is inspected, and what is found
//	evaluate.go  sight: what is known at a statement, by package known
//	uses.go      recorder: the elements that units read and write
//	units.go     inspection: the units of a nest, over which iterations they run
//
// The inspector walks the body of a loop once for all its iterations. Integers that data decide
// have a value per lane. A condition that data decide splits the lanes, an inner loop multiplies
// them. Integers that data decide are in single-assignment form: each assignment makes a new
// [Variable], and a unit keeps those that are in scope where it is.
package inspect
