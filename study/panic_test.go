package study

import (
	"bytes"
	"log/slog"
	"strings"
	"testing"
)

// TestPanickingUnit checks that a unit that panics has a one-line result, and that only the log has
// its stack.
func TestPanickingUnit(t *testing.T) {
	var log bytes.Buffer
	old := slog.Default()
	slog.SetDefault(slog.New(slog.NewTextHandler(&log, nil)))
	defer slog.SetDefault(old)
	w := &Worker{Model: func(string) ([]byte, error) { panic("no such row") }}
	o, err := Options{}.Complete()
	if err != nil {
		t.Fatal(err)
	}
	r := w.Do(t.Context(), &Unit{Key: "k", Spec: Spec{Options: o}})
	if r == nil || r.Status != Failed || r.Findings[0].Code != "panic" {
		t.Fatalf("%+v", r)
	}
	if m := r.Message; !strings.Contains(m, "no such row") || strings.ContainsAny(m, "\n/") || strings.Contains(m, ".go") {
		t.Errorf("the message is %q", m)
	}
	if !strings.Contains(log.String(), "panic_test.go") {
		t.Errorf("the log has no stack: %s", log.String())
	}
}
