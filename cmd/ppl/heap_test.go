package main

import (
	"runtime/debug"
	"testing"
)

// TestLimitHeap checks that a limit set before a run is neither raised nor lost.
func TestLimitHeap(t *testing.T) {
	at := debug.SetMemoryLimit(-1)
	defer debug.SetMemoryLimit(at)
	for _, before := range []int64{1 << 24, 1 << 45} {
		debug.SetMemoryLimit(before)
		stop := limitHeap(runHeadroom)
		if now := debug.SetMemoryLimit(-1); now > before || before == 1<<45 && now == before {
			t.Errorf("the limit %d becomes %d", before, now)
		}
		stop()
		if after := debug.SetMemoryLimit(-1); after != before {
			t.Errorf("the limit was %d and is %d afterwards", before, after)
		}
	}
	if a, b := editorHeadroom.limit(0), editorHeadroom.limit(1<<30); a <= 0 || b < a+1<<30 {
		t.Errorf("limits %d and %d", a, b)
	}
}
