// Package tools is the programs stansummary, diagnose and print of a CmdStan home, which
// read the files of the sampler.
//
// Unstable: versions do not promise to keep this package, see doc/how-to/go-library.md.
//
//	read.go     runs, read from the files of their chains
//	summary.go  Summary, Print: stansummary
//	diagnose.go Diagnose: what is wrong with a run
package tools
