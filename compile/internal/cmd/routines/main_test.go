package main

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/ppl-lang/ppl/compile/internal/native"
)

// TestGenerated checks that the committed files equal the command's output, byte by byte.
func TestGenerated(t *testing.T) {
	if !native.Supported {
		t.Skip("no machine code for this system")
	}
	files, err := sources()
	if err != nil {
		t.Fatal(err)
	}
	stale, left, err := compare(filepath.Join("..", "..", "..", "..", "ad", "kernel", "routines"), files)
	if err != nil {
		t.Fatal(err)
	}
	if len(stale) > 0 || len(left) > 0 {
		t.Errorf("differ from the texts of compile/internal/native: %v; made by no text: %v. Run go generate ./ad/kernel/routines", stale, left)
	}
}

// TestWrite checks that the command writes all files, leaves others unchanged, and removes
// generated ones that are no longer made.
func TestWrite(t *testing.T) {
	if !native.Supported {
		t.Skip("no machine code for this system")
	}
	dir := t.TempDir()
	put := func(name, text string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	put("doc.go", "package routines\n")
	put("old.go", mark+"\npackage routines\n")
	put("log.go", mark+"\npackage routines // edited by hand\n")
	files, err := sources()
	if err != nil {
		t.Fatal(err)
	}
	stale, left, err := compare(dir, files)
	if err != nil || len(stale) != len(files) || !slices.Equal(left, []string{"old.go"}) {
		t.Errorf("%d of %d files differ, and %v are left (%v)", len(stale), len(files), left, err)
	}
	if err := write(dir); err != nil {
		t.Fatal(err)
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	if len(entries) != len(files)+1 {
		t.Errorf("%d files, not %d", len(entries), len(files)+1)
	}
	for name, want := range files {
		if got, err := os.ReadFile(filepath.Join(dir, name)); err != nil || !bytes.Equal(got, want) {
			t.Errorf("%s is not what was to be written (%v)", name, err)
		}
	}
}
