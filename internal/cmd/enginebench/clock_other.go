//go:build !linux

package main

import "time"

// cpuTime is the time of the clock, where the thread's own is not known.
func cpuTime() time.Duration { return time.Since(start) }
