package ast_test

import (
	"os"
	"reflect"
	"strings"
	"testing"

	"github.com/ppl-lang/ppl/lang"
	"github.com/ppl-lang/ppl/lang/ast"
	"github.com/ppl-lang/ppl/lang/source"
)

// everything parses a program that uses all of the syntax.
func everything(t *testing.T) *ast.File {
	t.Helper()
	text, err := os.ReadFile("../testdata/good/everything.model")
	if err != nil {
		t.Fatal(err)
	}
	tree, diags := lang.Parse(source.NewFile("everything.model", string(text)))
	if len(diags) > 0 {
		t.Fatal(diags)
	}
	return tree
}

// reachable collects the nodes below v by reflection.
func reachable(v reflect.Value, into map[ast.Node]bool) {
	switch v.Kind() {
	case reflect.Interface:
		reachable(v.Elem(), into)
	case reflect.Pointer:
		if v.IsNil() || v.Type() == reflect.TypeFor[*source.File]() {
			return
		}
		reachable(v.Elem(), into)
	case reflect.Slice:
		if v.Type() == reflect.TypeFor[[]ast.Comment]() {
			return
		}
		for i := range v.Len() {
			reachable(v.Index(i), into)
		}
	case reflect.Struct:
		if n, ok := v.Addr().Interface().(ast.Node); ok && v.Type() != reflect.TypeFor[ast.Base]() {
			into[n] = true
		}
		for i := range v.NumField() {
			reachable(v.Field(i), into)
		}
	}
}

// TestInspectComplete checks that Inspect visits every node, that the test program has every node
// type, and that there is a call after each node for each call before it.
func TestInspectComplete(t *testing.T) {
	tree := everything(t)
	want := map[ast.Node]bool{}
	reachable(reflect.ValueOf(tree), want)
	got, depth := map[ast.Node]bool{}, 0
	ast.Inspect(tree, func(n ast.Node) bool { got[n] = true; depth++; return true }, func(ast.Node) { depth-- })
	for n := range want {
		if !got[n] {
			t.Errorf("%T at %v is not visited", n, n.Span().Begin())
		}
	}
	if len(got) != len(want) || depth != 0 {
		t.Errorf("%d nodes visited, %d reachable, depth %d", len(got), len(want), depth)
	}

	types := map[string]bool{}
	for n := range got {
		types[strings.TrimPrefix(reflect.TypeOf(n).String(), "*ast.")] = true
	}
	text, err := os.ReadFile("ast.go")
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		name, rest, _ := strings.Cut(strings.TrimPrefix(strings.TrimSpace(line), "type "), " ")
		if strings.HasPrefix(rest, "struct") && name != "Base" && name != "Comment" && !types[name] {
			t.Errorf("no %s in everything.model", name)
		}
	}
}

func TestInspectOrderAndPruning(t *testing.T) {
	tree, _ := lang.Parse(source.NewFile("t", "model { x[1] = f(y + 2 | z); }"))
	var got []string
	ast.Inspect(tree.Blocks[0].Stmts[0], func(n ast.Node) bool {
		got = append(got, n.Span().Text())
		_, call := n.(*ast.CallExpr)
		return !call
	}, nil)
	const want = "x[1] = f(y + 2 | z);,x[1],x,1,1,f(y + 2 | z)"
	if s := strings.Join(got, ","); s != want {
		t.Errorf("got %s", s)
	}
	n := 0
	for range ast.Children(tree.Blocks[0].Stmts[0]) {
		n++
		break
	}
	if n != 1 {
		t.Error("Children does not stop")
	}
}

func TestEqual(t *testing.T) {
	parse := func(text string) *ast.File {
		tree, diags := lang.Parse(source.NewFile("t", text))
		if len(diags) > 0 {
			t.Fatal(diags)
		}
		return tree
	}
	base := parse("model { real x = 1 + f(y); }")
	if !ast.Equal(base, parse("// a comment\nmodel{real x=1+f( y );}")) {
		t.Error("layout matters")
	}
	for _, other := range []string{
		"model { real x = 1 - f(y); }",
		"model { real x = 1 + f(z); }",
		"model { real x = 1.0 + f(y); }",
		"model { real x = (1 + f(y)); }",
		"model { real x; }",
		"model { int x = 1 + f(y); }",
		"model { real x = 1 + f(y); ; }",
		"transformed data { real x = 1 + f(y); }",
	} {
		if ast.Equal(base, parse(other)) {
			t.Errorf("equal to %s", other)
		}
	}
}
