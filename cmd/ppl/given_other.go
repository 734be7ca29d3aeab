//go:build !unix

package main

// outputClosed reports whether standard output was closed when the program began. On this system,
// writing reports that.
func outputClosed() bool { return false }

// fileLimit is the number of files that this process may have open: it is not known here.
func fileLimit() (limit uint64, ok bool) { return 0, false }
