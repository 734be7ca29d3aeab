package serve

import (
	"context"
	"fmt"
	"sync/atomic"

	"github.com/ppl-lang/ppl/front/httpd"
)

// lane is processes that work at a time, and requests that wait for them, first come, first
// served. Short work has a lane apart, so that it does not wait behind long runs.
type lane struct {
	slots   chan struct{} // one per process
	queue   int           // requests that may wait
	waiting atomic.Int64  // requests admitted: those at work and those in the queue
}

func newLane(processes, queue int) *lane {
	return &lane{slots: make(chan struct{}, processes), queue: queue}
}

// full reports whether a request would be refused.
func (l *lane) full() bool { return l.waiting.Load() >= int64(cap(l.slots)+l.queue) }

func (l *lane) busy() *httpd.Error {
	return httpd.Busy(fmt.Sprintf("%d requests are waiting already", l.queue))
}

// enter waits for a process. leave must be called if there is no error.
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

// working is the number of processes at work, queued that of the requests that wait.
func (l *lane) working() int { return len(l.slots) }
func (l *lane) queued() int  { return max(0, int(l.waiting.Load())-len(l.slots)) }
