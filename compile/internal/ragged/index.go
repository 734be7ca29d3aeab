package ragged

import (
	"github.com/ppl-lang/ppl/lang/ast"
)

// of returns how a variable is stored, if an expression is a ragged one; nil otherwise.
func (r *rewriter) of(e ast.Expr) *rows {
	x, ok := ast.Unparen(e).(*ast.VarExpr)
	if !ok {
		return nil
	}
	if v := r.uses[x]; v != nil {
		return r.rows[v]
	}
	return r.rows[r.info.Uses[x]]
}

// index rewrites x[i…]. The elements of a row are found by their positions.
func (r *rewriter) index(e *ast.IndexExpr) ast.Node {
	base, indices := r.info.Indexed(e)
	if x, ok := ast.Unparen(base).(*ast.VarExpr); ok {
		if row := r.elements[r.info.Uses[x]]; row != nil {
			base, indices = row.X, append(row.Indices[:1:1], indices...)
		}
	}
	k := r.of(base)
	if k == nil {
		return ast.Map(e, r.rewrite)
	}
	var outer []ast.Expr
	for _, i := range indices[:k.Outer] {
		outer = append(outer, r.expr(i.(*ast.Single).X))
	}
	row := func(table ast.Expr) ast.Expr {
		var is []ast.Expr
		for _, i := range outer {
			is = append(is, ast.Fresh(i))
		}
		if x, ok := table.(*ast.VarExpr); ok {
			x.For = ast.Unparen(base).(*ast.VarExpr).Name
		}
		out := element(table, is...)
		out.Base = e.Base
		for k, i := range out.Indices {
			i.(*ast.Single).Base = ast.Base{Pos: outer[k].Span()}
		}
		return out
	}
	start, size := func() ast.Expr { return row(k.start()) }, func() ast.Expr { return row(k.sizes()) }
	out := &ast.IndexExpr{Base: written(e), X: &ast.VarExpr{Base: ast.Base{Pos: base.Span()}, Name: ast.Unparen(base).(*ast.VarExpr).Name}}
	rest, at := indices[k.Outer:], k.At-k.Outer
	for d := range max(len(rest), at+1) {
		switch {
		case d < len(rest) && d == at:
			out.Indices = append(out.Indices, r.within(rest[d], start, size))
		case d < len(rest):
			out.Indices = append(out.Indices, r.rewrite(rest[d]).(ast.Index))
		case d == at:
			out.Indices = append(out.Indices, all(e.Base, start, size))
		default:
			out.Indices = append(out.Indices, &ast.All{Base: e.Base})
		}
	}
	return out
}

// all returns the range of the elements of a row.
func all(at ast.Base, start, size func() ast.Expr) ast.Index {
	return &ast.Range{Base: at, Row: true, From: start(), To: minusOne(plus(start(), size()))}
}

// within rewrites an index of a row.
func (r *rewriter) within(i ast.Index, start, size func() ast.Expr) ast.Index {
	switch i := i.(type) {
	case *ast.Single:
		name := "ragged_index"
		if !r.info.Single(i) {
			name = "ragged_indices"
		}
		return &ast.Single{Base: i.Base, X: r.called(i.Base, name, start(), size(), r.expr(i.X))}
	case *ast.Range:
		if i.From == nil && i.To == nil {
			break
		}
		from, to := literal(1), size()
		if i.From != nil {
			from = r.expr(i.From)
		}
		if i.To != nil {
			to = r.expr(i.To)
		}
		return &ast.Range{Base: i.Base, Row: true, From: r.called(i.Base, "ragged_from", start(), size(), from, ast.Fresh(to)), To: minusOne(plus(start(), to))}
	}
	return all(ast.Base{Pos: i.Span()}, start, size)
}

func plus(x, y ast.Expr) ast.Expr {
	if b, ok := y.(*ast.Binary); ok {
		y = &ast.Paren{Base: b.Base, X: y}
	}
	return &ast.Binary{Op: "+", X: x, Y: y}
}

func minusOne(x ast.Expr) ast.Expr { return &ast.Binary{Op: "-", X: x, Y: literal(1)} }

// Empty returns a rewritten tree in which indices without elements replace the ranges of variables
// all of whose rows are empty: Stan has no range of a vector without elements. zeros has the names
// of the arrays of integers that only have zeros.
func Empty(f *ast.File, zeros map[string]bool) *ast.File {
	if len(zeros) == 0 {
		return f
	}
	return ast.Rewrite(f, nil, func(n ast.Node) ast.Node {
		r, ok := n.(*ast.Range)
		if !ok || !r.Row {
			return n
		}
		empty := false
		ast.Inspect(r, func(n ast.Node) bool {
			x, ok := n.(*ast.VarExpr)
			empty = empty || ok && x.For != "" && zeros[x.Name]
			return !empty
		}, nil)
		if empty {
			return &ast.Single{Base: r.Base, X: call("zeros_int_array", literal(0))}
		}
		return n
	}).(*ast.File)
}
