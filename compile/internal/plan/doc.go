// Package plan decides in which order, and in which way, the statements of a loop are evaluated.
// It knows integers alone: no program, no graph, no values.
//
//	axis.go        Axis: the iterations over which values vary, as lanes
//	nest.go        Nest: what a loop does: statements, their iterations, the elements that they use
//	versions.go    who wrote the element that a read sees
//	make.go        Make: a nest to a Plan: dependences, strongly connected components, order
//	sum.go         components that only add to a variable
//	recurrence.go  components whose reads come from a fixed number of steps before
//	levels.go      iterations by levels of what they read of one another
//
// # What a plan guarantees
//
// A [Unit] is a statement with the iterations that execute it, its domain. Every write of a unit
// in an iteration makes a version of an element. In the order of the program each read sees one
// version, or what there was before the loop: static single assignment, element by element.
// [History.Origins] finds it.
//
// In the order of [Plan.Groups], every version is there before a read sees it. A group is one
// unit in lanes, over its domain; units that only add to one variable, of which nobody reads what
// is not complete; or units that depend on one another in a pattern, a recurrence. Where something
// else is needed, [Plan.Why] is the reason.
package plan
