//go:build !((amd64 || arm64) && (linux || darwin || freebsd || windows))

package native

import (
	"errors"
	"unsafe"
)

// Supported reports whether there may be machine code. Where there is none, as in a browser,
// the linker leaves the assembler out of who asks this first.
const Supported = false

// executable makes nothing: the interpreter does all the work.
func executable([]byte) (unsafe.Pointer, func(), error) { return nil, nil, errors.ErrUnsupported }

// run is never called: no code is made.
func run(entry uintptr, mem, views, scratch unsafe.Pointer, first, last, end int) int { return 0 }

func hasAVX2() bool   { return false }
func hasAVX512() bool { return false }
func hasNEON() bool   { return false }
