package main

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// checkout has one entry of each kind that ppl has, and one that it lacks.
var checkout = map[string]string{
	notesFile:      "STANC3 RELEASE NOTES\n====\n\nv9.8.7 (1 May)\n====\nv9.8.6 (1 April)\n",
	signaturesFile: "Display\n  $ stanc --dump\n  exp(real) => real\n  exp(tuple(real, real)) => real\n  exp(real, real) => real\n  generate_laplace_options(int) => tuple(vector, real, int, int, int, int)\n",
	familiesFile:   "Display\n  $ stanc --dump\n  beta: lpdf, rng, ccdf, cdf\n  nobodys: lpdf\n",
	libraryFile:    "[ \"laplace_marginal\"; \"nobodys_function\" ] \"Plus__\"",
	lexerFile:      "  | \"parameters\" { x }\n  | \"array\" { x }\n  | \"nobodys\"\n    { x }\n  | 'T' { x }\n",
}

func TestRun(t *testing.T) {
	var b strings.Builder
	complete, err := run(&b, func(path string) (string, error) { return checkout[path], nil })
	if err != nil || complete {
		t.Fatal(complete, err)
	}
	for _, want := range []string{
		"stanc3: newest release notes of 9.8.7; ppl: Stan ", "signatures: 4, missing 2 of 1 functions", "      2  exp(tuple(real, real)) => real",
		"functions without listed signatures that are missing: 1\n  nobodys_function", "distributions' parts that are missing: 1\n  nobodys: lpdf",
		"words that stanc3 reserves and ppl does not: 1\n  nobodys", "functions that only ppl has: ",
	} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("no %q in\n%.600s", want, b.String())
		}
	}
}

// TestFolders reads a work tree, and a revision of its git directory without one.
func TestFolders(t *testing.T) {
	dir := t.TempDir()
	for path, text := range checkout {
		path = filepath.Join(dir, filepath.FromSlash(path))
		if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := run(&strings.Builder{}, sourceAt(dir, "HEAD")); err != nil {
		t.Error(err)
	}
	git := func(args ...string) {
		cmd := exec.Command("git", append([]string{"-C", dir, "-c", "user.name=a", "-c", "user.email=a@b"}, args...)...)
		if out, err := cmd.CombinedOutput(); err != nil {
			if errors.Is(err, exec.ErrNotFound) {
				t.Skip("git is not installed")
			}
			t.Fatalf("%v: %s", err, out)
		}
	}
	git("init", "-q")
	git("add", ".")
	git("commit", "-q", "-m", "all")
	if _, err := run(&strings.Builder{}, sourceAt(filepath.Join(dir, ".git"), "HEAD")); err != nil {
		t.Error(err)
	}
	if _, err := run(&strings.Builder{}, sourceAt(filepath.Join(dir, ".git"), "v2")); err == nil {
		t.Error("no error for a revision that is not there")
	}
}
