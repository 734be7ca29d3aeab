package main

import (
	"runtime/debug"
	runtimemetrics "runtime/metrics"
	"sync"
	"time"
)

// Warm-up in thousands of dimensions needs large blocks of growing size. Without a limit, the
// runtime keeps the old ones, and the process takes several times the memory in use. Few objects
// have pointers, so collecting garbage more often costs next to nothing.

// heapEvery is the time between two adjustments of the limit.
const heapEvery = 100 * time.Millisecond

// headroom is the memory that a process may have beyond what is in use: a share of that, of at most
// the given number of bytes, and these bytes.
type headroom struct {
	share float64
	bytes int64
}

// A language server has little, since it holds it for as long as an editor is open.
var (
	runHeadroom    = headroom{0.5, 128 << 20}
	editorHeadroom = headroom{0.25, 32 << 20}
)

// limit is the soft limit of memory for the given number of bytes in use.
func (h headroom) limit(live uint64) int64 {
	return int64(live) + min(int64(h.share*float64(live)), h.bytes) + h.bytes
}

// limitHeap keeps the memory of the process near what it uses, until stop is called. A lower limit
// that was set before stays.
func limitHeap(h headroom) (stop func()) {
	before := debug.SetMemoryLimit(-1)
	live := []runtimemetrics.Sample{{Name: "/gc/heap/live:bytes"}}
	adjust := func() {
		runtimemetrics.Read(live)
		if live[0].Value.Kind() == runtimemetrics.KindUint64 {
			debug.SetMemoryLimit(min(before, h.limit(live[0].Value.Uint64())))
		}
	}
	adjust()
	done := make(chan struct{})
	var adjusting sync.WaitGroup
	adjusting.Go(func() {
		tick := time.NewTicker(heapEvery)
		defer tick.Stop()
		for {
			select {
			case <-done:
				return
			case <-tick.C:
				adjust()
			}
		}
	})
	return func() {
		close(done)
		adjusting.Wait()
		debug.SetMemoryLimit(before)
	}
}
