package main

import (
	"syscall"
	"time"
)

// cpuTime is the CPU time that the calling thread has used; what other
// processes take of the machine does not count.
func cpuTime() time.Duration {
	const rusageThread = 1
	var u syscall.Rusage
	if err := syscall.Getrusage(rusageThread, &u); err != nil {
		return time.Since(start)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
