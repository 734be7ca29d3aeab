package printer_test

import (
	"testing"

	"github.com/ppl-lang/ppl/lang/ast"
	"github.com/ppl-lang/ppl/lang/printer"
)

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
