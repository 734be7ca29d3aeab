package ppl_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// The code in README.md is the body of the package's Example, which runs.
func TestReadmeCode(t *testing.T) {
	readme, example := read(t, "README.md"), read(t, "example_test.go")
	_, code, _ := strings.Cut(readme, "```go\n")
	code, _, _ = strings.Cut(code, "```")
	_, body, _ := strings.Cut(example, "func Example() {\n")
	body, _, _ = strings.Cut(body, "\t// Output:")
	var want strings.Builder
	for line := range strings.Lines(body) {
		want.WriteString(strings.TrimPrefix(line, "\t"))
	}
	if code == "" || code != want.String() {
		t.Errorf("README.md has\n%s\nbut Example has\n%s", code, want.String())
	}
}

// What README.md links to exists.
func TestReadmeLinks(t *testing.T) {
	readme := read(t, "README.md")
	for _, m := range regexp.MustCompile(`\]\(([^)#:]+)\)`).FindAllStringSubmatch(readme, -1) {
		if _, err := os.Stat(m[1]); err != nil {
			t.Errorf("link to %s: %v", m[1], err)
		}
	}
}

// The index of the documentation has every page.
func TestDocIndex(t *testing.T) {
	index := read(t, filepath.Join("doc", "README.md"))
	pages, err := filepath.Glob(filepath.Join("doc", "*.md"))
	if err != nil || len(pages) < 10 {
		t.Fatalf("%d pages, %v", len(pages), err)
	}
	for _, p := range pages {
		if name := filepath.Base(p); name != "README.md" && !strings.Contains(index, "("+name+")") {
			t.Errorf("doc/README.md does not lead to %s", name)
		}
	}
}

// read is the text of a file.
func read(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
