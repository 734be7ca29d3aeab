//go:build !linux

package figures

import "time"

// ThreadTime is the time of the clock, where the thread's own is not known.
func ThreadTime() time.Duration { return time.Since(start) }

// ProcessTime is the time of the clock, where the process's own is not known.
func ProcessTime() time.Duration { return time.Since(start) }
