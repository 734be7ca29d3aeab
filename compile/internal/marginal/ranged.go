package marginal

import (
	"github.com/ppl-lang/ppl/lang/ast"
	"github.com/ppl-lang/ppl/lang/printer"
)

// ranged returns a loop whose ends discrete parameters decide as a loop over all numbers that it
// may reach, with a condition: for (t in s:T) as for (t in 1:T) if (t >= s). So each iteration is a
// factor. Where there are no such numbers to write, the loop stays as it is: one factor.
func (s *splitter) ranged(st *ast.For) ast.Stmt {
	lower, upper := s.involved(st.From), s.involved(st.To)
	if !lower && !upper || jumps(st.Body) {
		return st
	}
	b := builder{st.Span()}
	c := *st
	var cond ast.Expr
	if lower {
		if c.From = s.extreme(st.From, "lower"); c.From == nil {
			return st
		}
		cond = b.op(">=", b.name(st.Var.Name), b.grouped(clone(st.From, nil)))
	}
	if upper {
		if c.To = s.extreme(st.To, "upper"); c.To == nil {
			return st
		}
		behind := b.op("<=", b.name(st.Var.Name), b.grouped(clone(st.To, nil)))
		if cond == nil {
			cond = behind
		} else {
			cond = b.op("&&", cond, behind)
		}
	}
	c.Body = b.block(&ast.If{Base: b.base(), Cond: cond, Then: st.Body})
	return &c
}

// extreme returns an expression for the least or the greatest value of sums and differences of
// discrete parameters, from their declared bounds; nil if it is something else.
func (s *splitter) extreme(e ast.Expr, kind string) ast.Expr {
	b := builder{e.Span()}
	if !s.involved(e) {
		return clone(e, nil)
	}
	switch e := ast.Unparen(e).(type) {
	case *ast.Binary:
		other := kind
		if e.Op == "-" {
			other = map[string]string{"lower": "upper", "upper": "lower"}[kind]
		} else if e.Op != "+" {
			return nil
		}
		x, y := s.extreme(e.X, kind), s.extreme(e.Y, other)
		if x == nil || y == nil {
			return nil
		}
		return b.op(e.Op, x, b.grouped(y))
	case *ast.VarExpr, *ast.IndexExpr:
		v, indices := ast.Expr(e), []ast.Index(nil)
		if i, ok := e.(*ast.IndexExpr); ok {
			v, indices = i.X, i.Indices
		}
		name, ok := ast.Unparen(v).(*ast.VarExpr)
		if !ok || !s.scalar(e) {
			return nil
		}
		for _, i := range indices {
			if s.involved(i) {
				return nil
			}
		}
		bound := s.bounds[s.info.Uses[name]][kind]
		if bound == nil {
			return nil
		}
		if x := b.grouped(clone(bound, nil)); s.scalar(bound) {
			return x
		} else {
			at := &ast.IndexExpr{Base: b.base(), X: x}
			for _, i := range indices {
				at.Indices = append(at.Indices, clone(i, nil))
			}
			return at
		}
	}
	return nil
}

// slices returns the ends of a range that all containers among the arguments are indexed by, if
// discrete parameters decide them: then a loop over the range itself has factors that these
// parameters decide by comparisons.
func (s *splitter) slices(args []ast.Expr, many []bool) (from, to ast.Expr) {
	for i, a := range args {
		if !many[i] {
			continue
		}
		r := s.slice(a)
		if r == nil || !s.involved(r) {
			return nil, nil
		}
		if from != nil && (printer.String(from) != printer.String(r.From) || printer.String(to) != printer.String(r.To)) {
			return nil, nil
		}
		from, to = r.From, r.To
	}
	if from == nil {
		return nil, nil
	}
	return from, to
}

// slice returns the range of an expression such as x[n, from:to], whose other indices are single
// numbers; nil if it is none.
func (s *splitter) slice(e ast.Expr) *ast.Range {
	x, ok := ast.Unparen(e).(*ast.IndexExpr)
	if !ok {
		return nil
	}
	n := len(x.Indices) - 1
	for _, i := range x.Indices[:n] {
		if one, ok := i.(*ast.Single); !ok || !s.scalar(one.X) {
			return nil
		}
	}
	r, ok := x.Indices[n].(*ast.Range)
	if !ok || r.From == nil && r.To == nil {
		return nil
	}
	c := *r
	if c.From == nil {
		c.From = builder{e.Span()}.int(1)
	}
	if c.To == nil {
		if c.To = s.dim(x.X, n); c.To == nil {
			return nil
		}
	}
	return &c
}

// within returns x[n, i] for x[n, from:to].
func (s *splitter) within(e, i ast.Expr) ast.Expr {
	c := *ast.Unparen(e).(*ast.IndexExpr)
	n := len(c.Indices) - 1
	c.Indices = append(c.Indices[:n:n], builder{e.Span()}.single(i))
	return clone(ast.Expr(&c), nil)
}
