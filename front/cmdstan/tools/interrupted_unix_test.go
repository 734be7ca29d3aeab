//go:build unix

package tools

import (
	"context"
	"io"
	"path/filepath"
	"syscall"
	"testing"
)

// TestInterrupted checks that a tool that waits for a pipe without a writer can be interrupted.
func TestInterrupted(t *testing.T) {
	pipe := filepath.Join(t.TempDir(), "pipe.csv")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for name, tool := range map[string]func(context.Context, []string, int64, io.Writer, io.Writer) int{"stansummary": Summary, "diagnose": Diagnose, "print": Print} {
		if code := tool(ctx, []string{pipe}, 1<<30, io.Discard, io.Discard); code != interrupted {
			t.Errorf("%s: exit code %d", name, code)
		}
	}
}
