// Package stan has the version of Stan that ppl reports to CmdStan's clients, and the names of the
// build flags that they may set.
//
// Unstable: versions do not promise to keep this package, see doc/how-to/go-library.md.
package stan

import "fmt"

// The version of Stan whose file formats and arguments ppl implements.
const (
	Major = 2
	Minor = 40
	Patch = 0
)

// Version is the version of CmdStan that ppl reports.
var Version = fmt.Sprintf("%d.%d.%d", Major, Minor, Patch)

// Stanc is the name of the compiler in file headers.
var Stanc = "stanc3 v" + Version

// Flags are the build flags, in the order in which the command info prints them.
var Flags = []string{"STAN_THREADS", "STAN_MPI", "STAN_OPENCL", "STAN_NO_RANGE_CHECKS", "STAN_CPP_OPTIMS"}
