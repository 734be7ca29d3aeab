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

// heapLimit is the soft limit of memory for the given number of bytes in use.
func heapLimit(live uint64) int64 { return int64(live) + int64(live)/2 + 192<<20 }

// limitHeap keeps the memory of the process near what it uses, until stop is called. A lower limit
// that was set before stays.
func limitHeap() (stop func()) {
	before := debug.SetMemoryLimit(-1)
	live := []runtimemetrics.Sample{{Name: "/gc/heap/live:bytes"}}
	adjust := func() {
		runtimemetrics.Read(live)
		if live[0].Value.Kind() == runtimemetrics.KindUint64 {
			debug.SetMemoryLimit(min(before, heapLimit(live[0].Value.Uint64())))
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
