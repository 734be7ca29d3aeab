package main

import (
	"bufio"
	"os"
	"strings"
	"testing"
)

// TestStyle compares the repository with the style sheet and the table of counts.
func TestStyle(t *testing.T) {
	const root = "../../.."
	f, err := read(root)
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range f.banned {
		t.Errorf("%s: doc/contributing/style.md has a plainer phrase", s)
	}
	for _, s := range f.long {
		t.Errorf("%s: the comment ends beyond column %d", s, maxColumn)
	}
	text, err := os.ReadFile(root + "/" + table)
	if err != nil {
		t.Fatal(err)
	}
	kept, err := parse(string(text))
	if err != nil {
		t.Fatal(err)
	}
	for folder, words := range f.counts {
		for word, n := range words {
			if most := kept[folder][word]; n > most {
				t.Errorf("%s: %q is there %d times, %d are allowed: write it more plainly, or go run ./internal/cmd/style", folder, word, n, most)
			}
		}
	}
}

// TestFindings reads a file with one example of each finding.
func TestFindings(t *testing.T) {
	f := findings{counts: map[string]map[string]int{}}
	f.file("a/b.go", bufio.NewScanner(strings.NewReader(strings.Join([]string{
		"// It mends a thing of its own.",
		"// amend, in the meantime, of its own size, of its own sizes",
		"// It stands beside it, and tells.",
		"// " + strings.Repeat("x", maxColumn-3),
		"// " + strings.Repeat("x", maxColumn-2),
		"//\t" + strings.Repeat("x", maxColumn),
		"x := 1 // " + strings.Repeat("x", maxColumn),
	}, "\n"))))
	if got := strings.Join(f.banned, " "); got != "a/b.go:1: mend a/b.go:1: of its own" {
		t.Errorf("banned: %s", got)
	}
	if got := strings.Join(f.long, " "); got != "a/b.go:5" {
		t.Errorf("long: %s", got)
	}
	if got := write(f.counts); got != "a: beside 1\na: stand 1\na: tell 1\n" {
		t.Errorf("counts: %s", got)
	}
	if back, err := parse(write(f.counts)); err != nil || write(back) != write(f.counts) {
		t.Errorf("read back: %v %v", back, err)
	}
	if _, err := parse("a: b"); err == nil {
		t.Error("a line without a number is read")
	}
}
