package main

import (
	"context"
	"net/http/httptest"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/ppl-lang/ppl/internal/short"
)

// heapAfterGC returns the heap in use after garbage collection.
func heapAfterGC() uint64 {
	var m runtime.MemStats
	for range 3 { // a sync.Pool is empty after the second collection
		runtime.GC()
	}
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

// TestManyRequests checks that requests leak neither goroutines nor memory, even if some are
// invalid or their clients disconnect. `.ci/run race` runs this under the race detector.
func TestManyRequests(t *testing.T) {
	s := testService(t)
	requests := short.Of(200, 50)
	round := func() {
		var clients sync.WaitGroup
		for client := range 10 {
			clients.Go(func() {
				for i := range requests / 10 {
					ctx, cancel := context.WithCancel(t.Context())
					body, want := asked, 200
					switch (client + i) % 5 {
					case 3:
						body, want = strings.Replace(asked, `"buyers": 100`, `"buyers": 1001`, 1), 400
					case 4:
						time.AfterFunc(time.Duration(i%7)*time.Millisecond, cancel)
						want = 0 // an answer, or none if the client has disconnected
					}
					w := httptest.NewRecorder()
					s.ServeHTTP(w, httptest.NewRequestWithContext(ctx, "POST", "/best", strings.NewReader(body)))
					cancel()
					if want != 0 && w.Code != want {
						t.Errorf("status %d, not %d: %s", w.Code, want, w.Body)
					}
				}
			})
		}
		clients.Wait()
	}
	round() // the first requests also build tables
	goroutines, heap := runtime.NumGoroutine(), heapAfterGC()
	round()
	left := runtime.NumGoroutine()
	for range 100 { // goroutines of the runtime and of timers may end a little later
		if left <= goroutines {
			break
		}
		time.Sleep(10 * time.Millisecond)
		left = runtime.NumGoroutine()
	}
	if left > goroutines {
		t.Errorf("%d goroutines before, %d after", goroutines, left)
	}
	grown := int64(heapAfterGC()) - int64(heap)
	t.Logf("%d requests: the heap was %d bytes and has grown by %d", requests, heap, grown)
	if grown > int64(2000*requests) {
		t.Errorf("%d requests leave %d bytes behind", requests, grown)
	}
}
