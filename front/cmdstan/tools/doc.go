// Package tools implements CmdStan's programs stansummary, diagnose and print, which read the
// output files of the sampler.
//
// Unstable: versions do not promise to keep this package, see doc/how-to/go-library.md.
//
//	read.go      reading runs from the files of their chains
//	summary.go   Summary, Print: stansummary
//	diagnose.go  Diagnose: problems of a run
package tools
