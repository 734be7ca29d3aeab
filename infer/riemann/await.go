package riemann

import (
	"time"

	"github.com/ppl-lang/ppl/infer"
)

const (
	askEvery = 20 * time.Millisecond
	large    = 192 // dimension from which a factorisation may take longer than that
)

// runner runs work that may take long, such as a factorisation, while its caller checks whether the
// run was interrupted. If the run is interrupted, it returns false, and the Hamiltonian must not be
// used any more: the work continues to its end and writes to its memory. A panic is passed on to
// the caller. A nil runner does the work directly.
type runner func(func()) bool

// do calls f with a matrix and returns its result.
func (run runner) do(f func(m []float64) bool, m []float64) bool {
	if run == nil {
		return f(m)
	}
	return run.done(f, m)
}

// done is a separate function, because variables that closures capture are allocated on the heap.
func (run runner) done(f func(m []float64) bool, m []float64) bool {
	ok := false
	return run(func() { ok = f(m) }) && ok
}

// await returns the runner for a target in d dimensions. The runner calls stopped before it returns
// false.
func await(target *infer.Meter, d int, stopped func()) runner {
	if d < large {
		return nil
	}
	return func(f func()) bool {
		done := make(chan any, 1) // buffered, since an interrupted caller does not receive
		go func() {
			defer func() { done <- recover() }()
			f()
		}()
		tick := time.NewTicker(askEvery)
		defer tick.Stop()
		for {
			select {
			case failure := <-done:
				if failure != nil {
					panic(failure) // as if it had happened in this goroutine
				}
				return true
			case <-tick.C:
				if target.Interrupted() {
					ended := target.Leave()
					go func() {
						<-done
						ended()
					}()
					stopped()
					return false
				}
			}
		}
	}
}
