package native

import (
	"syscall"
	_ "unsafe" // for the linkname
)

// flush calls the system's library, because programs may not read the size of cache lines here.
func flush(at, n uintptr) { _, _, _ = libSystem(invalidateAddress, at, n, 0) }

// libSystem calls a function of the system's library, given the address of a jump to it. Package
// syscall provides it for golang.org/x/sys, which also calls the library without cgo.
//
//go:linkname libSystem syscall.syscall
func libSystem(f, a, b, c uintptr) (r, s uintptr, err syscall.Errno)

// invalidateAddress is the address of a jump to sys_icache_invalidate.
var invalidateAddress uintptr

//go:cgo_import_dynamic libc_sys_icache_invalidate sys_icache_invalidate "/usr/lib/libSystem.B.dylib"
