package riemann

import (
	"time"

	"github.com/ppl-lang/ppl/infer"
)

const (
	askEvery = 20 * time.Millisecond
	large    = 192 // dimension from which a factorisation may take longer than that
)

// A runner does what may take long beside its caller, who asks meanwhile whether the run was
// interrupted. If so it returns false, and nobody may use the Hamiltonian any more: what was
// begun goes on to its end, and writes to its memory. A panic is the caller's. nil: nothing takes
// long.
type runner func(func()) bool

// do is f of a matrix, which tells whether it could be done.
func (run runner) do(f func(m []float64) bool, m []float64) bool {
	if run == nil {
		return f(m)
	}
	return run.done(f, m)
}

// done is apart, as variables that functions take hold of are allocated.
func (run runner) done(f func(m []float64) bool, m []float64) bool {
	ok := false
	return run(func() { ok = f(m) }) && ok
}

// await is the runner of a target in d dimensions. It calls stopped before it returns false.
func await(target *infer.Meter, d int, stopped func()) runner {
	if d < large {
		return nil
	}
	return func(f func()) bool {
		done := make(chan any, 1) // who stopped does not wait for it
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
					panic(failure) // as if it had happened here
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
