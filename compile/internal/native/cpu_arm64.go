//go:build linux || darwin || freebsd || windows

package native

import "unsafe"

//go:noescape
func run(entry uintptr, mem, views, scratch unsafe.Pointer, first, last, end int) int

// hasNEON returns true: every arm64 processor that Go supports has NEON.
func hasNEON() bool { return true }

func hasAVX2() bool   { return false }
func hasAVX512() bool { return false }
