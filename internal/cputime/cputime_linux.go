package cputime

import (
	"syscall"
	"time"
	"unsafe"
)

// Thread returns the CPU time that the calling thread has used; time taken by other processes does
// not count. (Getrusage also reports it, but only as of the last tick of the scheduler.)
func Thread() time.Duration { return read(3) }

// Process returns the CPU time that all threads of the process have used.
func Process() time.Duration { return read(2) }

// read reads one of the kernel's clocks by its number.
func read(id uintptr) time.Duration {
	var t syscall.Timespec
	if _, _, errno := syscall.Syscall(syscall.SYS_CLOCK_GETTIME, id, uintptr(unsafe.Pointer(&t)), 0); errno != 0 {
		return time.Since(start)
	}
	return time.Duration(t.Nano())
}
