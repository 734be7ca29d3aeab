package ad_test

import (
	"errors"
	"testing"

	"github.com/ppl-lang/ppl/ad"
)

// TestBeside: who waits for what does not ask asks itself; a panic is the caller's.
func TestBeside(t *testing.T) {
	ended, end, began := errors.New("ended"), make(chan struct{}), make(chan struct{})
	defer close(end)
	asked := 0
	_, err := ad.Beside(func() error {
		<-began
		if asked++; asked < 3 {
			return nil
		}
		return ended
	}, func() int { close(began); <-end; return 1 })
	if !errors.Is(err, ended) || asked != 3 {
		t.Errorf("%v, after it was asked %d times", err, asked)
	}
	if v, err := ad.Beside(func() error { return nil }, func() int { return 7 }); v != 7 || err != nil {
		t.Errorf("%v, %v", v, err)
	}
	defer func() {
		if recover() == nil {
			t.Error("a panic is lost")
		}
	}()
	_, _ = ad.Beside(func() error { return nil }, func() int { panic("fault") })
}
