package marginal

import (
	"strings"

	"github.com/ppl-lang/ppl/lang/ast"
	"github.com/ppl-lang/ppl/lang/check"
)

// opened returns the tree with calls such as add_lp(y[n], z[n]) in the model block replaced by the
// body of the function, if an argument depends on a discrete parameter: the terms of the body are
// factors. Arguments take the place of the function's parameters, and its local variables have new
// names. A function that returns early stays, and is refused later.
func (s *splitter) opened(f *ast.File) *ast.File {
	var visit func(n ast.Node) ast.Node
	visit = func(n ast.Node) ast.Node {
		if c, ok := n.(*ast.CallStmt); ok {
			if b := s.bodyOf(c); b != nil {
				return b
			}
		}
		if _, ok := n.(ast.Expr); ok {
			return n
		}
		return ast.Map(n, visit)
	}
	return ast.Map(f, func(n ast.Node) ast.Node {
		if b, ok := n.(*ast.Block); ok && b.Kind == ast.Model {
			return visit(b)
		}
		return n
	}).(*ast.File)
}

// bodyOf returns the statements that replace a call; nil if the call stays.
func (s *splitter) bodyOf(c *ast.CallStmt) ast.Node {
	call := s.info.Calls[c.Call]
	if call == nil || call.Func == nil || !strings.HasSuffix(call.Name, "_lp") || !s.involved(c) {
		return nil
	}
	d := call.Func.Decl
	if d.Body == nil || len(call.Func.Params) != len(c.Call.Args) {
		return nil
	}
	args := map[*check.Var]ast.Expr{}
	for i, p := range call.Func.Params {
		args[p] = c.Call.Args[i]
	}
	returns := false
	renamed := map[*check.Var]string{}
	ast.Inspect(d.Body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.Return:
			returns = true
		case *ast.VarDecl:
			renamed[s.info.Defs[n]] = s.names.fresh(n.Name.Name)
		case *ast.For:
			renamed[s.info.Defs[n]] = s.names.fresh(n.Var.Name)
		case *ast.ForEach:
			renamed[s.info.Defs[n]] = s.names.fresh(n.Var.Name)
		}
		return !returns
	}, nil)
	if returns {
		return nil
	}
	var visit func(n ast.Node) ast.Node
	visit = func(n ast.Node) ast.Node {
		b := builder{n.Span()}
		switch n := n.(type) {
		case *ast.VarExpr:
			u := s.info.Uses[n]
			if a, ok := args[u]; ok {
				return &ast.Paren{Base: n.Base, X: clone(a, nil)}
			}
			if name, ok := renamed[u]; ok {
				return b.name(name)
			}
		case *ast.VarDecl:
			k := *ast.Map(n, visit).(*ast.VarDecl)
			k.Name = b.ident(renamed[s.info.Defs[n]])
			return &k
		case *ast.For:
			k := *ast.Map(n, visit).(*ast.For)
			k.Var = b.ident(renamed[s.info.Defs[n]])
			return &k
		case *ast.ForEach:
			k := *ast.Map(n, visit).(*ast.ForEach)
			k.Var = b.ident(renamed[s.info.Defs[n]])
			return &k
		}
		return ast.Map(n, visit)
	}
	return visit(d.Body)
}
