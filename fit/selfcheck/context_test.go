package selfcheck_test

import (
	"context"
	"errors"
	"testing"

	"github.com/ppl-lang/ppl/fit/selfcheck"
)

// TestContextEnds checks that a check ends with its context. Nothing is compared, and callers that
// make no draws get the cause.
func TestContextEnds(t *testing.T) {
	m := bind(t, programs["plain"], "", 1, 1)
	cause := errors.New("the user left")
	ctx, cancel := context.WithCancelCause(context.Background())
	c := selfcheck.New(ctx, m, values(t), 1, 1, 1)
	if c.Start() || c.Record().Points != 1 {
		t.Fatalf("%d points before the end of the context", c.Record().Points)
	}
	cancel(cause)
	if c.Draw(0, false, []float64{0}) || c.End(ctx) || c.Record().Points != 1 {
		t.Errorf("%d points after the end of the context", c.Record().Points)
	}
	if _, err := selfcheck.Trust(ctx, m, values(t), 1); !errors.Is(err, cause) {
		t.Errorf("Trust: %v", err)
	}
}
