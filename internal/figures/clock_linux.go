package figures

import (
	"syscall"
	"time"
	"unsafe"
)

// ThreadTime is the CPU time that the calling thread has used; what other
// processes take of the machine does not count. (Getrusage tells it too, but
// only as of the last tick of the scheduler.)
func ThreadTime() time.Duration {
	const threadCPUTime = 3
	var t syscall.Timespec
	if _, _, errno := syscall.Syscall(syscall.SYS_CLOCK_GETTIME, threadCPUTime, uintptr(unsafe.Pointer(&t)), 0); errno != 0 {
		return time.Since(start)
	}
	return time.Duration(t.Nano())
}
