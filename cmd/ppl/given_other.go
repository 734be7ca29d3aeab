//go:build !unix

package main

// outputClosed returns false, since on this system the first write reports a closed output.
func outputClosed() bool { return false }

// fileLimit returns the maximum number of open files of this process. It is not known on this
// system.
func fileLimit() (limit uint64, ok bool) { return 0, false }
