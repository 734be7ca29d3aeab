package main

import (
	"go/ast"
	"go/parser"
	"go/token"
	"slices"
	"strings"
	"testing"
)

// writers are the functions of package os that change files. Package files has a counterpart of
// each that is durable, follows no symbolic links that others have made, and can be made to fail in
// tests.
var writers = []string{"WriteFile", "Create", "CreateTemp", "OpenFile", "Rename", "Truncate", "Link", "Symlink", "Mkdir", "MkdirAll", "Remove", "RemoveAll"}

// exempt lists the beginnings of the paths of files that may call them, with the reason.
var exempt = map[string]string{
	"internal/files/":                        "the one place",
	"internal/cmd/":                          "commands of developers, which write what they can make again",
	"compile/internal/cmd/":                  "the same",
	"internal/figures/":                      "the same: figures in pages",
	"examples/":                              "separate programs",
	"front/web/build/":                       "the same",
	"front/serve/confine_linux.go WriteFile": "the limits of processes, which are files of the kernel",
	"front/web/engine.go RemoveAll":          "a folder for the time being",
	"front/lsp/commands.go RemoveAll":        "the same",
	"front/docs/docs.go RemoveAll":           "the same",
	"front/cmdstan/home/home.go Link":        "programs of Windows, which are copies of this one",
	"front/cmdstan/home/home.go Remove":      "the same",
}

// TestWriters checks that all other files use the functions of package files.
func TestWriters(t *testing.T) {
	used := map[string]bool{}
	for _, f := range goFiles(t) {
		if f.test {
			continue
		}
		tree, err := parser.ParseFile(token.NewFileSet(), f.name, f.text, 0)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(tree, func(n ast.Node) bool {
			s, ok := n.(*ast.SelectorExpr)
			if !ok {
				return true
			}
			if x, ok := s.X.(*ast.Ident); !ok || x.Name != "os" || !slices.Contains(writers, s.Sel.Name) {
				return true
			}
			call := f.name + " " + s.Sel.Name
			for name := range exempt {
				if strings.HasPrefix(call, name) {
					used[name] = true
					return true
				}
			}
			t.Errorf("%s calls os.%s: files are written by package internal/files", f.name, s.Sel.Name)
			return true
		})
	}
	for name, why := range exempt {
		if !used[name] {
			t.Errorf("%s is exempt (%s), but does nothing of the kind", name, why)
		}
	}
}
