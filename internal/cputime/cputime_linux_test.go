package cputime

import (
	"runtime"
	"testing"
	"time"
)

// TestClock checks that the clock measures times shorter than a tick of the scheduler.
func TestClock(t *testing.T) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	begin, steps, last := Thread(), 0, time.Duration(0)
	for steps < 100 {
		now := Thread() - begin
		if now < last {
			t.Fatalf("the clock goes back from %v to %v", last, now)
		}
		if now > last {
			steps++
			last = now
		}
	}
	if last > 50*time.Millisecond {
		t.Errorf("100 steps of the clock take %v", last)
	}
}
