package marginal

import (
	"slices"
	"strings"

	"github.com/ppl-lang/ppl/lang/ast"
	"github.com/ppl-lang/ppl/lang/check"
	"github.com/ppl-lang/ppl/lang/types"
)

// opened returns the tree with calls of functions in the model block written out, if an argument
// depends on a discrete parameter. Arguments take the place of the function's parameters, and its
// local variables have new names.
//
//   - A call such as add_lp(y[n], z[n]) becomes the body of the function: its terms are factors. A
//     function that returns early stays, and is refused later.
//   - A call of a function with masses or mixtures becomes the expression that it returns. So
//     masses are 0 outside their support, and mixtures are split. A function that does more than
//     return may be the whole of a term, or a distribution: it becomes its body.
func (s *splitter) opened(f *ast.File) *ast.File {
	var visit func(n ast.Node) ast.Node
	visit = func(n ast.Node) ast.Node {
		b := builder{n.Span()}
		switch n := n.(type) {
		case *ast.CallStmt:
			if c := s.callOf(n.Call, n.Call.Args); c != nil && c.adds {
				if body := c.body(nil); body != nil {
					return body
				}
			}
		case *ast.Tilde:
			if c := s.callOf(n, append([]ast.Expr{n.Variate}, n.Args...)); c != nil && n.Trunc == nil && c.masses {
				if st := c.term(); st != nil {
					return st
				}
			}
		case *ast.TargetPlus:
			if e, ok := ast.Unparen(n.Value).(*ast.CallExpr); ok {
				if c := s.callOf(e, e.Args); c != nil && c.masses {
					if st := c.term(); st != nil {
						return st
					}
				}
			}
		case *ast.CallExpr:
			if c := s.callOf(n, n.Args); c != nil && c.masses {
				if x := c.value(statements(c.of.Decl.Body)); x != nil {
					return &ast.Paren{Base: b.base(), X: x}
				}
			}
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

// called is a call that may be written out.
type called struct {
	s       *splitter
	at      ast.Node
	of      *check.Func
	args    map[*check.Var]ast.Expr
	renamed map[*check.Var]string
	adds    bool // it is a function in _lp
	masses  bool // it has masses or mixtures
}

// callOf returns a call of a function of the program about a discrete parameter; nil for others.
func (s *splitter) callOf(at ast.Node, args []ast.Expr) *called {
	call := s.info.Calls[at]
	if call == nil || call.Func == nil || call.Func.Decl.Body == nil || len(call.Func.Params) != len(args) || !slices.ContainsFunc(args, func(a ast.Expr) bool { return s.involved(a) }) {
		return nil
	}
	c := &called{s: s, at: at, of: call.Func, args: map[*check.Var]ast.Expr{}, renamed: map[*check.Var]string{}}
	c.adds = strings.HasSuffix(call.Name, "_lp")
	c.masses = !c.adds && s.masses(call.Func.Decl, nil)
	for i, p := range call.Func.Params {
		t := s.info.Types[args[i]].Type
		if !t.IsScalar() && !t.Equal(p.Type) {
			return nil // an array of integers as one of real numbers
		}
		c.args[p] = asReal(args[i], t, p.Type)
	}
	return c
}

// asReal returns an integer as a real number where a function takes or returns one: 1 / 2 is 0.
func asReal(x ast.Expr, t, as types.Type) ast.Expr {
	if t.Equal(as) || !t.Equal(types.IntType) {
		return x
	}
	b := builder{x.Span()}
	return b.op("/", b.grouped(x), &ast.RealLit{Base: b.base(), Text: "1.0", Value: 1})
}

// masses reports whether a function has masses or mixtures. It is false if the function calls
// itself. around are the functions that lead to it.
func (s *splitter) masses(d *ast.FunctionDecl, around []*ast.FunctionDecl) bool {
	if slices.Contains(around, d) {
		return false
	}
	found, again := false, false
	ast.Inspect(d.Body, func(n ast.Node) bool {
		e, ok := n.(*ast.CallExpr)
		if !ok {
			return true
		}
		switch c := s.info.Calls[e]; {
		case c == nil:
		case c.Func == nil:
			found = found || strings.HasSuffix(c.Name, "_lpmf") || strings.HasSuffix(c.Name, "_lupmf") || c.Name == "log_mix" || c.Name == "log_sum_exp"
		case slices.Contains(around, c.Func.Decl) || c.Func.Decl == d:
			again = true
		case c.Func.Decl.Body != nil:
			found = s.masses(c.Func.Decl, append(slices.Clip(around), d)) || found
		}
		return true
	}, nil)
	return found && !again
}

// term returns the statement that adds the value of a call to the target; nil if there is none.
func (c *called) term() ast.Node {
	body := statements(c.of.Decl.Body)
	if x := c.value(body); x != nil {
		b := builder{c.at.Span()}
		return &ast.TargetPlus{Base: b.base(), Value: x}
	}
	if len(body) == 0 {
		return nil
	}
	if last, ok := body[len(body)-1].(*ast.Return); ok && last.Value != nil {
		return c.body(last)
	}
	return nil
}

// value returns the expression that statements return, which may choose between returns; nil if
// they do more.
func (c *called) value(body []ast.Stmt) ast.Expr {
	if len(body) == 0 {
		return nil
	}
	switch st := body[0].(type) {
	case *ast.BlockStmt:
		if len(body) == 1 {
			return c.value(st.Stmts)
		}
	case *ast.Return:
		if st.Value != nil {
			return c.returned(st)
		}
	case *ast.If:
		then, els := c.value(statements(st.Then)), ast.Expr(nil)
		if st.Else != nil {
			els = c.value(statements(st.Else))
		} else {
			els = c.value(body[1:])
		}
		if then == nil || els == nil {
			return nil
		}
		b := builder{c.at.Span()}
		return &ast.Paren{Base: b.base(), X: &ast.Cond{Base: b.base(), Cond: c.replaced(st.Cond).(ast.Expr), Then: then, Else: els}}
	}
	return nil
}

// returned returns the value of a return statement.
func (c *called) returned(st *ast.Return) ast.Expr {
	return asReal(c.replaced(st.Value).(ast.Expr), c.s.info.Types[st.Value].Type, c.of.Result)
}

// body returns the statements of the function, the last of which adds its value to the target; nil
// if the function returns elsewhere.
func (c *called) body(last *ast.Return) ast.Node {
	returns := 0
	ast.Inspect(c.of.Decl.Body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.Return:
			returns++
		case *ast.VarDecl:
			c.renamed[c.s.info.Defs[n]] = c.s.names.fresh(n.Name.Name)
		case *ast.For:
			c.renamed[c.s.info.Defs[n]] = c.s.names.fresh(n.Var.Name)
		case *ast.ForEach:
			c.renamed[c.s.info.Defs[n]] = c.s.names.fresh(n.Var.Name)
		}
		return true
	}, nil)
	if last == nil && returns > 0 || last != nil && returns > 1 {
		return nil
	}
	if last == nil {
		return c.replaced(c.of.Decl.Body)
	}
	b := builder{c.at.Span()}
	var out []ast.Stmt
	body := statements(c.of.Decl.Body)
	for _, st := range body[:len(body)-1] {
		out = append(out, c.replaced(st).(ast.Stmt))
	}
	return b.block(append(out, &ast.TargetPlus{Base: b.base(), Value: c.returned(last)})...)
}

// replaced returns a part of the function with the arguments and the new names.
func (c *called) replaced(n ast.Node) ast.Node {
	b := builder{n.Span()}
	switch n := n.(type) {
	case *ast.VarExpr:
		u := c.s.info.Uses[n]
		if a, ok := c.args[u]; ok {
			return &ast.Paren{Base: n.Base, X: clone(a, nil)}
		}
		if name, ok := c.renamed[u]; ok {
			return b.name(name)
		}
	case *ast.VarDecl:
		k := *ast.Map(n, c.replaced).(*ast.VarDecl)
		k.Name = b.ident(c.renamed[c.s.info.Defs[n]])
		return &k
	case *ast.For:
		k := *ast.Map(n, c.replaced).(*ast.For)
		k.Var = b.ident(c.renamed[c.s.info.Defs[n]])
		return &k
	case *ast.ForEach:
		k := *ast.Map(n, c.replaced).(*ast.ForEach)
		k.Var = b.ident(c.renamed[c.s.info.Defs[n]])
		return &k
	}
	return ast.Map(n, c.replaced)
}
