// Package bind builds the graphs of a typed program for known data and symbolic parameters. It is
// the entry to the partial evaluator. Package interp reads data and runs transformed data. Package
// emit makes the graphs; packages inspect and plan help with loops.
//
//	bind.go  Bind: the log density and the outputs, or why one has no graph
package bind
