// Package executable implements the executables that CmdStan makes from models: its methods, with
// their files, console output, error messages and exit codes.
//
// Unstable: versions do not promise to keep this package, see doc/how-to/go-library.md.
//
//	program.go      Program: a model and how it was built, as stored in an executable
//	run.go          Run: a command line to an exit code; data, binding, errors
//	files.go        names of files; values read from them, for all chains or for each
//	output.go       CSV files, written completely or not at all
//	start.go        where chains start; messages about rejected points
//	sample.go       the method sample; sampler.go: which sampler it uses
//	diagnostic.go   unconstrained draws with momenta and gradients
//	optimize.go     the method optimize
//	approximate.go  laplace, pathfinder, variational
//	generate.go     generate_quantities
//	logprob.go      log_prob and diagnose
//	profile.go      the file with the times of profile statements
//
// The formats are CmdStan's, which front ends read. Messages use CmdStan's words only where front
// ends look for them.
package executable
