// Package plan schedules the statements of a loop: it decides their order and the way to evaluate
// them. It works on integers only and knows no programs, graphs or values. The terms are those of
// the polyhedral model.
//
//	axis.go        Axis: the iterations over which values vary, as lanes
//	nest.go        Nest: the statements of a loop, their iterations, the elements that they use
//	versions.go    History: the writes to a variable, and the versions of its elements
//	origins.go     Origins: the writes whose values a read sees
//	make.go        Make: from a nest to a Plan: dependences, strongly connected components, order
//	sum.go         components that only add to a variable
//	recurrence.go  components whose reads see values from a fixed number of steps before
//	levels.go      levels of iterations by their dependences on one another (wavefronts)
//
// # What a plan guarantees
//
// A [Unit] is a statement with the iterations that execute it, its domain. Every write of a unit in
// an iteration makes a new version of an element. In program order each read sees one version, or
// the value from before the loop. This is static single assignment for each element.
// [History.Origins] finds the version.
//
// The order of [Plan.Groups] writes every version before a read sees it. A group is one of three:
//
//   - one unit in lanes, over its domain;
//   - units that only add to one variable, whose partial sums no statement reads;
//   - a recurrence: units that depend on one another in a regular pattern.
//
// If a loop cannot be divided into such groups, [Plan.Why] is the reason.
package plan
