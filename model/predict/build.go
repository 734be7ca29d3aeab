package predict

import (
	"fmt"

	"github.com/ppl-lang/ppl/lang/ast"
)

// This file: constructors for nodes of the derived program. The nodes have no positions and no
// parentheses; the printer adds the parentheses that are needed.

func literal(n int64) ast.Expr {
	if n < 0 {
		return &ast.Unary{Op: "-", X: literal(-n)}
	}
	return &ast.IntLit{Text: fmt.Sprint(n), Value: n}
}

func variable(name string) ast.Expr { return &ast.VarExpr{Name: name} }

func binary(op string, x, y ast.Expr) ast.Expr { return &ast.Binary{Op: op, X: x, Y: y} }

func transposed(x ast.Expr) ast.Expr { return &ast.Unary{Op: "'", X: x} }

func call(function string, args ...ast.Expr) ast.Expr {
	return &ast.CallExpr{Func: ast.Ident{Name: function}, Args: args}
}

// given returns a call of a density or distribution function: function(x | args).
func given(function string, x ast.Expr, args []ast.Expr) ast.Expr {
	return &ast.CallExpr{Func: ast.Ident{Name: function}, Args: append([]ast.Expr{x}, args...), Bar: true}
}

// indexed returns x[indices], or x if there are no indices.
func indexed(x ast.Expr, indices []ast.Index) ast.Expr {
	if len(indices) == 0 {
		return x
	}
	return &ast.IndexExpr{X: x, Indices: indices}
}

// element is x[i].
func element(x, i ast.Expr) ast.Expr { return indexed(x, []ast.Index{&ast.Single{X: i}}) }

func assign(place ast.Expr, op string, value ast.Expr) ast.Stmt {
	return &ast.Assign{LHS: place, Op: op, RHS: value}
}

func declare(t *ast.TypeExpr, name string, init ast.Expr) ast.Stmt {
	return &ast.VarDecl{Type: t, Name: ast.Ident{Name: name}, Init: init}
}

// loop returns for (i in 1:to) { body }.
func loop(i string, to ast.Expr, body []ast.Stmt) ast.Stmt {
	return &ast.For{Var: ast.Ident{Name: i}, From: literal(1), To: to, Body: &ast.BlockStmt{Stmts: body}}
}
