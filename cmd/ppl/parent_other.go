//go:build !unix && !windows

package main

// awaitParent never returns, since there are no other processes on this system.
func awaitParent(int) { select {} }
