package lsp

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestRenameIncluded renames a name in a file that several programs include. It must be refused if
// it would break one of them, or if a text has changed since it was analysed.
func TestRenameIncluded(t *testing.T) {
	dir := t.TempDir()
	functions := "real f(real z) {\n  real twice = 2 * z;\n  return twice;\n}\n"
	lib := write(t, dir, "lib.stanfunctions", functions)
	main := write(t, dir, "main.stan", "functions {\n#include lib.stanfunctions\n}\nparameters {\n  real x;\n}\nmodel {\n  x ~ normal(f(0), 1);\n}\n")
	text, _ := os.ReadFile(main)
	c := start(t, "")
	c.versions = true
	c.begin(dir)
	c.open(uriOf(lib), functions)
	refused := func(what string, place map[string]any, name string, code int, words ...string) {
		t.Helper()
		place["newName"] = name
		got, text := c.refused("textDocument/rename", place)
		if got != code {
			t.Errorf("%s: code %d: %s", what, got, text)
		}
		contains(t, what, text, words...)
	}
	renamed := func(what string, place map[string]any, name string, words ...string) {
		t.Helper()
		place["newName"] = name
		contains(t, what, c.ask("textDocument/rename", place), words...)
	}
	// The file is a part of main.stan, which is not open. A further program would break.
	renamed("in the part", at(uriOf(lib), 0, 5), "g", uriOf(lib), uriOf(main), `"version":1`, `"version":null`)
	more := write(t, dir, "more.stan", string(text))
	refused("in the part of two programs", at(uriOf(lib), 0, 5), "g", -32803, "lib.stanfunctions", "more.stan")
	renamed("a local name", at(uriOf(lib), 1, 7), "double_it", uriOf(lib), `"version":1`, "double_it")
	refused("a local name that the program has", at(uriOf(lib), 1, 7), "x", -32803)
	write(t, dir, "more.stan", string(text)+"generated quantities {\n  real double_it;\n}\n")
	refused("a local name that another program has", at(uriOf(lib), 1, 7), "double_it", -32803, "more.stan")
	if err := os.Remove(more); err != nil {
		t.Fatal(err)
	}

	// Renaming in the including program changes all uses, with the versions of open documents.
	c.open(uriOf(main), string(text))
	c.diagnostics(uriOf(main), func(l []Diagnostic) bool { return len(l) == 0 || l[0].Severity > 1 })
	renamed("from the program", at(uriOf(main), 7, 13), "g", uriOf(lib), uriOf(main), `"version":1`, `"documentChanges"`)
	c.change(uriOf(lib), 7, nil, functions)
	renamed("a new version", at(uriOf(main), 7, 13), "g", `"version":7`)

	// Another program includes it through a third file.
	middle := write(t, dir, "middle.stan", "#include lib.stanfunctions\n")
	write(t, dir, "main.stan", strings.Replace(string(text), "lib.stanfunctions", "middle.stan", 1))
	c.change(uriOf(main), 2, nil, strings.Replace(string(text), "lib.stanfunctions", "middle.stan", 1))
	renamed("through a file between", at(uriOf(main), 7, 13), "g", uriOf(lib), uriOf(main))
	other := write(t, dir, "other.stan", "functions {\n#include middle.stan\n}\nparameters {\n  real y;\n}\nmodel {\n  y ~ normal(f(1), 1);\n}\n")
	refused("another program through it", at(uriOf(main), 7, 13), "g", -32803, "other.stan", filepath.Base(middle))
	// A file of the same name in another folder is another file.
	if err := os.Remove(other); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(filepath.Join(dir, "sub"), 0o777); err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(dir, "sub"), "lib.stanfunctions", functions)
	write(t, filepath.Join(dir, "sub"), "another.stan", "functions {\n#include lib.stanfunctions\n}\nmodel {\n}\n")
	renamed("a file of the same name", at(uriOf(main), 7, 13), "g", uriOf(lib), uriOf(main))

	// A file changes on disk, and the editor does not report it.
	c.notify("textDocument/didClose", in(uriOf(lib)))
	renamed("before the file changes", at(uriOf(main), 7, 13), "g", `"version":null`)
	write(t, dir, "lib.stanfunctions", "\n"+functions)
	refused("a file that has changed", at(uriOf(main), 7, 13), "g", -32801, "lib.stanfunctions")
	renamed("once more", at(uriOf(main), 7, 13), "g", `"start":{"line":1,"character":5}`)
	c.end()
}
