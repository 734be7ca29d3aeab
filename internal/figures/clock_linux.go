package figures

import (
	"syscall"
	"time"
	"unsafe"
)

// ThreadTime is the CPU time that the calling thread has used; what other
// processes take of the machine does not count. (Getrusage tells it too, but
// only as of the last tick of the scheduler.)
func ThreadTime() time.Duration { return clock(3) }

// ProcessTime is the CPU time that all threads of the process have used.
func ProcessTime() time.Duration { return clock(2) }

// clock reads one of the kernel's clocks by its number.
func clock(id uintptr) time.Duration {
	var t syscall.Timespec
	if _, _, errno := syscall.Syscall(syscall.SYS_CLOCK_GETTIME, id, uintptr(unsafe.Pointer(&t)), 0); errno != 0 {
		return time.Since(start)
	}
	return time.Duration(t.Nano())
}
