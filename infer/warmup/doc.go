// Package warmup holds the stages of warm-up as Stan arranges them:
//
//	averaging.go  DualAveraging of the step size towards a mean acceptance
//	search.go     Search, a stage: a step size of the right magnitude
//	windows.go    Window, a stage: transitions that adapt the step size and
//	              learn a metric; Schedule, the lengths of the windows
//	estimate.go   estimates of a metric from draws
//	options.go    Options, which make the list of stages; shared by samplers
//
// Warm-up of 1000 transitions is, with C the number of those that the metric is
// learnt from,
//
//	Search, Window{100, C: last 25}, Search, Window{50}, Search, Window{100},
//	Search, Window{200}, Search, Window{500}, Search, Window{50, C: none}
//
// The stages have no separate state, so one list serves several chains.
package warmup
