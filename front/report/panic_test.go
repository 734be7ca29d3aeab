package report

import (
	"errors"
	"strings"
	"testing"

	"github.com/ppl-lang/ppl/infer"
	"github.com/ppl-lang/ppl/infer/diagnose"
)

// TestPanics checks that a panic while the plots of a quantity are made becomes an error of the
// report, and that its goroutine goes on with the next quantity. A panic in such a goroutine would
// end the program.
func TestPanics(t *testing.T) {
	const n = 32 // quantities are handed to all goroutines
	w := &work{ctx: t.Context(), o: Options{Size: 1 << 20}, report: &Report{}, names: make([]string, n), rows: make([]diagnose.Row, n)}
	err := w.quantities() // there is no fit, so every quantity dereferences nil
	var p *infer.PanicError
	if !errors.As(err, &p) || !strings.Contains(string(p.Stack), "report.go") {
		t.Fatalf("%v", err)
	}
	if text := err.Error(); strings.Contains(text, "goroutine") || strings.Contains(text, ".go") {
		t.Errorf("the text is %q", text)
	}
}
