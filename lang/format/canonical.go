package format

import (
	"reflect"

	"github.com/ppl-lang/ppl/lang/ast"
)

// canonical rewrites a tree as the options ask for.
func canonical(f *ast.File, o Options) {
	if !o.Parentheses && !o.Braces {
		return
	}
	for _, b := range f.Blocks {
		rewrite(reflect.ValueOf(b), o, false)
	}
}

var exprType = reflect.TypeFor[ast.Expr]()

// rewrite changes the expressions and statements below a value; operand says that
// expressions directly in it are operands, where parentheses may be needed.
func rewrite(v reflect.Value, o Options, operand bool) {
	switch v.Kind() {
	case reflect.Pointer:
		if v.IsNil() {
			return
		}
		switch n := v.Interface().(type) {
		case *ast.Unary, *ast.Binary, *ast.Cond, *ast.IndexExpr, *ast.TupleMember:
			operand = true
		case ast.Node:
			operand = false
			if o.Braces {
				braces(n)
			}
		default:
			return // a file
		}
		rewrite(v.Elem(), o, operand)
	case reflect.Interface:
		if v.IsNil() {
			return
		}
		if e, ok := v.Interface().(ast.Expr); ok && v.Type() == exprType && o.Parentheses {
			v.Set(reflect.ValueOf(bare(e, operand)))
		}
		rewrite(v.Elem(), o, operand)
	case reflect.Slice:
		for i := range v.Len() {
			rewrite(v.Index(i), o, operand)
		}
	case reflect.Struct:
		for i := range v.NumField() {
			if f := v.Field(i); v.Type().Field(i).IsExported() && !v.Type().Field(i).Anonymous {
				rewrite(f, o, operand)
			}
		}
	}
}

// bare takes parentheses off an expression that means the same without.
func bare(e ast.Expr, operand bool) ast.Expr {
	outer, ok := e.(*ast.Paren)
	if !ok {
		return e
	}
	inner := outer.X
	for {
		p, ok := inner.(*ast.Paren)
		if !ok {
			break
		}
		inner = p.X
	}
	if operand {
		switch inner.(type) {
		case *ast.Unary, *ast.Binary, *ast.Cond:
			return &ast.Paren{Base: outer.Base, X: inner}
		}
	}
	return inner
}

// braces puts the bodies of a statement into braces.
func braces(n ast.Node) {
	switch n := n.(type) {
	case *ast.If:
		n.Then = braced(n.Then)
		if _, chain := n.Else.(*ast.If); !chain {
			n.Else = braced(n.Else)
		}
	case *ast.While:
		n.Body = braced(n.Body)
	case *ast.For:
		n.Body = braced(n.Body)
	case *ast.ForEach:
		n.Body = braced(n.Body)
	}
}

func braced(s ast.Stmt) ast.Stmt {
	switch s.(type) {
	case nil, *ast.BlockStmt:
		return s
	}
	return &ast.BlockStmt{Base: ast.Base{Pos: s.Span()}, Stmts: []ast.Stmt{s}}
}
