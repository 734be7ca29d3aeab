//go:build windows && (amd64 || arm64)

package native

import (
	"syscall"
	"unsafe"
)

var (
	kernel32       = syscall.NewLazyDLL("kernel32.dll")
	virtualAlloc   = kernel32.NewProc("VirtualAlloc")
	virtualProtect = kernel32.NewProc("VirtualProtect")
	virtualFree    = kernel32.NewProc("VirtualFree")
	flushCache     = kernel32.NewProc("FlushInstructionCache")
)

// executable returns an executable copy of code, and a function that frees it.
func executable(code []byte) (unsafe.Pointer, func(), error) {
	const commitAndReserve, release, readWrite, executeRead = 0x3000, 0x8000, 0x04, 0x20
	at, _, err := virtualAlloc.Call(0, uintptr(len(code)), commitAndReserve, readWrite)
	if at == 0 {
		return nil, nil, err
	}
	// A pointer to memory outside Go's heap, which go vet does not accept as a plain conversion.
	p := *(*unsafe.Pointer)(unsafe.Pointer(&at))
	copy(unsafe.Slice((*byte)(p), len(code)), code)
	free := func() { _, _, _ = virtualFree.Call(at, 0, release) }
	var before uint32
	if ok, _, err := virtualProtect.Call(at, uintptr(len(code)), executeRead, uintptr(unsafe.Pointer(&before))); ok == 0 {
		free()
		return nil, nil, err
	}
	const thisProcess = ^uintptr(0)
	if ok, _, err := flushCache.Call(thisProcess, at, uintptr(len(code))); ok == 0 {
		free()
		return nil, nil, err
	}
	return p, free, nil
}
