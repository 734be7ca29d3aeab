//go:build !(linux || darwin || freebsd || netbsd || openbsd || dragonfly)

package main

// lockFolder does nothing: this system has no locks that end with the program.
func lockFolder(string) (release func(), err error) { return func() {}, nil }
