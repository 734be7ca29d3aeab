package ppl_test

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/build"
	"go/doc"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
	"testing"
)

const module = "github.com/ppl-lang/ppl"

// promised returns the folders of the packages whose interfaces versions promise to keep.
func promised(t *testing.T) []string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(".ci", "promised"))
	if err != nil {
		t.Fatal(err)
	}
	var dirs []string
	for line := range strings.Lines(string(text)) {
		if line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(line, "#") {
			dirs = append(dirs, line)
		}
	}
	if len(dirs) < 10 {
		t.Fatalf("there are only %v", dirs)
	}
	return dirs
}

// documented returns the documentation of the package in a folder; nil if there is none.
func documented(t *testing.T, dir string) *doc.Package {
	t.Helper()
	found, err := build.ImportDir(filepath.FromSlash(dir), 0)
	if err != nil {
		return nil
	}
	set := token.NewFileSet()
	var files []*ast.File
	for _, name := range found.GoFiles {
		f, err := parser.ParseFile(set, filepath.Join(filepath.FromSlash(dir), name), nil, parser.ParseComments)
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, f)
	}
	p, err := doc.NewFromFiles(set, files, path.Join(module, dir))
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// TestPromised checks that the page that states the promise names each promised package.
func TestPromised(t *testing.T) {
	page, err := os.ReadFile(filepath.Join("doc", "how-to", "go-library.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, promise, ok := bytes.Cut(page, []byte("## What versions promise"))
	if !ok {
		t.Fatal("the page has no promise")
	}
	promise, _, _ = bytes.Cut(promise, []byte("\n## "))
	for _, dir := range promised(t) {
		if documented(t, dir) == nil {
			t.Errorf("there is no package in %s", dir)
		}
		if dir == "." {
			dir = "ppl"
		}
		if !bytes.Contains(promise, fmt.Appendf(nil, "`%s`", dir)) {
			t.Errorf("the page does not promise %s", dir)
		}
	}
}

// TestDocComments checks that doc comments of promised packages begin with the declared name. Lists
// of names show only the first sentence.
func TestDocComments(t *testing.T) {
	n := 0
	for _, dir := range promised(t) {
		p := documented(t, dir)
		check := func(name, text string) {
			n++
			words := append(strings.Fields(text), "", "")
			first := words[0]
			if first == "A" || first == "An" || first == "The" {
				first = words[1]
			}
			if first = strings.TrimRight(first, ",:;"); first != name && strings.TrimSuffix(first, "'s") != name {
				t.Errorf("%s: the comment of %s begins with %q", dir, name, first)
			}
		}
		for _, f := range p.Funcs {
			check(f.Name, f.Doc)
		}
		for _, typ := range p.Types {
			check(typ.Name, typ.Doc)
			for _, f := range append(typ.Funcs, typ.Methods...) {
				check(f.Name, f.Doc)
			}
		}
	}
	if n < 300 {
		t.Errorf("only %d comments were found", n)
	}
}

// TestFirstExample checks that the docs of the packages that users need first begin with an
// example.
func TestFirstExample(t *testing.T) {
	for _, dir := range []string{".", "model", "fit", "assess", "infer"} {
		lines := strings.Split(documented(t, dir).Doc, "\n")
		for i, line := range lines {
			if strings.HasPrefix(line, "\t") && strings.Contains(line, "(") && strings.Contains(line, " :") {
				break
			}
			if i == 14 || i == len(lines)-1 {
				t.Errorf("%s: no example in the first 15 lines of the documentation", dir)
				break
			}
		}
	}
}

// unstable is the line in the documentation of packages that are not promised.
const unstable = "Unstable: versions do not promise to keep this package, see doc/how-to/go-library.md."

// TestUnstable checks that each importable package is promised, or states that it is not.
func TestUnstable(t *testing.T) {
	isPromised, n := map[string]bool{}, 0
	for _, dir := range promised(t) {
		isPromised[dir] = true
	}
	err := filepath.WalkDir(".", func(dir string, d fs.DirEntry, err error) error {
		if err != nil || !d.IsDir() {
			return err
		}
		_, nested := os.Stat(filepath.Join(dir, "go.mod"))
		if name := d.Name(); dir != "." && (nested == nil || name == "internal" || name == "testdata" || strings.HasPrefix(name, ".")) {
			return filepath.SkipDir
		}
		p := documented(t, dir)
		if p == nil || p.Name == "main" {
			return nil
		}
		n++
		folder := filepath.ToSlash(dir)
		switch says := strings.Count(p.Doc, unstable+"\n"); {
		case isPromised[folder] && says != 0:
			t.Errorf("%s is promised, but its documentation says that it is unstable", folder)
		case !isPromised[folder] && says != 1:
			t.Errorf("%s is not promised: its documentation needs the line %q once, it has it %d times", folder, unstable, says)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if n < 50 {
		t.Errorf("only %d packages were found", n)
	}
}
