// Package stan says which version of Stan this program stands for where CmdStan's
// clients ask, and what its builds can be switched.
//
// Unstable: versions do not promise to keep this package, see doc/how-to/go-library.md.
package stan

import "fmt"

// The version of Stan whose formats and arguments are followed.
const (
	Major = 2
	Minor = 39
	Patch = 0
)

// Version is that of CmdStan.
var Version = fmt.Sprintf("%d.%d.%d", Major, Minor, Patch)

// Stanc is how the compiler names itself in the heads of files.
var Stanc = "stanc3 v" + Version

// Flags are the switches of a build, in the order in which info tells them.
var Flags = []string{"STAN_THREADS", "STAN_MPI", "STAN_OPENCL", "STAN_NO_RANGE_CHECKS", "STAN_CPP_OPTIMS"}
