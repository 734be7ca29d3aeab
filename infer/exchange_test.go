package infer

import (
	"errors"
	"testing"
)

// TestExchangeClosed checks that no meeting takes place after a chain has stopped waiting for it:
// combine would read the state of that chain while the chain uses it.
func TestExchangeClosed(t *testing.T) {
	combine := func([]any) any {
		t.Error("a meeting took place without a chain that had joined")
		return nil
	}
	e := newExchange(2)
	m := e.join(0, 1, combine)
	e.close()
	e.leave(0)
	e.leave(1)
	<-m.done
	if !errors.Is(m.err, ErrInterrupted) {
		t.Errorf("a meeting without a result has the error %v", m.err)
	}
	m = e.join(1, 1, combine)
	<-m.done
	if !errors.Is(m.err, ErrInterrupted) {
		t.Errorf("a meeting after the last has the error %v", m.err)
	}
}
