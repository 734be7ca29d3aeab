// Package bind is the partial evaluator: it runs a typed program with its data
// known and its parameters symbolic, and leaves a graph.
//
// Map of the package:
//
//	bind.go      Bind: the density, the outputs; data and transformed data come from package interp
//	binder.go    the state of an evaluation; loading, storing, adding to the log density
//	value.go     values, axes (the lanes of loops), levels (graphs within graphs), emission of nodes
//	access.go    indices and slices
//	cell.go      variables: whole or scattered content
//	stmt.go      statements
//	expr.go      expressions and calls
//	branch.go    conditionals: decided by data (per lane), or by parameters (regions)
//	signal.go    how statements end (break, continue, return), decided by data or by parameters
//	loop.go      loops: the ways to evaluate them, in their order
//	split.go     loops over ragged data, by groups of iterations
//	frame.go     the log of a loop in lanes, by which reads find their writes
//	scan.go      loops with a carried recurrence
//	carry.go     loops as one region that carries variables whole; loops whose end is computed
//	track.go     integers that a loop carries and data decide
//	ints.go      known integers in lanes
//	computed.go  indices that are computed when the program runs
//	intrinsic.go what the library's texts need beyond the language: Jacobians, constants
//	information.go densities with expected information; metrics that a program defines
//	declared.go  checks of declared types and bounds
//	errors.go    diagnostics, and giving up on a way to evaluate a loop
//
// # How a loop is evaluated
//
// The body of a loop runs once, with the loop variable standing for all
// iterations: an axis of lanes. Integers are known for every lane (int arrays
// per lane); reals are graph values with lanes. So y[n] is a slice, mu[g[n]] a
// gather, and a condition on data splits the lanes. Variables of outside that
// the body assigns are watched (frame.go): the log of writes and reads proves
// that running the lanes side by side is the same as one after another, or
// shows what is carried from iteration to iteration, in which case the loop
// becomes a scan (scan.go) of just the recurrence; a scan in lanes is one per
// lane. Where reads follow no pattern, or iterations may jump out, the loop
// becomes a region that carries the variables that it assigns as a whole
// (carry.go); where parameters decide how often it runs, an ad.While. Integers
// that data decide are followed through the iterations beforehand (track.go), so
// that positions such as `pos += n[i]` stay known. What is left, and short loops
// of arrays, is unrolled. But for that, the graph does not grow with the number
// of iterations.
//
// Stats counts how the loops of a program came out, and says why.
package bind
