package goroutines_test

import (
	"strings"
	"sync/atomic"
	"testing"

	"github.com/ppl-lang/ppl/internal/goroutines"
)

// TestPanic checks that Wait panics after all goroutines have ended, and that the stack is
// preserved through groups within groups.
func TestPanic(t *testing.T) {
	var ended, failed atomic.Int32
	defer func() {
		p, ok := recover().(*goroutines.Panic)
		if !ok || p.Value != "planted" || !strings.Contains(string(p.Stack), "planted()") {
			t.Errorf("recovered %v", p)
		}
		if ended.Load() != 3 || failed.Load() != 1 {
			t.Errorf("%d have ended, Failed was called %d times", ended.Load(), failed.Load())
		}
	}()
	stop := make(chan struct{})
	g := goroutines.Group{Failed: func() { failed.Add(1); close(stop) }}
	for range 3 {
		g.Go(func() { <-stop; ended.Add(1) })
	}
	g.Go(func() {
		var inner goroutines.Group
		inner.Go(planted)
		inner.Wait()
	})
	g.Wait()
	t.Error("Wait returned")
}

func planted() { panic("planted") }

// TestNone checks that Wait returns if there is no panic.
func TestNone(t *testing.T) {
	var g goroutines.Group
	var n atomic.Int32
	for range 5 {
		g.Go(func() { n.Add(1) })
	}
	if g.Wait(); n.Load() != 5 {
		t.Errorf("%d have ended", n.Load())
	}
}
