// Package bind evaluates a typed program with its data known and its parameters symbolic, and
// leaves graphs. It is the entry to the partial evaluator: package interp reads data and runs
// transformed data, package emit makes the graphs, with packages inspect and plan for loops.
//
//	bind.go  Bind: the log density and the outputs, or why one has no graph
package bind
