package fit

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"sync"

	"github.com/ppl-lang/ppl/ad"
	"github.com/ppl-lang/ppl/infer"
)

// Limits limits the total resources of all runs that share it as [Options.Limits], for instance in
// a service. Runs wait for their turn in the order of arrival; their draws do not depend on it.
// Make one with [NewLimits].
type Limits struct {
	mu         sync.Mutex
	processors int // number of free processors
	bytes      int64
	all        allotment // the total that all runs share
	waiting    []*waiter
}

// allotment is the resources of one run.
type allotment struct {
	processors int
	bytes      int64
}

// waiter is a waiting run.
type waiter struct {
	want  allotment // requested resources; the run may get fewer processors
	got   allotment
	ready chan struct{} // closed once got is set
}

// NewLimits makes limits for the number of processors, and for the bytes of evaluations and draws.
// If bytes is 0, memory is not limited.
func NewLimits(processors int, bytes int64) (*Limits, error) {
	if processors < 1 || bytes < 0 {
		return nil, fmt.Errorf("ppl: limits of %d processors and %d bytes", processors, bytes)
	}
	return &Limits{processors: processors, bytes: bytes, all: allotment{processors, bytes}}, nil
}

// LimitError says that a run needs more than the limits allow in total.
type LimitError struct {
	What           string // such as "memory"
	Asked, Allowed int64  // bytes
}

// Error implements error.
func (e *LimitError) Error() string {
	return fmt.Sprintf("the run needs %s of %s, but all runs together may take %s", ad.FormatBytes(e.Asked), e.What, ad.FormatBytes(e.Allowed))
}

// take waits until at least one processor and the requested bytes are free. It returns what the run
// gets: at most the requested processors. giveBack returns these.
func (l *Limits) take(ctx context.Context, want allotment) (got allotment, giveBack func(), err error) {
	if l == nil {
		return want, func() {}, nil
	}
	if l.all.bytes == 0 {
		want.bytes = 0
	}
	if want.bytes > l.all.bytes {
		return allotment{}, nil, &LimitError{What: "memory", Asked: want.bytes, Allowed: l.all.bytes}
	}
	w := &waiter{want: want, ready: make(chan struct{})}
	l.mu.Lock()
	l.waiting = append(l.waiting, w)
	l.serve()
	l.mu.Unlock()
	giveBack = sync.OnceFunc(func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		l.processors, l.bytes = l.processors+w.got.processors, l.bytes+w.got.bytes
		l.serve()
	})
	select {
	case <-w.ready:
		return w.got, giveBack, nil
	case <-ctx.Done():
	}
	l.mu.Lock()
	i := slices.Index(l.waiting, w)
	if i >= 0 {
		l.waiting = slices.Delete(l.waiting, i, i+1)
		l.serve() // runs that waited behind this one may need less
	}
	l.mu.Unlock()
	if i < 0 {
		giveBack()
	}
	return allotment{}, nil, &InterruptedError{Cause: context.Cause(ctx)}
}

// serve gives free resources to the runs that have waited longest.
func (l *Limits) serve() {
	for len(l.waiting) > 0 {
		w := l.waiting[0]
		if l.processors < 1 || w.want.bytes > l.bytes {
			return
		}
		w.got = allotment{min(w.want.processors, l.processors), w.want.bytes}
		l.processors, l.bytes = l.processors-w.got.processors, l.bytes-w.got.bytes
		l.waiting = l.waiting[1:]
		close(w.ready)
	}
}

// needs returns the resources that a run takes from its limits.
func (r *Run) needs() allotment {
	o := &r.options
	chains, draws := cmp.Or(max(o.Chains, 0), 4), 1000
	switch {
	case o.Draws > 0:
		draws = o.Draws
	case o.Draws < 0:
		draws = 0
	}
	together := chains
	pool, ok := o.Sampler.(infer.Pooled)
	if n := o.Parallel; n > 0 && o.TargetESS <= 0 && !(ok && pool.Pooled()) {
		together = min(chains, n)
	}
	kept := (draws + max(o.Thin, 1) - 1) / max(o.Thin, 1)
	width := int64(len(statistics(o.Sampler)) + len(r.posterior.OutputNames()))
	want := allotment{processors: cmp.Or(o.Parallel, chains)}
	want.bytes = int64(together)*r.posterior.Compiled().Memory() + 8*width*int64(kept)*int64(chains)
	return want
}
