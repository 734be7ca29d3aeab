package main

import (
	"os"
	"testing"
)

// TestAppendix: the appendix of spec.md is that of the library.
func TestAppendix(t *testing.T) {
	text, err := os.ReadFile("../../../spec.md")
	if err != nil {
		t.Fatal(err)
	}
	want, err := replaced(string(text))
	if err != nil {
		t.Fatal(err)
	}
	if string(text) != want {
		t.Error("the appendix of spec.md is not that of the library: run go run ./internal/cmd/specappendix -w")
	}
}
