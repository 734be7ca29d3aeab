package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// root is the repository.
const root = "../../.."

// maxFiles is the largest number of files that a contributor may have to edit to add one thing,
// besides a script that tests it.
const maxFiles = 3

// TestApply checks that the changes of all pages together can be applied to the current files,
// leave them formatted, and change few files. Building and running them takes a minute of processor
// time with a cold cache; the command does this, as a step of .ci/run.
func TestApply(t *testing.T) {
	pages, err := readPages(root)
	if err != nil {
		t.Fatal(err)
	}
	if len(pages) < 2 {
		t.Fatalf("only %d pages", len(pages))
	}
	dir := t.TempDir()
	for _, p := range pages {
		for _, name := range p.files() {
			text, err := os.ReadFile(filepath.Join(root, name))
			if err != nil {
				continue // a new file
			}
			path := filepath.Join(dir, name)
			if _, err := os.Stat(path); err == nil {
				continue // of an earlier page
			}
			if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(path, text, 0o644); err != nil {
				t.Fatal(err)
			}
		}
	}
	for _, p := range pages {
		if err := p.apply(dir); err != nil {
			t.Error(err)
		}
		edited := slices.DeleteFunc(p.files(), func(name string) bool { return strings.HasSuffix(name, ".txtar") })
		if n := len(edited); n == 0 || n > maxFiles {
			t.Errorf("%s changes %d files", p.path, n)
		}
		if !strings.Contains(contributing(t), "("+p.path+")") {
			t.Errorf("CONTRIBUTING.md has no link to %s", p.path)
		}
	}
}

// TestGenerated checks that a page has the command that writes anew the files made from what it
// edits. The run of all pages does not notice if it is missing, as the commands of another page
// may write these files.
func TestGenerated(t *testing.T) {
	pages, err := readPages(root)
	if err != nil {
		t.Fatal(err)
	}
	uses := map[string]int{}
	for _, p := range pages {
		for _, g := range []struct {
			sources []string // a file, or the beginning of its name
			command string
		}{
			{[]string{"stdlib/bounded.go", "stdlib/elementary.go", "lang/types/structure.go", "fit/formats.go"}, "go run ./internal/cmd/specappendix -w\n"},
			{[]string{"cmd/ppl/flagtable.go", "infer/sampler/", "fit/formats.go"}, "go test ./cmd/ppl -run '^TestHelp$' -update\n"},
		} {
			edits := slices.ContainsFunc(p.files(), func(name string) bool {
				return slices.ContainsFunc(g.sources, func(s string) bool { return strings.HasPrefix(name, s) })
			})
			if !edits {
				continue
			}
			uses[g.command]++
			if !slices.ContainsFunc(p.blocks, func(b block) bool { return b.kind == commands && strings.Contains(b.text, g.command) }) {
				t.Errorf("%s lacks the command %s", p.path, g.command)
			}
		}
	}
	if len(uses) != 2 {
		t.Errorf("no page needs a command: %v", uses)
	}
}

func contributing(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(root, "CONTRIBUTING.md"))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func TestParse(t *testing.T) {
	blocks, err := parse("text\n\n   ```go file=a/b.go after=\"\t&quot;x&quot; {\"\n   y\n   ```\n\n```\nplain\n```\n```sh\nls\n```\n```output\na\n```\n```go file=c.go end\nz\n```\n")
	if err != nil || len(blocks) != 4 {
		t.Fatal(blocks, err)
	}
	if b := blocks[0]; b != (block{kind: after, line: 3, file: "a/b.go", anchor: `"x" {`, text: "y\n"}) {
		t.Errorf("%+v", b)
	}
	if blocks[1].kind != commands || blocks[2].kind != shows || blocks[3].kind != end {
		t.Errorf("%+v", blocks)
	}
	if _, err := parse("```sh\nls\n"); err == nil {
		t.Error("an open block passes")
	}
}

// TestAnchors checks that a line that is missing or occurs twice is an error, and so is a new file
// that exists.
func TestAnchors(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.txt")
	for _, c := range []struct {
		b    block
		want string // "": an error
	}{
		{block{kind: after, anchor: "one", text: "new\n"}, "one\nnew\n  two\ntwice\ntwice\n"},
		{block{kind: before, anchor: "two", text: "new\n"}, "one\nnew\n  two\ntwice\ntwice\n"},
		{block{kind: instead, anchor: "one", text: "new\n"}, "new\n  two\ntwice\ntwice\n"},
		{block{kind: after, anchor: "tw…", text: "new\n"}, ""},
		{block{kind: after, anchor: "on…", text: "new\n"}, "one\nnew\n  two\ntwice\ntwice\n"},
		{block{kind: end, text: "new\n"}, "one\n  two\ntwice\ntwice\nnew\n"},
		{block{kind: after, anchor: "twice"}, ""},
		{block{kind: after, anchor: "three"}, ""},
		{block{kind: newFile}, ""},
	} {
		if err := os.WriteFile(path, []byte("one\n  two\ntwice\ntwice\n"), 0o644); err != nil {
			t.Fatal(err)
		}
		err := c.b.apply(path)
		got, _ := os.ReadFile(path)
		if (err != nil) != (c.want == "") || err == nil && string(got) != c.want {
			t.Errorf("%+v: %v, %q", c.b, err, got)
		}
	}
}
