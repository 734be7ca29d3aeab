package main

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"strings"
	"testing"
)

// TestFewMethods checks that no type of the partial evaluator has more than 25 methods, including
// those of embedded types.
func TestFewMethods(t *testing.T) {
	for _, folder := range []string{"static", "lanes", "known", "inspect", "plan", "emit", "bind"} {
		files, err := filepath.Glob(filepath.Join("../../compile/internal", folder, "*.go"))
		if err != nil || len(files) == 0 {
			t.Fatal(folder, err)
		}
		methods, embeds := map[string]int{}, map[string][]string{}
		for _, name := range files {
			if strings.HasSuffix(name, "_test.go") {
				continue
			}
			file, err := parser.ParseFile(token.NewFileSet(), name, nil, 0)
			if err != nil {
				t.Fatal(err)
			}
			ast.Inspect(file, func(n ast.Node) bool {
				switch n := n.(type) {
				case *ast.FuncDecl:
					if n.Recv != nil {
						methods[baseTypeName(n.Recv.List[0].Type)]++
					}
				case *ast.TypeSpec:
					if s, ok := n.Type.(*ast.StructType); ok {
						for _, f := range s.Fields.List {
							if len(f.Names) == 0 {
								embeds[n.Name.Name] = append(embeds[n.Name.Name], baseTypeName(f.Type))
							}
						}
					}
				}
				return true
			})
		}
		var count func(name string) int
		count = func(name string) int {
			n := methods[name]
			for _, e := range embeds[name] {
				n += count(e)
			}
			return n
		}
		for name := range methods {
			if n := count(name); n > 25 {
				t.Errorf("%s: %s has %d methods", folder, name, n)
			}
		}
	}
}

// baseTypeName returns the name of a type without pointers and type arguments.
func baseTypeName(x ast.Expr) string {
	switch x := x.(type) {
	case *ast.StarExpr:
		return baseTypeName(x.X)
	case *ast.IndexExpr:
		return baseTypeName(x.X)
	case *ast.Ident:
		return x.Name
	}
	return ""
}
