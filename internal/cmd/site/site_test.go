package main

import (
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// TestSite checks the site of this repository: every link and picture leads to a file of the site,
// links to headings lead to existing ones, and a link leads to every file but the index.
func TestSite(t *testing.T) {
	files, err := build(filepath.Join("..", "..", ".."))
	if err != nil {
		t.Fatal(err)
	}
	address := regexp.MustCompile(`(?:href|src)="([^"]*)"`)
	id := regexp.MustCompile(` id="([^"]+)"`)
	linked := map[string]bool{"index.html": true}
	pages := 0
	for name, text := range files {
		if path.Ext(name) != ".html" {
			continue
		}
		pages++
		for _, m := range address.FindAllStringSubmatch(string(text), -1) {
			if strings.Contains(m[1], "://") || strings.HasPrefix(m[1], "data:") {
				continue
			}
			file, anchor, _ := strings.Cut(m[1], "#")
			to := name
			if file != "" {
				to = path.Join(path.Dir(name), file)
				linked[to] = true
			}
			other, ok := files[to]
			if !ok {
				t.Errorf("%s: no file %s", name, to)
				continue
			}
			if anchor == "" {
				continue
			}
			anchor = strings.NewReplacer("%C3%9F", "ß", "&#39;", "'").Replace(anchor)
			if !slices.ContainsFunc(id.FindAllStringSubmatch(string(other), -1), func(m []string) bool { return m[1] == anchor }) {
				t.Errorf("%s: %s has no heading %q", name, to, anchor)
			}
		}
	}
	for name := range files {
		if !linked[name] {
			t.Errorf("no page leads to %s", name)
		}
	}
	if pages < 40 {
		t.Errorf("%d pages", pages)
	}
	if words := string(files["words.js"]); !strings.Contains(words, `\neffective `) || len(words) > 250_000 {
		t.Errorf("the index of words has %d bytes, or lacks a word", len(words))
	}
}

// TestFaults checks that each of these faults of the pages ends the build with an error.
func TestFaults(t *testing.T) {
	const home = "# Home\n\n## How to\n\n| [One](how-to/one.md) |\n"
	for _, c := range []struct{ name, index, page, more, want string }{
		{"whole", home, "# One\n\n## Part\n\n[up](../README.md#how-to), [here](#part)\n", "", ""},
		{"broken link", home, "# One\n\n[two](two.md)\n", "", "two.md"},
		{"no such heading", home, "# One\n\n[up](../README.md#nothing)\n", "", "#nothing"},
		{"missing picture", home, "# One\n\n![plot](plot.png)\n", "", "plot.png"},
		{"a page that is not listed", home, "# One\n", "more.md", "how-to/more.md"},
		{"a listed page that is missing", home + "| [Two](how-to/two.md) |\n", "# One\n", "", "two.md"},
		{"no title", home, "One\n", "", "title"},
		{"a link out of the repository", home, "# One\n\n[out](../../../x.md)\n", "", "out of the repository"},
	} {
		root := t.TempDir()
		files := map[string]string{"doc/README.md": c.index, "doc/how-to/one.md": c.page}
		if c.more != "" {
			files["doc/how-to/"+c.more] = "# More\n"
		}
		for name, text := range files {
			file := filepath.Join(root, filepath.FromSlash(name))
			if err := os.MkdirAll(filepath.Dir(file), 0o777); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(file, []byte(text), 0o666); err != nil {
				t.Fatal(err)
			}
		}
		switch _, err := build(root); {
		case c.want == "" && err != nil:
			t.Errorf("%s: %v", c.name, err)
		case c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)):
			t.Errorf("%s: %v", c.name, err)
		}
	}
}
