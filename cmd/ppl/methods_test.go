package main

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"strings"
	"testing"
)

// TestFewMethods: no type of the partial evaluator has more than 25 methods.
func TestFewMethods(t *testing.T) {
	for _, folder := range []string{"static", "lanes", "inspect", "plan", "emit", "bind"} {
		files, err := filepath.Glob(filepath.Join("../../compile/internal", folder, "*.go"))
		if err != nil || len(files) == 0 {
			t.Fatal(folder, err)
		}
		methods := map[string]int{}
		for _, name := range files {
			if strings.HasSuffix(name, "_test.go") {
				continue
			}
			file, err := parser.ParseFile(token.NewFileSet(), name, nil, 0)
			if err != nil {
				t.Fatal(err)
			}
			for _, d := range file.Decls {
				f, ok := d.(*ast.FuncDecl)
				if !ok || f.Recv == nil {
					continue
				}
				x := f.Recv.List[0].Type
				if p, ok := x.(*ast.StarExpr); ok {
					x = p.X
				}
				if id, ok := x.(*ast.Ident); ok {
					methods[id.Name]++
				}
			}
		}
		for name, n := range methods {
			if n > 25 {
				t.Errorf("%s: %s has %d methods", folder, name, n)
			}
		}
	}
}
