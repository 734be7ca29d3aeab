// Package inspect finds out what a loop does before any of it is evaluated: its statements, the
// iterations in which they run, and the elements of variables that they read and write. The result
// is a [Nest], which package plan orders and package emit evaluates. This package knows no graphs.
//
//	variable.go  Variable: a variable as a statement sees it; Outside: variables around the loop
//	loop.go      Loop, Nest: the input and the result of an inspection
//	evaluate.go  sight: what is known at a statement, by package known
//	uses.go      recorder: the elements that units read and write
//	units.go     inspection: the units of a nest, and the iterations in which they run
//	divide.go    conditionals that become one unit for each of their statements
//
// The inspector walks the body of a loop once for all its iterations. Integers that data decide
// have a value per lane. A condition that data decide splits the lanes; an inner loop multiplies
// them. Integers that data decide are in single-assignment form: each assignment makes a new
// [Variable], and a unit keeps the variables that are in scope at its place.
package inspect
