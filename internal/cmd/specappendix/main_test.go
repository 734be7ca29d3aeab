package main

import (
	"os"
	"testing"
)

// TestWritten checks that the generated parts agree with the tables.
func TestWritten(t *testing.T) {
	for name, anew := range written {
		text, err := os.ReadFile("../../../" + name)
		if err != nil {
			t.Fatal(err)
		}
		want, err := anew(string(text))
		if err != nil {
			t.Fatal(err)
		}
		if string(text) != want {
			t.Errorf("%s does not agree with the tables: run go run ./internal/cmd/specappendix -w", name)
		}
	}
}
