package ast_test

import (
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/ppl-lang/ppl/lang"
	"github.com/ppl-lang/ppl/lang/ast"
	"github.com/ppl-lang/ppl/lang/printer"
	"github.com/ppl-lang/ppl/lang/source"
)

// fill sets every field of a node that can hold children, and returns them.
func fill(v reflect.Value) (children []ast.Node) {
	samples := map[reflect.Type]func() ast.Node{
		reflect.TypeFor[ast.Expr]():  func() ast.Node { return &ast.VarExpr{} },
		reflect.TypeFor[ast.Stmt]():  func() ast.Node { return &ast.Break{} },
		reflect.TypeFor[ast.Index](): func() ast.Node { return &ast.All{} },
	}
	var one func(v reflect.Value)
	one = func(v reflect.Value) {
		node := reflect.TypeFor[ast.Node]()
		switch {
		case samples[v.Type()] != nil:
			n := samples[v.Type()]()
			v.Set(reflect.ValueOf(n))
			children = append(children, n)
		case v.Kind() == reflect.Pointer && v.Type().Implements(node):
			v.Set(reflect.New(v.Type().Elem()))
			children = append(children, v.Interface().(ast.Node))
		case v.Kind() == reflect.Struct && v.Type() != reflect.TypeFor[ast.Base]() && reflect.PointerTo(v.Type()).Implements(node):
			children = append(children, v.Addr().Interface().(ast.Node))
		case v.Kind() == reflect.Slice && v.Type() != reflect.TypeFor[[]ast.Comment]():
			v.Set(reflect.MakeSlice(v.Type(), 2, 2))
			one(v.Index(0))
			one(v.Index(1))
		}
	}
	for i := range v.NumField() {
		one(v.Field(i))
	}
	return children
}

// nodeTypes returns the node types in the test program, which has all of them.
func nodeTypes(t *testing.T) []reflect.Type {
	seen := map[reflect.Type]bool{}
	ast.Inspect(everything(t), func(n ast.Node) bool { seen[reflect.TypeOf(n).Elem()] = true; return true }, nil)
	var out []reflect.Type
	for typ := range seen {
		out = append(out, typ)
	}
	slices.SortFunc(out, func(a, b reflect.Type) int { return strings.Compare(a.Name(), b.Name()) })
	return out
}

// TestChildren checks that visiting and replacing reach every field that holds children.
func TestChildren(t *testing.T) {
	for _, typ := range nodeTypes(t) {
		v := reflect.New(typ)
		n := v.Interface().(ast.Node)
		want := fill(v.Elem())
		got := slices.Collect(ast.Children(n))
		if len(got) != len(want) {
			t.Errorf("%s: %d children visited of %d", typ.Name(), len(got), len(want))
			continue
		}
		for _, c := range want {
			if !slices.Contains(got, c) {
				t.Errorf("%s: a %T is not visited", typ.Name(), c)
			}
		}
		if ast.Map(n, func(c ast.Node) ast.Node { return c }) != n {
			t.Errorf("%s is copied though nothing changes", typ.Name())
		}
		if len(want) == 0 {
			continue
		}
		fresh := ast.Map(n, func(c ast.Node) ast.Node { return reflect.New(reflect.TypeOf(c).Elem()).Interface().(ast.Node) })
		if fresh == n {
			t.Errorf("%s is not copied", typ.Name())
		}
		if !slices.Equal(slices.Collect(ast.Children(n)), got) {
			t.Errorf("%s: the original has changed", typ.Name())
		}
		for _, c := range slices.Collect(ast.Children(fresh)) {
			if slices.Contains(got, c) {
				t.Errorf("%s: a %T is not replaced", typ.Name(), c)
			}
		}
	}
}

func parsed(t *testing.T, text string) *ast.File {
	t.Helper()
	tree, diags := lang.Parse(source.NewFile("t", text))
	if len(diags) > 0 {
		t.Fatal(diags)
	}
	return tree
}

