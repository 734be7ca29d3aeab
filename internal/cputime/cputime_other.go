//go:build !linux

package cputime

import "time"

// Thread returns the wall-clock time, as the thread's CPU time is unavailable.
func Thread() time.Duration { return time.Since(start) }

// Process returns the wall-clock time, as the process's CPU time is unavailable.
func Process() time.Duration { return time.Since(start) }
