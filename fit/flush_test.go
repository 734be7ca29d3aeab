package fit

import (
	"errors"
	"strings"
	"testing"

	"github.com/ppl-lang/ppl/infer"
)

// panicking is an output with a programming error.
type panicking struct{ drawOutput }

func (panicking) flush() error { panic("planted") }

// TestFlushPanics checks that a panic in flush becomes the error of the next draw, and that the
// lock is released. flush runs in a goroutine of the recorder, where a panic would end the program.
func TestFlushPanics(t *testing.T) {
	r := &recorder{out: panicking{}}
	r.flush()
	err := r.add(nil, infer.Draw{})
	var p *infer.PanicError
	if !errors.As(err, &p) || p.Value != "planted" || !strings.Contains(string(p.Stack), "flush_test.go") || !errors.As(err, new(*OutputError)) {
		t.Fatalf("%v", err)
	}
	if text := err.Error(); strings.Contains(text, "goroutine") || strings.Contains(text, ".go") || strings.Contains(text, "\n") {
		t.Errorf("the text is %q", text)
	}
	if r.flush(); r.err != err {
		t.Errorf("the second flush replaced the error by %v", r.err)
	}
}
