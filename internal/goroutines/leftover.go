package goroutines

import (
	"context"
	"sync"
	"time"
)

// Leftover is work that continues after its run was cancelled. The zero value has none. If a run
// waits for several of these one after another, all waits end at the same time, since each grace
// period begins with the cancellation.
type Leftover struct {
	working sync.WaitGroup
	over    chan struct{} // closed when the grace is over; nil: it never is
}

// Begin begins a grace period that starts when ctx ends. If grace is 0, it never ends; if negative,
// it ends at once. Call Begin before the work starts, and the result after [Leftover.Wait].
func (l *Leftover) Begin(ctx context.Context, grace time.Duration) (end func()) {
	if grace == 0 {
		return func() {}
	}
	over, ended := make(chan struct{}), make(chan struct{})
	l.over = over
	stop := context.AfterFunc(ctx, func() {
		defer close(over)
		if grace < 0 {
			return
		}
		timer := time.NewTimer(grace)
		defer timer.Stop()
		select {
		case <-timer.C:
		case <-ended:
		}
	})
	return func() {
		stop()
		close(ended)
	}
}

// Leave adds work. Call the result when it is over.
func (l *Leftover) Leave() (ended func()) {
	l.working.Add(1)
	return l.working.Done
}

// Wait waits until all work has ended, or the grace period is over. Call it only after the context
// of Begin has ended, or when no work is left.
func (l *Leftover) Wait() {
	if l.over == nil {
		l.working.Wait()
		return
	}
	idle := make(chan struct{})
	go func() {
		l.working.Wait()
		close(idle)
	}()
	select {
	case <-idle:
	case <-l.over:
	}
}
