//go:build unix

package contest

import (
	"syscall"
	"time"
)

// ProcessorTime returns the processor time of this process. Wall-clock time says little on a busy
// machine.
func ProcessorTime() time.Duration {
	var u syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &u) != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
