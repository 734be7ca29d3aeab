// Package stanc is the program of that name in a CmdStan home, as front ends call it:
// it checks models, tells what is in them, and lays them out. There is no C++.
//
// Unstable: versions do not promise to keep this package, see doc/how-to/go-library.md.
//
//	options.go  Options: the command line
//	stanc.go    Run; Compile, for the makers of executables; messages
//	info.go     --info: what a model declares and calls, as JSON
package stanc
