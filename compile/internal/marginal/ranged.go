package marginal

import "github.com/ppl-lang/ppl/lang/ast"

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