// TestRewrite checks that a rewritten tree shares unchanged nodes and keeps positions, and that the
// original is unchanged.
func TestRewrite(t *testing.T) {
	const text = "transformed data { array[n] real a, b; } model { x[1] = f(y + 2 | z); if (c) print(y); else { } ; }"
	tree := parsed(t, text)
	before := printer.String(tree)
	rename := func(n ast.Node) ast.Node {
		switch n := n.(type) {
		case *ast.VarExpr:
			if n.Name == "y" || n.Name == "n" {
				c := *n
				c.Name += "2"
				return &c
			}
		case *ast.Empty:
			return nil
		}
		return n
	}
	got := ast.Rewrite(tree, nil, rename).(*ast.File)
	want := strings.NewReplacer("(y", "(y2", "[n]", "[n2]", " ; }", "}").Replace(text)
	if !ast.Equal(got, parsed(t, want)) {
		t.Errorf("got\n%s", printer.String(got))
	}
	if printer.String(tree) != before {
		t.Error("the original has changed")
	}
	if got.Pos != tree.Pos || got.Source != tree.Source {
		t.Error("the file is another")
	}
	now, was := got.Blocks[1].Stmts, tree.Blocks[1].Stmts
	if now[0].Span() != was[0].Span() || now[0].(*ast.Assign).LHS != was[0].(*ast.Assign).LHS {
		t.Error("x[1] is not shared")
	}
	if now[1].(*ast.If).Else != was[1].(*ast.If).Else {
		t.Error("the branch without y is not shared")
	}
	a, b := got.Blocks[0].Stmts[0].(*ast.VarDecl), got.Blocks[0].Stmts[1].(*ast.VarDecl)
	if a.Type != b.Type || a.Type == tree.Blocks[0].Stmts[0].(*ast.VarDecl).Type {
		t.Error("the type of several variables is not shared")
	}

	same := ast.Rewrite(tree, nil, func(n ast.Node) ast.Node { return n })
	if same != ast.Node(tree) {
		t.Error("a tree in which nothing changes is copied")
	}
	calls := ast.Rewrite(tree, func(n ast.Node) bool { _, call := n.(*ast.CallExpr); return !call }, rename)
	if s := printer.String(calls); !strings.Contains(s, "f(y + 2 | z)") || !strings.Contains(s, "print(y2)") {
		t.Errorf("got\n%s", s)
	}
	without := ast.Rewrite(tree, nil, func(n ast.Node) ast.Node {
		if _, block := n.(*ast.BlockStmt); block {
			return nil
		}
		return n
	}).(*ast.File)
	if without.Blocks[1].Stmts[1].(*ast.If).Else != nil {
		t.Error("an optional child is not removed")
	}
}

// TestRewriteAll replaces all leaves by copies. The result must be equal, without any node of the
// original.
func TestRewriteAll(t *testing.T) {
	tree := everything(t)
	was := map[ast.Node]bool{}
	ast.Inspect(tree, func(n ast.Node) bool { was[n] = true; return true }, nil)
	got := ast.Rewrite(tree, nil, func(n ast.Node) ast.Node {
		for range ast.Children(n) {
			return n
		}
		c := reflect.New(reflect.TypeOf(n).Elem())
		c.Elem().Set(reflect.ValueOf(n).Elem())
		return c.Interface().(ast.Node)
	})
	if !ast.Equal(got, tree) {
		t.Errorf("got\n%s", printer.String(got))
	}
	ast.Inspect(got, func(n ast.Node) bool {
		if was[n] {
			t.Errorf("the %T at %v is of the original", n, n.Span().Begin())
		}
		return true
	}, nil)
	ast.Inspect(nil, func(ast.Node) bool { t.Error("nil is visited"); return true }, nil)
}

func TestTargets(t *testing.T) {
	tree := parsed(t, "model { x = 1; (a[i], (b.1, c[j[k]])) = f(); }")
	var got []string
	for _, s := range tree.Blocks[0].Stmts {
		for v := range ast.Targets(s.(*ast.Assign).LHS) {
			got = append(got, v.Name)
		}
	}
	if s := strings.Join(got, " "); s != "x a b c" {
		t.Error(s)
	}
	for range ast.Targets(tree.Blocks[0].Stmts[1].(*ast.Assign).LHS) {
		break
	}
}
