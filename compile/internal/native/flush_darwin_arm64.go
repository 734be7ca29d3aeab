package native

import (
	"syscall"
	_ "unsafe" // for the linkname
)

// flush asks the system's library: programs may not read there how long the lines of caches
// are.
func flush(at, n uintptr) { _, _, _ = libSystem(invalidateAddress, at, n, 0) }

// libSystem calls a function of the library, by the address of what jumps to it. Package
// syscall keeps it for golang.org/x/sys, which calls the library so, without cgo.
//
//go:linkname libSystem syscall.syscall
func libSystem(f, a, b, c uintptr) (r, s uintptr, err syscall.Errno)

// invalidateAddress is the address of a jump to sys_icache_invalidate.
var invalidateAddress uintptr

//go:cgo_import_dynamic libc_sys_icache_invalidate sys_icache_invalidate "/usr/lib/libSystem.B.dylib"
