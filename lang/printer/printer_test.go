package printer_test

import (
	"strings"
	"testing"

	"github.com/ppl-lang/ppl/lang/ast"
	"github.com/ppl-lang/ppl/lang/printer"
)

// TestPrintAddsParentheses prints trees that no parser makes. They must get the parentheses and
// braces that keep their meaning.
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
		{neg(neg(a)), "- -a"},
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
		if got := printer.String(test.e); got != test.want {
			t.Errorf("got %s, want %s", got, test.want)
		}
	}

	inner := &ast.If{Cond: b, Then: &ast.Empty{}}
	outer := &ast.If{Cond: a, Then: inner, Else: &ast.Break{}}
	if got, want := printer.String(outer), "if (a) {\n  if (b);\n} else\n  break;"; got != want {
		t.Errorf("got\n%s", got)
	}
	bound := &ast.Bound{Kind: "lower", Value: bin("<", a, b)}
	if got := printer.String(bound); got != "lower=(a < b)" {
		t.Error(got)
	}
}

func TestNodes(t *testing.T) {
	n := &ast.VarExpr{Name: "n"}
	tests := []struct {
		n    ast.Node
		want string
	}{
		{&ast.Ident{Name: "f"}, "f"},
		{&ast.TypeExpr{ArrayDims: []ast.Expr{n}, Elem: "vector", Bounds: []ast.Bound{{Kind: "lower", Value: n}}, Sizes: []ast.Expr{n}}, "array[n] vector<lower=n>[n]"},
		{&ast.Param{DataOnly: true, Type: &ast.TypeExpr{Elem: "real"}, Name: ast.Ident{Name: "x"}}, "data real x"},
		{&ast.Truncation{Upper: n}, "T[, n]"},
		{&ast.Range{From: n}, "n:"},
		{&ast.Block{Kind: ast.Model, Stmts: []ast.Stmt{&ast.Empty{}}}, "model {\n  ;\n}"},
		{&ast.Return{Value: n}, "return n;"},
	}
	for _, test := range tests {
		if got := printer.String(test.n); got != test.want {
			t.Errorf("got %s, want %s", got, test.want)
		}
	}
}

// TestLineAndCommented prints a long statement on one line, as in messages, and statements with
// preceding comments.
func TestLineAndCommented(t *testing.T) {
	var sum ast.Expr = &ast.VarExpr{Name: "a_long_name_of_a_variable"}
	for range 4 {
		sum = &ast.Binary{Op: "+", X: sum, Y: &ast.VarExpr{Name: "a_long_name_of_a_variable"}}
	}
	inner := &ast.TargetPlus{Value: sum}
	s := &ast.While{Cond: &ast.IntLit{Text: "1", Value: 1}, Body: &ast.BlockStmt{Stmts: []ast.Stmt{&ast.Break{}, inner}}}
	const name = "a_long_name_of_a_variable"
	if got, want := printer.Line(s), "while (1) { break; target += "+name+" + "+name+" + "+name+" + "+name+" + "+name+"; }"; got != want {
		t.Errorf("got %s", got)
	}
	got := printer.Commented(s, func(s ast.Stmt) []string {
		if s == inner {
			return []string{"what is", "added"}
		}
		return nil
	})
	want := "while (1) {\n  break;\n  // what is\n  // added\n  target +=\n      " + name + "\n        + " + name + "\n"
	if !strings.HasPrefix(got, want) {
		t.Errorf("got\n%s", got)
	}
}
