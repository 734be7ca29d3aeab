package ppl_test

import (
	"go/ast"
	"go/doc"
	"go/parser"
	"go/token"
	"io/fs"
	"strings"
	"testing"
)

// TestMap: every exported name stands in the map of the package, which says what for. What
// has no place there belongs to another package.
func TestMap(t *testing.T) {
	set := token.NewFileSet()
	found, err := parser.ParseDir(set, ".", func(f fs.FileInfo) bool { return !strings.HasSuffix(f.Name(), "_test.go") }, parser.ParseComments)
	if err != nil {
		t.Fatal(err)
	}
	var files []*ast.File
	for _, f := range found["ppl"].Files {
		files = append(files, f)
	}
	p, err := doc.NewFromFiles(set, files, "github.com/ppl-lang/ppl")
	if err != nil {
		t.Fatal(err)
	}
	var names []string
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
