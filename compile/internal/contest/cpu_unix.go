//go:build unix

package contest

import (
	"syscall"
	"time"
)

// ProcessorTime is the time that processors spent on this process: clocks on the
// wall say little on a busy machine.
func ProcessorTime() time.Duration {
	var u syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &u) != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
