// Package goroutines runs functions in goroutines that cannot end the program: a panic in one of
// them continues in the goroutine that waits, which may recover it.
//
//	group.go     Group, Panic
//	leftover.go  Leftover: work that continues after its run was cancelled
package goroutines

import (
	"fmt"
	"runtime/debug"
	"sync"
)

// Group is a set of goroutines. The zero value is ready.
type Group struct {
	// Failed, if not nil, is called once, after the first panic. It must end the goroutines that
	// would otherwise wait for the one that panicked.
	Failed func()

	running sync.WaitGroup
	mu      sync.Mutex
	failure *Panic
}

// Panic is the value with which [Group.Wait] panics.
type Panic struct {
	Value any    // of the first panic
	Stack []byte // of its goroutine, as runtime/debug.Stack writes it
}

// String returns the value without the stack.
func (p *Panic) String() string { return fmt.Sprint(p.Value) }

// Go runs f in a goroutine of the group.
func (g *Group) Go(f func()) {
	g.running.Go(func() {
		defer func() {
			if value := recover(); value != nil {
				g.fail(value, debug.Stack())
			}
		}()
		f()
	})
}

func (g *Group) fail(value any, stack []byte) {
	g.mu.Lock()
	first := g.failure == nil
	if first {
		g.failure = &Panic{value, stack}
		if p, ok := value.(*Panic); ok { // of a group within
			g.failure = p
		}
	}
	g.mu.Unlock()
	if first && g.Failed != nil {
		g.Failed()
	}
}

// Wait waits for all goroutines of the group. If one of them panicked, Wait panics with a [*Panic].
func (g *Group) Wait() {
	g.running.Wait()
	if g.failure != nil {
		panic(g.failure)
	}
}
