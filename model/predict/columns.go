package predict

import (
	"maps"
	"slices"

	"github.com/ppl-lang/ppl/compile"
	"github.com/ppl-lang/ppl/lang/ast"
	"github.com/ppl-lang/ppl/lang/check"
)

// Column is a column or a row of a matrix of group-level terms.
type Column struct {
	Variable string
	Index    int // which of the two indices is fixed: 0 or 1
	Value    int // its value, from 1
}

// ColumnTerms returns the data variable that multiplies each column of the matrices of a model, as
// days in r[subject, 2] .* days, or days in r[subject, 2] .* days_c with days_c computed from days
// alone. A column that nothing multiplies has the term "intercept".
func ColumnTerms(p *compile.Program) map[Column]string {
	out := map[Column]string{}
	if p == nil {
		return out
	}
	tree, info := p.Syntax()
	t := columnTerms{info: info, tree: tree}
	for _, b := range tree.Blocks {
		ast.Inspect(b, func(n ast.Node) bool {
			e, ok := n.(ast.Expr)
			if !ok {
				return true
			}
			if c, ok := t.column(e); ok {
				if _, seen := out[c]; !seen {
					out[c] = "intercept"
				}
			}
			x, ok := n.(*ast.Binary)
			if !ok || x.Op != "*" && x.Op != ".*" {
				return true
			}
			for _, side := range [][2]ast.Expr{{x.X, x.Y}, {x.Y, x.X}} {
				for _, term := range termsOf(side[0]) {
					if c, ok := t.column(term); ok {
						out[c] = t.source(side[1])
					}
				}
			}
			return true
		}, nil)
	}
	maps.DeleteFunc(out, func(_ Column, term string) bool { return term == "" })
	return out
}

type columnTerms struct {
	info *check.Info
	tree *ast.File
}

// termsOf returns the terms of a sum, as beta and u[g, 2] of (beta + u[g, 2]).
func termsOf(e ast.Expr) []ast.Expr {
	if x, ok := ast.Unparen(e).(*ast.Binary); ok && (x.Op == "+" || x.Op == "-") {
		return append(termsOf(x.X), termsOf(x.Y)...)
	}
	return []ast.Expr{e}
}

// column returns the column that an expression is an element of, such as r[subject, 2].
func (t *columnTerms) column(e ast.Expr) (c Column, ok bool) {
	x, isIndex := ast.Unparen(e).(*ast.IndexExpr)
	if !isIndex || len(x.Indices) != 2 {
		return c, false
	}
	v, isVar := ast.Unparen(x.X).(*ast.VarExpr)
	if !isVar {
		return c, false
	}
	fixed := 0
	for i, index := range x.Indices {
		if s, ok := index.(*ast.Single); ok {
			if n, ok := ast.Unparen(s.X).(*ast.IntLit); ok {
				fixed++
				c = Column{v.Name, i, int(n.Value)}
			}
		}
	}
	return c, fixed == 1
}

// source returns the data variable that an expression is, or is computed from; "" if there is not
// exactly one.
func (t *columnTerms) source(e ast.Expr) string {
	if x, ok := ast.Unparen(e).(*ast.IndexExpr); ok {
		e = x.X
	}
	v, ok := ast.Unparen(e).(*ast.VarExpr)
	if !ok || t.info.Uses[v] == nil {
		return ""
	}
	from := t.info.Uses[v]
	switch d, _ := from.Decl.(*ast.VarDecl); {
	case from.Block == ast.Data:
		return from.Name
	case from.Block == ast.TransformedData && d != nil && d.Init != nil:
		var data []string
		ast.Inspect(d.Init, func(n ast.Node) bool {
			if x, ok := n.(*ast.VarExpr); ok {
				if u := t.info.Uses[x]; u != nil && u.Block == ast.Data && u.Type.Rank() > 0 && !slices.Contains(data, u.Name) {
					data = append(data, u.Name)
				}
			}
			return true
		}, nil)
		if len(data) == 1 {
			return data[0]
		}
	}
	return from.Name
}
