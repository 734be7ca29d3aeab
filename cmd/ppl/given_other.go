//go:build !unix

package main

// outputClosed reports whether standard output was closed when the program began. It returns false:
// on this system, writing reports that.
func outputClosed() bool { return false }

// fileLimit returns the maximum number of open files of this process. It is not known on this
// system.
func fileLimit() (limit uint64, ok bool) { return 0, false }
