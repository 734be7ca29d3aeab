//go:build !linux || !amd64

package native

import (
	"errors"
	"unsafe"
)

// Code is executable memory.
type Code struct{ base uintptr }

func newCode([]byte) (*Code, error) { return nil, errors.ErrUnsupported }

// Run is never called: no code is made.
func (f Func) Run(mem, views, scratch unsafe.Pointer, first, last, end int) int { return 0 }

// Available is false.
func Available() bool { return false }
