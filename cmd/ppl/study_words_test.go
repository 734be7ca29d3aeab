package main

import (
	"os"
	"path/filepath"
	"regexp"
	"testing"
)

// TestFindingsInWords checks that each finding about the draws of a fit has words in the page of a
// study, and an event that leads to a finding, too.
func TestFindingsInWords(t *testing.T) {
	for path, row := range map[string]string{
		filepath.Join("..", "..", "infer", "diagnose", "check.go"): `(?m)^\t\{"([a-z-]+)", (?:Problem|Note), find`,
		filepath.Join("..", "..", "infer", "event.go"):             `(?m)^\tEvent\w+ += "([a-z-]+)"`,
	} {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		codes := regexp.MustCompile(row).FindAllStringSubmatch(string(text), -1)
		if len(codes) < 5 {
			t.Errorf("%s has %d codes", path, len(codes))
		}
		for _, code := range codes {
			if findingsInWords[code[1]] == "" {
				t.Errorf("%s: %s has no words", path, code[1])
			}
		}
	}
}
