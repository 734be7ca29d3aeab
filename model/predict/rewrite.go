package predict

import (
	"strings"

	"github.com/ppl-lang/ppl/lang/ast"
)

// This file copies parts of the model into the derived program with some names changed.

// rename maps names of variables to their new names.
type rename map[string]string

// expr returns an expression with the names changed; nil for nil. It replaces unnormalised
// densities, which generated quantities may not call, by normalised ones.
func (r rename) expr(e ast.Expr) ast.Expr {
	if e == nil {
		return nil
	}
	return r.node(e).(ast.Expr)
}

// node applies expr to an expression, or to the expressions of a statement.
func (r rename) node(n ast.Node) ast.Node {
	return ast.Rewrite(n, func(n ast.Node) bool {
		c, ok := n.(*ast.CallExpr)
		return !ok || !ofSizes[c.Func.Name] // renaming a variable does not change its sizes
	}, func(n ast.Node) ast.Node {
		switch n := n.(type) {
		case *ast.VarExpr:
			if to, ok := r[n.Name]; ok {
				return &ast.VarExpr{Base: n.Base, Name: to}
			}
		case *ast.CallExpr:
			if name := normalised(n.Func.Name); name != n.Func.Name {
				c := *n
				c.Func.Name = name
				return &c
			}
		}
		return n
	})
}

// normalised returns the name of the normalised form of a density: normal_lpdf for normal_lupdf.
func normalised(name string) string {
	if base, ok := strings.CutSuffix(name, "_lupdf"); ok {
		return base + "_lpdf"
	}
	if base, ok := strings.CutSuffix(name, "_lupmf"); ok {
		return base + "_lpmf"
	}
	return name
}

// density splits the name of a density into that of its distribution; ok is false for other
// functions.
func density(name string) (dist string, ok bool) {
	name = normalised(name)
	for _, s := range []string{"_lpdf", "_lpmf"} {
		if base, ok := strings.CutSuffix(name, s); ok && base != "" {
			return base, true
		}
	}
	return "", false
}

// conditional reports whether a function is a density or distribution function, whose first
// argument is the variate.
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
