// Package inspect finds out what a loop does before anything of it is evaluated: which statements
// it consists of, over which iterations they run, and which elements of variables they read and
// write. The result, a [Nest], is what package plan orders and package emit evaluates. It knows no
// graph.
//
//	variable.go  Variable: variables as they are at a statement; Outside: those around the loop
//	evaluate.go  Evaluator: values that data decide, by package interp, lane by lane
//	track.go     Track: integers that a loop carries and data decide
//	loop.go      Loop, Nest: what is inspected, and what is found
//	uses.go      the elements that units read and write
//	units.go     … and the units of a nest, over which iterations they run
//
// What data decide is known for all iterations at once: conditions and loop bounds split and widen
// the axis in force as they do when the loop is evaluated, and integers have a value per lane.
// Variables of integers that data decide are single-assignment here: every assignment makes a new
// [Variable], and a unit keeps those in its scope.
package inspect
