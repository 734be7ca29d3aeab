// Package warmup has the stages of warm-up, as Stan arranges them.
//
// Unstable: versions do not promise to keep this package, see doc/how-to/go-library.md.
//
//	averaging.go  DualAveraging of the step size towards a mean acceptance
//	search.go     Search, a stage: a step size of the right magnitude
//	windows.go    Window, a stage: transitions that adapt the step size and learn a metric;
//	              Schedule, the lengths of the windows
//	estimate.go   estimates of a metric from draws
//	options.go    Options, which make the list of stages; shared by samplers
//
// A warm-up of 1000 transitions consists of the stages below. The numbers in braces are
// transitions, and C is the number of those from which the metric is learnt:
//
//	Search, Window{100, C: last 25}, Search, Window{50}, Search, Window{100},
//	Search, Window{200}, Search, Window{500}, Search, Window{50, C: none}
//
// The stages have no state, so one list serves several chains.
package warmup
