package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ppl-lang/ppl/fit/folder"
	brief "github.com/ppl-lang/ppl/internal/short"
)

// TestOtherProgram checks that a run that another version of the program began can be continued,
// and that a note says so.
func TestOtherProgram(t *testing.T) {
	brief.Skip(t, "a run is stopped by the clock three times")
	dir := t.TempDir()
	model, out := filepath.Join(dir, "m.stan"), filepath.Join(dir, "out")
	if err := os.WriteFile(model, []byte("parameters { real x; } model { x ~ normal(0, 1); }"), 0o666); err != nil {
		t.Fatal(err)
	}
	run := func(args ...string) string {
		var stdout, stderr strings.Builder
		if code := execute(append([]string{"run", "-q", "--time-limit", "2s"}, args...), &stdout, &stderr); code != 0 {
			t.Fatalf("%d: %s", code, stderr.String())
		}
		return stdout.String()
	}
	run(model, "--out", out, "--sampler", "nuts", "--chains", "1", "--seed", "1", "--draws", "100000000")
	const said = "The run was begun by ppl 0.1 and has gone on with"
	if text := run("--resume", out); strings.Contains(text, "was begun by") {
		t.Error(text)
	}
	r, err := folder.Read(out)
	if err != nil {
		t.Fatal(err)
	}
	r.Program = "ppl 0.1"
	if err := r.Write(out); err != nil {
		t.Fatal(err)
	}
	if text := run("--resume", out); !strings.Contains(strings.Join(strings.Fields(text), " "), said) {
		t.Error(text)
	}
}
