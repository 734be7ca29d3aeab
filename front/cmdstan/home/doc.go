// Package home makes a folder that front ends take for an installation of CmdStan, and
// the executables of models in it.
//
// Unstable: versions do not promise to keep this package, see doc/how-to/go-library.md.
//
//	home.go     Write: the folder; files/ are its files
//	build.go    Build: a model to an executable
//	dispatch.go Dispatch: a command line that comes from such a folder or executable
//	make.go     a make for systems that have none
//
// On Unix, the tools of the folder and the executables of models are scripts of two
// lines that start this program; an executable carries its model behind them, where a
// shell never reads. That takes a tenth of a millisecond to write, and one to two to start. A copy
// of this program with the model at its end, as Windows needs and as stands by itself
// elsewhere, is 20 MB for each model, and on macOS its signature breaks.
package home
