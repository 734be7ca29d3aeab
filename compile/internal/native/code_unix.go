//go:build (linux || darwin || freebsd) && (amd64 || arm64)

package native

import (
	"syscall"
	"unsafe"
)

// executable returns an executable copy of code, and a function that frees it.
func executable(code []byte) (unsafe.Pointer, func(), error) {
	mem, err := syscall.Mmap(-1, 0, len(code), syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_ANON|syscall.MAP_PRIVATE)
	if err != nil {
		return nil, nil, err
	}
	copy(mem, code)
	p := unsafe.Pointer(unsafe.SliceData(mem))
	_, _, errno := syscall.Syscall(syscall.SYS_MPROTECT, uintptr(p), uintptr(len(mem)), syscall.PROT_READ|syscall.PROT_EXEC)
	if errno != 0 {
		_ = syscall.Munmap(mem)
		return nil, nil, errno
	}
	flush(uintptr(p), uintptr(len(mem)))
	return p, func() { _ = syscall.Munmap(mem) }, nil
}
