package ad_test

import (
	"errors"
	"testing"

	"github.com/ppl-lang/ppl/ad"
)

// leave is an error of Stop whose sender waits for the end of the work.
type leave struct {
	error
	heard chan string
}

func (l *leave) Leave() (ended func()) {
	l.heard <- "left"
	return func() { l.heard <- "ended" }
}

// TestAwait checks that Await calls stop for work that does not call it, and that a panic reaches
// the caller.
func TestAwait(t *testing.T) {
	end, began := make(chan struct{}), make(chan struct{})
	ended := &leave{errors.New("ended"), make(chan string, 2)}
	asked := 0
	_, err := ad.Await(func() error {
		<-began
		if asked++; asked < 3 {
			return nil
		}
		return ended
	}, func() int { close(began); <-end; return 1 })
	if !errors.Is(err, ended) || asked != 3 {
		t.Errorf("%v, after it was asked %d times", err, asked)
	}
	if got := <-ended.heard; got != "left" || len(ended.heard) > 0 {
		t.Errorf("whoever stopped heard %q, and %d more", got, len(ended.heard))
	}
	close(end)
	if got := <-ended.heard; got != "ended" {
		t.Errorf("whoever stopped heard %q", got)
	}
	if v, err := ad.Await(func() error { return nil }, func() int { return 7 }); v != 7 || err != nil {
		t.Errorf("%v, %v", v, err)
	}
	defer func() {
		if recover() == nil {
			t.Error("a panic is lost")
		}
	}()
	_, _ = ad.Await(func() error { return nil }, func() int { panic("fault") })
}
