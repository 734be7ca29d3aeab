package ppl_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode"
)

// TestReadmeCode checks that the code in README.md is the body of the package's Example, which
// runs.
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

var (
	link    = regexp.MustCompile(`\]\(([^)#:\s]*)(?:#([^)\s]+))?\)`)
	fenced  = regexp.MustCompile("(?ms)^ *```.*?^ *```$")
	inline  = regexp.MustCompile("`[^`\n]+`")
	heading = regexp.MustCompile(`(?m)^#+ (.+)$`)
)

// maxLines is the maximum number of lines of a page: a reader looks for one thing on it. The page
// of codes is longer: editors lead to its sections.
const maxLines = 400

const codesPage = "doc/reference/codes.md"

// TestPages checks that links on all pages lead to existing files and headings, that every page of
// doc/ is in its index, that no page is too long, and that every picture is used.
func TestPages(t *testing.T) {
	pages := []string{"README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "RATIONALE.md", "SECURITY.md", "spec.md"}
	linked, indexed := map[string]bool{}, map[string]bool{}
	var pictures []string
	for _, root := range []string{"doc", "examples"} {
		err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
			switch {
			case err != nil:
				return err
			case filepath.Ext(path) == ".md":
				pages = append(pages, path)
			case filepath.Ext(path) == ".png" && filepath.Dir(path) == filepath.Join("doc", "pictures"):
				pictures = append(pictures, path)
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if len(pages) < 50 || len(pictures) == 0 {
		t.Fatalf("%d pages and %d pictures", len(pages), len(pictures))
	}
	for _, page := range pages {
		text := read(t, page)
		inDoc := strings.HasPrefix(page, "doc")
		if n := strings.Count(text, "\n"); inDoc && n > maxLines && filepath.ToSlash(page) != codesPage {
			t.Errorf("%s has %d lines; %d is the limit", page, n, maxLines)
		}
		for _, m := range link.FindAllStringSubmatch(inline.ReplaceAllString(fenced.ReplaceAllString(text, ""), ""), -1) {
			target := page
			if m[1] != "" {
				target = filepath.Join(filepath.Dir(page), filepath.FromSlash(m[1]))
			}
			linked[target] = true
			if page == filepath.Join("doc", "README.md") {
				indexed[target] = true
			}
			if _, err := os.Stat(target); err != nil {
				t.Errorf("%s: link to %s: %v", page, m[1], err)
			} else if m[2] != "" && !slices.Contains(anchors(read(t, target)), m[2]) {
				t.Errorf("%s: %s has no heading #%s", page, target, m[2])
			}
		}
	}
	for _, page := range pages {
		shelf := filepath.Dir(page)
		if strings.HasPrefix(shelf, "doc"+string(filepath.Separator)) && shelf != filepath.Join("doc", "paper") && !indexed[page] {
			t.Errorf("doc/README.md does not lead to %s", page)
		}
	}
	for _, p := range pictures {
		if !linked[p] {
			t.Errorf("no page shows %s", p)
		}
	}
}

// anchors returns the names by which links can refer to a page's headings.
func anchors(page string) []string {
	var names []string
	for _, m := range heading.FindAllStringSubmatch(fenced.ReplaceAllString(page, ""), -1) {
		var name strings.Builder
		for _, r := range strings.ToLower(m[1]) {
			switch {
			case r == ' ':
				name.WriteByte('-')
			case r == '-', r == '_', unicode.IsLetter(r), unicode.IsDigit(r):
				name.WriteRune(r)
			}
		}
		names = append(names, name.String())
	}
	return names
}

// read returns the text of a file.
func read(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
