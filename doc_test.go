package ppl_test

import (
	"go/ast"
	"go/doc"
	"go/parser"
	"go/token"
	"path/filepath"
	"strings"
	"testing"
)

// TestMap: every exported name stands in the map of the package, which says what for. What
// has no place there belongs to another package.
func TestMap(t *testing.T) {
	set := token.NewFileSet()
	names, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	var files []*ast.File
	for _, name := range names {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		f, err := parser.ParseFile(set, name, nil, parser.ParseComments)
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, f)
	}
	p, err := doc.NewFromFiles(set, files, "github.com/ppl-lang/ppl")
	if err != nil {
		t.Fatal(err)
	}
	names = nil
	for _, f := range p.Funcs {
		names = append(names, f.Name)
	}
	for _, typ := range p.Types {
		names = append(names, typ.Name)
		for _, f := range typ.Funcs {
			names = append(names, f.Name)
		}
	}
	if len(names) < 10 {
		t.Fatalf("found only %v", names)
	}
	for _, name := range names {
		if !strings.Contains(p.Doc, "["+name+"]") {
			t.Errorf("%s is not in the map of the package", name)
		}
	}
}
