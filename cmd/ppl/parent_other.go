//go:build !unix && !windows

package main

// awaitParent never returns: there are no other processes here.
func awaitParent(int) { select {} }
