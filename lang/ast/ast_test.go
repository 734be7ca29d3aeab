package ast_test

import (
	"errors"
	"os"
	"reflect"
	"strings"
	"testing"

	"github.com/ppl-lang/ppl/lang"
	"github.com/ppl-lang/ppl/lang/ast"
	"github.com/ppl-lang/ppl/lang/source"
)

// everything parses the program that has every form of the syntax.
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

// Inspect visits every node there is, each type of node is in the test program,
// and pre and post are balanced.
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

// Trees that no text gives are printed with the parentheses and braces that
// keep their meaning.
func TestPrintAddsParentheses(t *testing.T) {
	v := func(name string) ast.Expr { return &ast.VarExpr{Name: name} }
	bin := func(op string, x, y ast.Expr) ast.Expr { return &ast.Binary{Op: op, X: x, Y: y} }
	neg := func(x ast.Expr) ast.Expr { return &ast.Unary{Op: "-", X: x} }
	tr := func(x ast.Expr) ast.Expr { return &ast.Unary{Op: "'", X: x} }
	a, b, c := v("a"), v("b"), v("c")
	tests := []struct {
		e    ast.Expr
		want string
	}{
		{bin("*", bin("+", a, b), c), "(a + b) * c"},
		{bin("-", a, bin("-", b, c)), "a - (b - c)"},
		{bin("^", bin("^", a, b), c), "(a ^ b) ^ c"},
		{bin("^", a, bin("^", b, c)), "a ^ b ^ c"},
		{bin("^", neg(a), b), "(-a) ^ b"},
		{bin("^", a, neg(b)), "a ^ -b"},
		{bin("*", a, neg(b)), "a * -b"},
		{neg(bin("+", a, b)), "-(a + b)"},
		{neg(bin("^", a, b)), "-a ^ b"},
		{neg(neg(a)), "--a"},
		{tr(neg(a)), "(-a)'"},
		{neg(tr(a)), "-a'"},
		{tr(bin("*", a, b)), "(a * b)'"},
		{&ast.Cond{Cond: &ast.Cond{Cond: a, Then: b, Else: c}, Then: b, Else: c}, "(a ? b : c) ? b : c"},
		{bin("+", a, &ast.Cond{Cond: a, Then: b, Else: c}), "a + (a ? b : c)"},
		{&ast.IndexExpr{X: tr(a), Indices: []ast.Index{&ast.All{}, &ast.Range{To: b}}}, "a'[, :b]"},
		{&ast.TupleMember{X: bin("+", a, b), Member: 2}, "(a + b).2"},
		{&ast.TupleExpr{Elems: []ast.Expr{a}}, "(a,)"},
	}
	for _, test := range tests {
		if got := ast.String(test.e); got != test.want {
			t.Errorf("got %s, want %s", got, test.want)
		}
	}

	inner := &ast.If{Cond: b, Then: &ast.Empty{}}
	outer := &ast.If{Cond: a, Then: inner, Else: &ast.Break{}}
	if got, want := ast.String(outer), "if (a) {\n  if (b)\n    ;\n} else\n  break;"; got != want {
		t.Errorf("got\n%s", got)
	}
	bound := &ast.Bound{Kind: "lower", Value: bin("<", a, b)}
	if got := ast.String(bound); got != "lower=(a < b)" {
		t.Error(got)
	}
}

type brokenWriter struct{}

var errBroken = errors.New("broken")

func (brokenWriter) Write([]byte) (int, error) { return 0, errBroken }

func TestFprintError(t *testing.T) {
	if err := ast.Fprint(brokenWriter{}, everything(t)); !errors.Is(err, errBroken) {
		t.Error(err)
	}
}
