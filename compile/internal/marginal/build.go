package marginal

import (
	"fmt"
	"slices"

	"github.com/ppl-lang/ppl/lang/ast"
	"github.com/ppl-lang/ppl/lang/source"
)

// builder makes nodes of the written program. They have the position of the declaration or
// statement that they come from, so that messages about them have a place.
type builder struct{ pos source.Span }

func (b builder) base() ast.Base { return ast.Base{Pos: b.pos} }

func (b builder) ident(name string) ast.Ident { return ast.Ident{Base: b.base(), Name: name} }

func (b builder) int(n int64) ast.Expr {
	if n < 0 {
		return &ast.Unary{Base: b.base(), Op: "-", X: b.int(-n)}
	}
	return &ast.IntLit{Base: b.base(), Text: fmt.Sprint(n), Value: n}
}

// real returns a real literal.
func (b builder) real(x float64) ast.Expr {
	return &ast.RealLit{Base: b.base(), Text: fmt.Sprintf("%.1f", x), Value: x}
}

func (b builder) name(name string) ast.Expr { return &ast.VarExpr{Base: b.base(), Name: name} }

func (b builder) op(op string, x, y ast.Expr) ast.Expr {
	return &ast.Binary{Base: b.base(), Op: op, OpPos: b.pos, X: x, Y: y}
}

// grouped returns x in parentheses if it has an operator.
func (b builder) grouped(x ast.Expr) ast.Expr {
	switch x.(type) {
	case *ast.Binary, *ast.Cond, *ast.Unary:
		return &ast.Paren{Base: b.base(), X: x}
	}
	return x
}

// truth returns 1 if x is not 0, otherwise 0.
func (b builder) truth(x ast.Expr) ast.Expr {
	if op, ok := ast.Unparen(x).(*ast.Binary); ok && (comparisons[op.Op] || op.Op == "&&" || op.Op == "||") {
		return x
	}
	return b.op("!=", b.grouped(x), b.int(0))
}

func (b builder) call(f string, args ...ast.Expr) ast.Expr {
	return &ast.CallExpr{Base: b.base(), Func: b.ident(f), Args: args}
}

// density returns f(x | args).
func (b builder) density(f string, x ast.Expr, args ...ast.Expr) ast.Expr {
	return &ast.CallExpr{Base: b.base(), Func: b.ident(f), Args: append([]ast.Expr{x}, args...), Bar: true}
}

func (b builder) single(x ast.Expr) ast.Index { return &ast.Single{Base: b.base(), X: x} }

// at returns x[is…], or x without indices.
func (b builder) at(x ast.Expr, is ...ast.Expr) ast.Expr {
	if len(is) == 0 {
		return x
	}
	e := &ast.IndexExpr{Base: b.base(), X: x}
	for _, i := range is {
		e.Indices = append(e.Indices, b.single(i))
	}
	return e
}

func (b builder) array(es ...ast.Expr) ast.Expr { return &ast.ArrayExpr{Base: b.base(), Elems: es} }

func (b builder) ints(ns []int64) ast.Expr {
	es := make([]ast.Expr, len(ns))
	for i, n := range ns {
		es[i] = b.int(n)
	}
	return b.array(es...)
}

func (b builder) assign(lhs ast.Expr, op string, rhs ast.Expr) ast.Stmt {
	return &ast.Assign{Base: b.base(), LHS: lhs, Op: op, RHS: rhs}
}

// declare returns `array[dims] elem[sizes] name = init`; init may be nil.
func (b builder) declare(dims []ast.Expr, elem string, sizes []ast.Expr, name string, init ast.Expr) *ast.VarDecl {
	t := &ast.TypeExpr{Base: b.base(), ArrayDims: dims, Elem: elem, Sizes: sizes}
	return &ast.VarDecl{Base: b.base(), Type: t, Name: b.ident(name), Init: init}
}

func (b builder) loop(name string, from, to ast.Expr, body ...ast.Stmt) ast.Stmt {
	return &ast.For{Base: b.base(), Var: b.ident(name), From: from, To: to, Body: b.block(body...)}
}

func (b builder) block(body ...ast.Stmt) *ast.BlockStmt {
	return &ast.BlockStmt{Base: b.base(), Stmts: body}
}

func (b builder) target(value ast.Expr) ast.Stmt {
	return &ast.TargetPlus{Base: b.base(), Value: value}
}

// plus returns x + n, without a sum if it needs none.
func (b builder) plus(x ast.Expr, n int64) ast.Expr {
	switch m, ok := literal(x); {
	case ok:
		return b.int(m + n)
	case n > 0:
		return b.op("+", x, b.int(n))
	case n < 0:
		return b.op("-", x, b.int(-n))
	}
	return x
}

// sum returns the sum of terms, 0 if there are none.
func (b builder) sum(terms []ast.Expr) ast.Expr {
	if len(terms) == 0 {
		return b.int(0)
	}
	out := terms[0]
	for _, t := range terms[1:] {
		out = b.op("+", out, t)
	}
	return out
}

// clone returns a deep copy of a tree, with edit applied to each node of the copy, children first.
// edit may be nil.
func clone[N ast.Node](n N, edit func(ast.Node) ast.Node) N {
	return ast.Rewrite(n, nil, func(n ast.Node) ast.Node {
		n = shallow(n)
		if edit != nil {
			n = edit(n)
		}
		return n
	}).(N)
}

// shallow copies a node that has no children; others were copied with their children.
func shallow(n ast.Node) ast.Node {
	switch n := n.(type) {
	case *ast.Ident:
		c := *n
		return &c
	case *ast.VarExpr:
		c := *n
		return &c
	case *ast.IntLit:
		c := *n
		return &c
	case *ast.RealLit:
		c := *n
		return &c
	case *ast.ImagLit:
		c := *n
		return &c
	case *ast.StringLit:
		c := *n
		return &c
	case *ast.Target:
		c := *n
		return &c
	case *ast.All:
		c := *n
		return &c
	case *ast.Range:
		c := *n
		return &c
	case *ast.TypeExpr:
		c := *n
		return &c
	case *ast.Block:
		c := *n
		c.Stmts = slices.Clone(c.Stmts)
		return &c
	case *ast.BlockStmt:
		c := *n
		c.Stmts = slices.Clone(c.Stmts)
		return &c
	}
	return n
}
