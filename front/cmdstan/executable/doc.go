// Package executable is what a model's executable does when it is run: CmdStan's
// methods, with its files, console lines, error texts and exit codes.
//
// Unstable: versions do not promise to keep this package, see doc/how-to/go-library.md.
//
//	program.go     Program: a model with how it was built, as an executable carries it
//	run.go         Run: a command line to an exit code; data, binding, errors
//	files.go       names of files; values read from them, one for all chains or one each
//	output.go      CSV files, whole or not there
//	start.go       where chains start; what is said of points that are rejected
//	sample.go      the method sample; sampler.go: which sampler it is
//	diagnostic.go  unconstrained draws with momenta and gradients
//	optimize.go    the method optimize
//	approximate.go laplace, pathfinder, variational
//	generate.go    generate_quantities
//	logprob.go     log_prob and diagnose
//	profile.go     the file with the times of profile statements
//
// The formats are CmdStan's, which front ends read; the words of messages are its
// own only where front ends look for them.
package executable
