package ast_test

import (
	"testing"

	"github.com/ppl-lang/ppl/lang/ast"
)

// TestNames checks that new names are none of the program's and none of one another.
func TestNames(t *testing.T) {
	names := ast.NamesOf(&ast.File{Blocks: []*ast.Block{{Stmts: []ast.Stmt{&ast.TargetPlus{Value: &ast.VarExpr{Name: "x"}}}}}})
	for _, want := range []string{"x_1", "x_2"} {
		if got := names.New("x"); got != want {
			t.Errorf("a new x is %s, want %s", got, want)
		}
	}
	if got := names.New("y"); got != "y" {
		t.Errorf("a new y is %s", got)
	}
}

// TestChangeBlock checks that a block is changed, or added in its place if it gets statements.
func TestChangeBlock(t *testing.T) {
	f := &ast.File{Blocks: []*ast.Block{{Kind: ast.Data}, {Kind: ast.Model}}}
	f.ChangeBlock(ast.Functions, func(ss []ast.Stmt) []ast.Stmt { return ss })
	if len(f.Blocks) != 2 {
		t.Errorf("%d blocks after a change that adds nothing", len(f.Blocks))
	}
	add := func(ss []ast.Stmt) []ast.Stmt { return append(ss, &ast.Break{}) }
	for _, kind := range []ast.BlockKind{ast.TransformedData, ast.Functions, ast.GeneratedQuantities, ast.Model} {
		f.ChangeBlock(kind, add)
	}
	want := []ast.BlockKind{ast.Functions, ast.Data, ast.TransformedData, ast.Model, ast.GeneratedQuantities}
	if len(f.Blocks) != len(want) {
		t.Fatalf("%d blocks, want %d", len(f.Blocks), len(want))
	}
	for i, b := range f.Blocks {
		statements := 1
		if b.Kind == ast.Data {
			statements = 0
		}
		if b.Kind != want[i] || len(b.Stmts) != statements {
			t.Errorf("block %d is %v with %d statements", i, b.Kind, len(b.Stmts))
		}
	}
}
