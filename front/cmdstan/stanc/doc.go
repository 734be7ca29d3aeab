// Package stanc implements CmdStan's program stanc: it checks models, reports their variables and
// functions, and formats them. It generates no C++.
//
// Unstable: versions do not promise to keep this package, see doc/how-to/go-library.md.
//
//	options.go  Options: the command line
//	stanc.go    Run; Compile, for making executables; messages
//	info.go     --info: the variables and functions of a model, as JSON
package stanc
