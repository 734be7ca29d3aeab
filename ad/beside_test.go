package ad_test

import (
	"errors"
	"testing"

	"github.com/ppl-lang/ppl/ad"
)

// leave is an error of someone who waits for what goes on.
type leave struct {
	error
	told chan string
}

func (l *leave) Leave() (ended func()) {
	l.told <- "left"
	return func() { l.told <- "ended" }
}

// TestBeside: who waits for what does not ask asks itself; a panic is the caller's.
func TestBeside(t *testing.T) {
	end, began := make(chan struct{}), make(chan struct{})
	ended := &leave{errors.New("ended"), make(chan string, 2)}
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
	if got := <-ended.told; got != "left" || len(ended.told) > 0 {
		t.Errorf("whoever stopped was told %q, and %d more", got, len(ended.told))
	}
	close(end)
	if got := <-ended.told; got != "ended" {
		t.Errorf("whoever stopped was told %q", got)
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
