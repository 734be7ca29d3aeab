// Package home makes a folder that front ends accept as an installation of CmdStan, and the
// executables of models in it.
//
// Unstable: versions do not promise to keep this package, see doc/how-to/go-library.md.
//
//	home.go      Write: the folder; its files are in files/
//	build.go     Build: makes an executable from a model
//	dispatch.go  Dispatch: runs the command lines of the folder's tools and executables
//	make.go      a make for systems that have none
//
// On Unix, the folder's tools and the executables of models are two-line scripts that start this
// program. An executable has its model after these lines, where the shell never reads. It takes 0.1
// ms to write and 1 to 2 ms to start. Windows needs a copy of this program with the model at its
// end, which other systems can make too. Such a copy takes 20 MB per model, and on macOS it breaks
// the program's signature.
package home
