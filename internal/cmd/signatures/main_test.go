package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestRun counts a list of one signature of each kind.
func TestRun(t *testing.T) {
	path := filepath.Join(t.TempDir(), "signatures.txt")
	list := "exp(real) => real\ngenerate_laplace_options(int) => tuple(vector, real, int, int, int, int)\nexp(tuple(real, real)) => real\n"
	if err := os.WriteFile(path, []byte(list), 0o666); err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	if err := run(&b, path, true); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"signatures 3: evaluated 2, missing 1", "names      2: complete 1, partly 1, none 0", "exp                                      1 of     2"} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("no %q in\n%s", want, b.String())
		}
	}
	if err := run(&b, path+"?", false); err == nil {
		t.Error("no error for a list that is not there")
	}
}
