package ast_test

import (
	goast "go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// fewSwitched is the number of node types from which on a type switch must be listed in the
// package's documentation.
const fewSwitched = 4

// switching returns the functions with type switches over at least fewSwitched node types of one of
// the two packages.
func switching(t *testing.T, root string) map[string]bool {
	const module = "github.com/ppl-lang/ppl/"
	trees := map[string]bool{"lang/ast": true, "compile/ir": true}
	out := map[string]bool{}
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		name := d.Name()
		switch {
		case err != nil:
			return err
		case d.IsDir() && path != root && (strings.HasPrefix(name, ".") || name == "testdata" || name == "node_modules"):
			return fs.SkipDir
		case d.IsDir() || !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go"):
			return nil
		}
		rel, err := filepath.Rel(root, filepath.Dir(path))
		if err != nil {
			return err
		}
		pkg := filepath.ToSlash(rel)
		text, err := os.ReadFile(path)
		if err != nil || !trees[pkg] && !strings.Contains(string(text), module+"lang/ast") && !strings.Contains(string(text), module+"compile/ir") {
			return err
		}
		f, err := parser.ParseFile(token.NewFileSet(), path, text, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		imported := map[string]string{}
		for _, i := range f.Imports {
			p, _ := strconv.Unquote(i.Path.Value)
			if p, ok := strings.CutPrefix(p, module); ok && trees[p] {
				imported[p[strings.LastIndex(p, "/")+1:]] = p
			}
		}
		for _, d := range f.Decls {
			if d, ok := d.(*goast.FuncDecl); ok && d.Body != nil && most(d.Body, imported, pkg) >= fewSwitched {
				out[pkg+"."+receiver(d)+d.Name.Name] = true
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// most returns the largest number of node types of one package in the type switches of a function.
func most(body goast.Node, imported map[string]string, pkg string) int {
	seen := map[string]map[string]bool{}
	goast.Inspect(body, func(n goast.Node) bool {
		s, ok := n.(*goast.TypeSwitchStmt)
		if !ok {
			return true
		}
		for _, c := range s.Body.List {
			for _, e := range c.(*goast.CaseClause).List {
				p, ok := e.(*goast.StarExpr)
				if !ok {
					continue
				}
				from, name := "", ""
				switch x := p.X.(type) {
				case *goast.SelectorExpr:
					if id, ok := x.X.(*goast.Ident); ok {
						from, name = imported[id.Name], x.Sel.Name
					}
				case *goast.Ident:
					if pkg == "lang/ast" || pkg == "compile/ir" {
						from, name = pkg, x.Name
					}
				}
				if from == "" {
					continue
				}
				if seen[from] == nil {
					seen[from] = map[string]bool{}
				}
				seen[from][name] = true
			}
		}
		return true
	})
	n := 0
	for _, names := range seen {
		n = max(n, len(names))
	}
	return n
}

func receiver(d *goast.FuncDecl) string {
	if d.Recv == nil {
		return ""
	}
	t := d.Recv.List[0].Type
	if p, ok := t.(*goast.StarExpr); ok {
		t = p.X
	}
	if id, ok := t.(*goast.Ident); ok {
		return id.Name + "."
	}
	return ""
}

// TestSwitches checks that functions with a switch over many node types are listed in the package's
// documentation. Functions that only descend should use Inspect.
func TestSwitches(t *testing.T) {
	text, err := os.ReadFile("doc.go")
	if err != nil {
		t.Fatal(err)
	}
	listed := map[string]bool{}
	for _, m := range regexp.MustCompile(`(?m)^//\t([a-z/]+\.[A-Za-z.]+) {2,}\S`).FindAllSubmatch(text, -1) {
		if name := string(m[1]); !strings.HasSuffix(name, ".go") {
			listed[name] = true
		}
	}
	found := switching(t, filepath.Join("..", ".."))
	for _, name := range slices.Sorted(maps.Keys(found)) {
		if !listed[name] {
			t.Errorf("%s has a switch over the types of nodes that doc.go does not list: go over trees by Inspect, or say what it means", name)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(listed)) {
		if !found[name] {
			t.Errorf("doc.go lists %s, which has no such switch", name)
		}
	}
}
