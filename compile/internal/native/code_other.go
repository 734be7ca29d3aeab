//go:build !((amd64 || arm64) && (linux || darwin || freebsd || windows))

package native

import (
	"errors"
	"unsafe"
)

// Supported reports whether machine code can be generated. Where it cannot, as in a browser, the
// linker removes the assembler from programs that check this first.
const Supported = false

// executable always fails: on this platform the interpreter does all the work.
func executable([]byte) (unsafe.Pointer, func(), error) { return nil, nil, errors.ErrUnsupported }

// run is never called, since there is no code.
func run(entry uintptr, mem, views, scratch unsafe.Pointer, first, last, end int) int { return 0 }

func hasAVX2() bool   { return false }
func hasAVX512() bool { return false }
func hasNEON() bool   { return false }
