//go:build unix

package study

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// TestPipes checks that reading by a plan ends with the context, even from a pipe without a writer.
func TestPipes(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "m.stan"), []byte("parameters { real x; } model { x ~ normal(0, 1); }"), 0o666); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Mkfifo(filepath.Join(dir, "pipe"), 0o600); err != nil {
		t.Skip("no pipes: ", err)
	}
	for _, plan := range []string{
		"models: pipe",
		"models: m.stan\ndata: {table: pipe}",
		"models: m.stan\ndata: {files: m.stan, with: pipe}",
		"models: m.stan\ndata: {simulate: true, data: pipe}",
		"models: m.stan\ndata: {simulate: true, params: pipe}",
		"models: m.stan\ndata: {folds: 2, data: pipe}",
	} {
		ctx, cancel := context.WithCancelCause(t.Context())
		why := errors.New("why")
		time.AfterFunc(10*time.Millisecond, func() { cancel(why) })
		if _, err := ReadPlan(ctx, "plan.yaml", plan, ReadOptions{Dir: dir}); err == nil || !strings.Contains(err.Error(), "why") {
			t.Errorf("%s: %v", plan, err)
		}
	}
	// A pipe cannot be one of the data sets, which are read more than once.
	p, err := ReadPlan(t.Context(), "plan.yaml", "models: m.stan\ndata: pipe", ReadOptions{Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	for u := range p.Units(t.Context()) {
		if u.Err == nil || !strings.Contains(u.Err.Error(), "is a pipe") {
			t.Errorf("%v", u.Err)
		}
	}
}
