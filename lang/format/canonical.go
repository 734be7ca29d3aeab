package format

import "github.com/ppl-lang/ppl/lang/ast"

// canonical rewrites a tree as the options require.
func canonical(f *ast.File, o Options) *ast.File {
	return ast.Rewrite(f, nil, func(n ast.Node) ast.Node {
		if o.Parentheses {
			n = bare(n)
		}
		if o.Braces {
			n = braces(n)
		}
		return n
	}).(*ast.File)
}

// bare removes redundant parentheses from the children of a node. Operands that have operators
// themselves keep one pair.
func bare(n ast.Node) ast.Node {
	operand := false
	switch n.(type) {
	case *ast.Unary, *ast.Binary, *ast.Cond, *ast.IndexExpr, *ast.TupleMember:
		operand = true
	}
	return ast.Parenthesise(ast.Map(n, func(c ast.Node) ast.Node {
		outer, ok := c.(*ast.Paren)
		if !ok {
			return c
		}
		inner := ast.Unparen(outer)
		if operand {
			switch inner.(type) {
			case *ast.Unary, *ast.Binary, *ast.Cond:
				return &ast.Paren{Base: outer.Base, X: inner}
			}
		}
		return inner
	}))
}

// braces puts the bodies of a statement into braces.
func braces(n ast.Node) ast.Node {
	s, ok := n.(ast.Stmt)
	if _, block := n.(*ast.BlockStmt); !ok || block {
		return n
	}
	return ast.Map(s, func(c ast.Node) ast.Node {
		body, ok := c.(ast.Stmt)
		if !ok {
			return c
		}
		switch body.(type) {
		case *ast.BlockStmt:
			return c
		case *ast.If:
			if i, ok := s.(*ast.If); ok && body == i.Else { // this is an else if
				return c
			}
		}
		return &ast.BlockStmt{Base: ast.Base{Pos: body.Span()}, Stmts: []ast.Stmt{body}}
	})
}
