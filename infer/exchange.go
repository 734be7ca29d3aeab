package infer

import (
	"sync"
)

// Pooled is the optional interface of a [Sampler] whose chains learn from each other in warm-up, by
// [State.Exchange]. All chains then run at the same time, but no more than Config.Parallel of them
// compute at any moment. If a run is resumed before all chains have finished warm-up, it repeats
// warm-up.
type Pooled interface {
	Pooled() bool
}

// exchange is where the chains of a run meet to exchange what they have learnt.
type exchange struct {
	mu      sync.Mutex
	here    []bool
	gone    []bool // the chain has ended, or will never take part
	parts   []any
	combine func(parts []any) any
	round   *meeting
	closed  bool // no more meetings
}

type meeting struct {
	done   chan struct{} // closed when there is a result
	result any
	err    error
}

func newExchange(chains int) *exchange {
	return &exchange{here: make([]bool, chains), gone: make([]bool, chains), parts: make([]any, chains)}
}

// join adds a chain's part to the current meeting and returns it. The meeting takes place when all
// chains have joined.
func (e *exchange) join(chain int, part any, combine func(parts []any) any) *meeting {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.closed {
		r := &meeting{done: make(chan struct{}), err: ErrInterrupted}
		close(r.done)
		return r
	}
	if e.round == nil {
		e.round = &meeting{done: make(chan struct{})}
	}
	r := e.round
	e.here[chain], e.parts[chain], e.combine = true, part, combine
	e.hold()
	return r
}

// leave records that a chain has ended.
func (e *exchange) leave(chain int) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.gone[chain] = true
	e.hold()
}

// close ends the current meeting without a result, and allows no other. An interrupted chain calls
// it, which no longer waits: combine may read the state of any chain that has joined.
func (e *exchange) close() {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.closed = true
	if r := e.round; r != nil {
		r.err = ErrInterrupted
		e.round, e.combine, e.parts = nil, nil, nil
		close(r.done)
	}
}

// hold holds the meeting if all chains that can still join have joined.
func (e *exchange) hold() {
	if e.round == nil {
		return
	}
	for i, here := range e.here {
		if !here && !e.gone[i] {
			return
		}
	}
	r := e.round
	func() {
		defer func() {
			if p := recover(); p != nil {
				r.err = NewPanicError(p)
			}
		}()
		r.result = e.combine(e.parts)
	}()
	e.round, e.combine, e.parts = nil, nil, make([]any, len(e.here))
	clear(e.here)
	close(r.done)
}

// Exchange gives part to the other chains of the run and waits for their parts. All chains must
// call it the same number of times, each time with a combine that does the same. One goroutine
// calls combine once, with the parts by chain; the part of a chain that has ended is nil. Every
// chain gets the result, which it must not modify. An error is final. A state used outside a run,
// or a chain whose target cannot be cloned, exchanges only with itself.
func (s *State) Exchange(part any, combine func(parts []any) any) (any, error) {
	if s.exchange == nil {
		return combine([]any{part}), nil
	}
	return s.exchange(part, combine)
}
