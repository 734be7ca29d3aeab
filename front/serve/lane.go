package serve

import (
	"context"
	"fmt"
	"sync/atomic"

	"github.com/ppl-lang/ppl/front/httpd"
)

// lane is a limited number of processes, with a first-in first-out queue of requests. Short work
// has a separate lane, so that it does not wait behind long runs.
type lane struct {
	slots   chan struct{} // one per process
	queue   int           // requests that may wait
	waiting atomic.Int64  // requests admitted: running or in the queue
}

func newLane(processes, queue int) *lane {
	return &lane{slots: make(chan struct{}, processes), queue: queue}
}

// full reports whether a request would be refused.
func (l *lane) full() bool { return l.waiting.Load() >= int64(cap(l.slots)+l.queue) }

func (l *lane) busy() *httpd.Error {
	return httpd.Busy(fmt.Sprintf("%d requests are waiting already", l.queue))
}

// enter waits for a free process. Call leave after use, unless there is an error.
func (l *lane) enter(ctx context.Context) (leave func(), err *httpd.Error) {
	if l.waiting.Add(1) > int64(cap(l.slots)+l.queue) {
		l.waiting.Add(-1)
		return nil, l.busy()
	}
	select {
	case l.slots <- struct{}{}:
		return func() { <-l.slots; l.waiting.Add(-1) }, nil
	case <-ctx.Done():
		l.waiting.Add(-1)
		return nil, gone(ctx)
	}
}

// working returns the number of running requests, queued the number in the queue.
func (l *lane) working() int { return len(l.slots) }
func (l *lane) queued() int  { return max(0, int(l.waiting.Load())-len(l.slots)) }
