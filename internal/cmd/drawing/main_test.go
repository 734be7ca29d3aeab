package main

import (
	"os"
	"strings"
	"testing"
)

// TestDrawing checks that the drawing in ARCHITECTURE.md agrees with the code.
func TestDrawing(t *testing.T) {
	t.Chdir("../../..")
	want, err := draw()
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(text), begin+want+end) {
		t.Errorf("the drawing in %s is not that of the imports; write it with: go run ./internal/cmd/drawing -w\n%s", page, want)
	}
}
