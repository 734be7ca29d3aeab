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

// TestMap checks that the package stays a façade: few names, each in the map of its doc, in few
// lines.
func TestMap(t *testing.T) {
	set := token.NewFileSet()
	names, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	var files []*ast.File
	lines := 0
	for _, name := range names {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		f, err := parser.ParseFile(set, name, nil, parser.ParseComments)
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, f)
		lines += set.File(f.Pos()).LineCount()
	}
	p, err := doc.NewFromFiles(set, files, "github.com/ppl-lang/ppl")
	if err != nil {
		t.Fatal(err)
	}
	if lines > 400 {
		t.Errorf("the façade has %d lines; 400 is the limit: what it does belongs to model, fit or assess", lines)
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
	if len(names) > 40 {
		t.Errorf("the façade has %d names; 40 is the limit", len(names))
	}
	for _, name := range names {
		if !strings.Contains(p.Doc, "["+name+"]") {
			t.Errorf("%s is not in the map of the package", name)
		}
	}
}
