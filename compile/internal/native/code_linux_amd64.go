package native

import (
	"runtime"
	"syscall"
	"unsafe"
)

// Code is executable memory. Whoever calls its functions keeps it referenced.
type Code struct{ base uintptr }

// newCode makes code executable. Memory is never writable and executable at
// once.
func newCode(code []byte) (*Code, error) {
	mem, err := syscall.Mmap(-1, 0, len(code), syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_ANON|syscall.MAP_PRIVATE)
	if err != nil {
		return nil, err
	}
	copy(mem, code)
	if err := syscall.Mprotect(mem, syscall.PROT_READ|syscall.PROT_EXEC); err != nil {
		_ = syscall.Munmap(mem)
		return nil, err
	}
	c := &Code{uintptr(unsafe.Pointer(unsafe.SliceData(mem)))}
	runtime.AddCleanup(c, func(mem []byte) { _ = syscall.Munmap(mem) }, mem)
	return c, nil
}

// Run calls the function: DI is mem, SI views, R10 scratch, CX first, DX last, R8
// end. The result is what it leaves in AX.
func (f Func) Run(mem, views, scratch unsafe.Pointer, first, last, end int) int {
	return run(f.entry, mem, views, scratch, first, last, end)
}

//go:noescape
func run(entry uintptr, mem, views, scratch unsafe.Pointer, first, last, end int) int

func cpuid(leaf, sub uint32) (ax, bx, cx, dx uint32)
func xgetbv() (ax, dx uint32)

// Available reports whether this processor, its operating system included, runs
// the code.
func Available() bool {
	const fma, osxsave, avx, avx2, ymm = 1 << 12, 1 << 27, 1 << 28, 1 << 5, 6
	if n, _, _, _ := cpuid(0, 0); n < 7 {
		return false
	}
	if _, _, cx, _ := cpuid(1, 0); cx&osxsave == 0 || cx&avx == 0 || cx&fma == 0 {
		return false
	}
	if ax, _ := xgetbv(); ax&ymm != ymm {
		return false
	}
	_, bx, _, _ := cpuid(7, 0)
	return bx&avx2 != 0
}
