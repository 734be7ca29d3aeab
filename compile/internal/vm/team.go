package vm

import (
	"runtime"
	"sync/atomic"
	"time"
)

// This file: workers. Several goroutines share the evaluation of a large program, block by block. A
// block is divided into parts, which depend on its size alone (see split.go). The goroutine that
// evaluates and its helpers take one part after another. Results do not depend on who runs a part,
// nor on the number of helpers.
//
// Waking a goroutine on a sleeping processor is slow: on a virtual machine it took 100 µs until it
// ran, and 16 µs of the waking goroutine. Handing a part to a helper that is checking for work
// takes half a microsecond. So a helper checks for work for as long as waking it would take, and
// then ends. A helper is only a running goroutine: an idle machine has none, and nothing has to be
// closed.

const (
	// lookFor is the time for which a helper checks for work before it ends. That wastes no more
	// than waking it would cost.
	lookFor = 150 * time.Microsecond
	// looks is the number of checks for work before the helper calls the scheduler and looks at the
	// clock; it takes about a microsecond.
	looks = 200
	// waitAwake is the time for which the evaluating goroutine checks, without sleeping, whether
	// the last parts are done. After that it sleeps for nap between checks, because the system has
	// probably taken the processor away from a helper.
	waitAwake = 500 * time.Microsecond
	nap       = 50 * time.Microsecond
)

// parts is work that consists of independent parts.
type parts interface {
	// part runs part k, in the private memory of the worker m.
	part(m *Machine, k int)
}

// team is the set of helpers of a machine.
type team struct {
	helpers []*helper
	work    parts // of the current block

	// state packs three numbers: of the block (16 bits), of its parts (24 bits), and of the parts
	// taken (24 bits). Adding one to it takes a part. The block does not change before that part is
	// done.
	state atomic.Uint64
	done  atomic.Int32 // number of parts done

	failure atomic.Pointer[failedPart]
}

// failedPart holds the panic of a part.
type failedPart struct{ value any }

// helper is a goroutine that takes parts while it runs.
type helper struct {
	t       *team
	m       *Machine
	running atomic.Bool
	// The function that a goroutine runs, made once so that starting it does not allocate.
	start func()
}

const (
	countBits = 24
	maxParts  = 1<<countBits - 1
)

// newTeam returns the team of a machine, with the given number of helpers.
func newTeam(m *Machine, helpers int) *team {
	t := &team{}
	for range helpers {
		h := &helper{t: t, m: m.second()}
		h.start = h.run
		t.helpers = append(t.helpers, h)
	}
	return t
}

// members returns the helpers; nil for no team.
func (t *team) members() []*helper {
	if t == nil {
		return nil
	}
	return t.helpers
}

// each runs n parts of some work, by m alone if t is nil.
func (t *team) each(m *Machine, work parts, n int) {
	if t == nil || n < 2 || n > maxParts {
		for k := range n {
			work.part(m, k)
		}
		return
	}
	t.work = work
	t.done.Store(0)
	block := t.state.Load() >> (2 * countBits)
	t.state.Store((block+1)<<(2*countBits) | uint64(n)<<countBits)
	for _, h := range t.helpers {
		if !h.running.Load() && h.running.CompareAndSwap(false, true) {
			go h.start()
		}
	}
	for {
		k, ok := t.take()
		if !ok {
			break
		}
		t.do(m, k)
	}
	t.await(int32(n))
	if f := t.failure.Swap(nil); f != nil {
		panic(f.value) // as if the part had run here
	}
}

// take takes a part of the current block. ok is false if there are none left.
func (t *team) take() (k int, ok bool) {
	for {
		s := t.state.Load()
		n, taken := s>>countBits&maxParts, s&maxParts
		if taken >= n {
			return 0, false
		}
		if t.state.CompareAndSwap(s, s+1) {
			return int(taken), true
		}
	}
}

// do runs a part that was taken.
func (t *team) do(m *Machine, k int) {
	defer func() {
		if r := recover(); r != nil {
			t.failure.Store(&failedPart{r})
		}
		t.done.Add(1)
	}()
	t.work.part(m, k)
}

// await waits until n parts are done; helpers may still run the last ones.
func (t *team) await(n int32) {
	var since time.Time
	for {
		for range looks {
			if t.done.Load() == n {
				return
			}
		}
		switch {
		case since.IsZero():
			since = time.Now()
			runtime.Gosched()
		case time.Since(since) < waitAwake:
			runtime.Gosched()
		default:
			time.Sleep(nap)
		}
	}
}

// run takes parts, and checks for more as long as that is cheaper than being woken again.
func (h *helper) run() {
	for {
		h.look()
		h.running.Store(false)
		// From here on, new work counts this helper as running.
		s := h.t.state.Load()
		if s&maxParts >= s>>countBits&maxParts || !h.running.CompareAndSwap(false, true) {
			return
		}
	}
}

// look takes parts until there were none for lookFor.
func (h *helper) look() {
	var since time.Time
	for {
		if k, ok := h.t.take(); ok {
			h.t.do(h.m, k)
			since = time.Time{}
			continue
		}
		if since.IsZero() {
			since = time.Now()
		} else if time.Since(since) > lookFor {
			return
		}
		before := h.t.state.Load()
		for range looks {
			if h.t.state.Load() != before {
				break
			}
		}
		runtime.Gosched()
	}
}
