//go:build !linux

package cputime

import "time"

// Thread is the time of the clock, where the thread's own is not known.
func Thread() time.Duration { return time.Since(start) }

// Process is the time of the clock, where the process's own is not known.
func Process() time.Duration { return time.Since(start) }
