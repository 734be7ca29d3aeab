//go:build linux || darwin || freebsd || windows

package native

import "unsafe"

//go:noescape
func run(entry uintptr, mem, views, scratch unsafe.Pointer, first, last, end int) int

// hasNEON: every processor of this kind that Go runs on has it.
func hasNEON() bool { return true }

func hasAVX2() bool   { return false }
func hasAVX512() bool { return false }
