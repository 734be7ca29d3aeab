package predict

import (
	"strings"

	"github.com/ppl-lang/ppl/lang/ast"
	"github.com/ppl-lang/ppl/lang/printer"
)

// This file: copies of trees with some of their names changed. Trees are
// immutable, and what is derived is printed and parsed again, so copies need no
// positions.

// rename is what a copied tree has in place of the variables of some names.
type rename map[string]string

// text prints a copy of an expression as what stands between parentheses or
// commas.
func (r rename) text(e ast.Expr) string { return printer.String(r.expr(e)) }

// operand prints an expression so that it may be followed by an index or stand
// beside any operator.
func (r rename) operand(e ast.Expr) string {
	s := r.text(e)
	switch ast.Unparen(e).(type) {
	case *ast.VarExpr, *ast.IndexExpr, *ast.CallExpr, *ast.IntLit, *ast.RealLit, *ast.TupleMember:
		return s
	}
	if _, ok := e.(*ast.Paren); ok {
		return s
	}
	return "(" + s + ")"
}

func (r rename) name(n string) string {
	if to, ok := r[n]; ok {
		return to
	}
	return n
}

func (r rename) exprs(es []ast.Expr) []ast.Expr {
	out := make([]ast.Expr, len(es))
	for i, e := range es {
		out[i] = r.expr(e)
	}
	return out
}

// expr copies an expression. Densities without their constant terms, which
// generated quantities may not call, become whole ones.
func (r rename) expr(e ast.Expr) ast.Expr {
	switch e := e.(type) {
	case *ast.VarExpr:
		c := *e
		c.Name = r.name(e.Name)
		return &c
	case *ast.CallExpr:
		if ofSizes[e.Func.Name] {
			return e // what has changed its name has not changed its sizes
		}
		c := *e
		c.Args = r.exprs(e.Args)
		c.Func.Name = normalised(c.Func.Name)
		return &c
	case *ast.Unary:
		c := *e
		c.X = r.expr(e.X)
		return &c
	case *ast.Binary:
		c := *e
		c.X, c.Y = r.expr(e.X), r.expr(e.Y)
		return &c
	case *ast.Cond:
		c := *e
		c.Cond, c.Then, c.Else = r.expr(e.Cond), r.expr(e.Then), r.expr(e.Else)
		return &c
	case *ast.IndexExpr:
		c := *e
		c.X, c.Indices = r.expr(e.X), r.indices(e.Indices)
		return &c
	case *ast.TupleMember:
		c := *e
		c.X = r.expr(e.X)
		return &c
	case *ast.ArrayExpr:
		c := *e
		c.Elems = r.exprs(e.Elems)
		return &c
	case *ast.RowVectorExpr:
		c := *e
		c.Elems = r.exprs(e.Elems)
		return &c
	case *ast.TupleExpr:
		c := *e
		c.Elems = r.exprs(e.Elems)
		return &c
	case *ast.Paren:
		c := *e
		c.X = r.expr(e.X)
		return &c
	}
	return e // literals, target()
}

func (r rename) indices(is []ast.Index) []ast.Index {
	out := make([]ast.Index, len(is))
	for i, x := range is {
		switch x := x.(type) {
		case *ast.Single:
			out[i] = &ast.Single{X: r.expr(x.X)}
		case *ast.Range:
			c := &ast.Range{}
			if x.From != nil {
				c.From = r.expr(x.From)
			}
			if x.To != nil {
				c.To = r.expr(x.To)
			}
			out[i] = c
		default:
			out[i] = x
		}
	}
	return out
}

func (r rename) typ(t *ast.TypeExpr) *ast.TypeExpr {
	c := *t
	c.ArrayDims, c.Sizes = r.exprs(t.ArrayDims), r.exprs(t.Sizes)
	if len(t.Sizes) == 0 {
		c.Sizes = nil
	}
	c.Bounds = nil
	for _, b := range t.Bounds {
		c.Bounds = append(c.Bounds, ast.Bound{Kind: b.Kind, Value: r.expr(b.Value)})
	}
	c.Members = nil
	for _, m := range t.Members {
		c.Members = append(c.Members, r.typ(m))
	}
	return &c
}

// simple copies a statement that holds no other statements.
func (r rename) simple(s ast.Stmt) ast.Stmt {
	switch s := s.(type) {
	case *ast.VarDecl:
		c := *s
		c.Type = r.typ(s.Type)
		c.Name.Name = r.name(s.Name.Name)
		if s.Init != nil {
			c.Init = r.expr(s.Init)
		}
		return &c
	case *ast.Assign:
		c := *s
		c.LHS, c.RHS = r.expr(s.LHS), r.expr(s.RHS)
		return &c
	case *ast.TargetPlus:
		c := *s
		c.Value = r.expr(s.Value)
		return &c
	case *ast.Reject:
		c := *s
		c.Args = r.exprs(s.Args)
		return &c
	case *ast.CallStmt:
		c := *s
		c.Call = r.expr(s.Call).(*ast.CallExpr)
		return &c
	case *ast.Tilde:
		c := *s
		c.Variate, c.Args = r.expr(s.Variate), r.exprs(s.Args)
		if t := s.Trunc; t != nil {
			c.Trunc = &ast.Truncation{}
			if t.Lower != nil {
				c.Trunc.Lower = r.expr(t.Lower)
			}
			if t.Upper != nil {
				c.Trunc.Upper = r.expr(t.Upper)
			}
		}
		return &c
	}
	return s
}

// normalised is the name of a density with all of its terms.
func normalised(name string) string {
	if base, ok := strings.CutSuffix(name, "_lupdf"); ok {
		return base + "_lpdf"
	}
	if base, ok := strings.CutSuffix(name, "_lupmf"); ok {
		return base + "_lpmf"
	}
	return name
}

// density parts the name of a density into that of its distribution and its
// suffix.
func density(name string) (dist string, ok bool) {
	name = normalised(name)
	for _, s := range []string{"_lpdf", "_lpmf"} {
		if base, ok := strings.CutSuffix(name, s); ok && base != "" {
			return base, true
		}
	}
	return "", false
}

// conditional reports a density or distribution function: its first argument is
// the variate.
func conditional(name string) bool {
	if _, ok := density(name); ok {
		return true
	}
	for _, s := range []string{"_lcdf", "_lccdf", "_cdf"} {
		if strings.HasSuffix(name, s) {
			return true
		}
	}
	return false
}
