package marginal

import (
	"slices"

	"github.com/ppl-lang/ppl/lang/ast"
	"github.com/ppl-lang/ppl/lang/printer"
)

// This file reads conditions that make values of a count impossible, in statements about several
// counts: if (N > M) target += negative_infinity().

// rulesOut reports whether a statement makes all values impossible.
func rulesOut(st ast.Stmt) bool {
	switch st := st.(type) {
	case *ast.BlockStmt:
		return slices.ContainsFunc(st.Stmts, rulesOut)
	case *ast.TargetPlus:
		return never(st.Value)
	}
	return false
}

// oneLeft reports whether a condition holds for all values of the count but one at most: N != M, or
// N > 0.
func (s *shaper) oneLeft(cond ast.Expr) bool {
	least := s.p.elements[s.pat.instances[0].elements[s.axis]].of.least
	// above reports whether all values but the least are above x, or at x if at is 1.
	above := func(count, x ast.Expr, at int64) bool {
		n, ok := literal(x)
		return ok && n <= least+at && s.occurrence(ast.Unparen(count)) >= 0 && s.readsAny(count)
	}
	switch e := ast.Unparen(cond).(type) {
	case *ast.VarExpr, *ast.IndexExpr:
		return least == 0 && s.occurrence(e) >= 0 && s.readsAny(e)
	case *ast.Unary:
		b, ok := ast.Unparen(e.X).(*ast.Binary)
		return ok && e.Op == "!" && b.Op == "==" && s.differ(b)
	case *ast.Binary:
		switch e.Op {
		case "||":
			return s.oneLeft(e.X) || s.oneLeft(e.Y)
		case "!=":
			return s.differ(e)
		case ">":
			return above(e.X, e.Y, 0)
		case ">=":
			return above(e.X, e.Y, 1)
		case "<":
			return above(e.Y, e.X, 0)
		case "<=":
			return above(e.Y, e.X, 1)
		}
	}
	return false
}

// differ reports whether two sides of an equation are equal for one value of the count at most.
func (s *shaper) differ(e *ast.Binary) bool {
	x, known := s.slope(e.X)
	y, known2 := s.slope(e.Y)
	return known && known2 && x != y
}

// start notes a difference that is negative where possible values of the count begin beyond it. It
// reports whether that can be computed outside of the code.
func (s *shaper) start(e ast.Expr) bool {
	local := false
	for _, st := range s.pat.leaf.code {
		ast.Inspect(st, func(n ast.Node) bool {
			if d, ok := n.(*ast.VarDecl); ok {
				v := s.p.def(d)
				ast.Inspect(e, func(n ast.Node) bool {
					x, ok := n.(*ast.VarExpr)
					local = local || ok && s.p.info.Uses[x] == v
					return true
				}, nil)
			}
			return true
		}, nil)
	}
	if local {
		return false
	}
	old := s.pat.tail.starts[s.axis]
	if !slices.ContainsFunc(old, func(o ast.Expr) bool { return printer.String(o) == printer.String(e) }) {
		s.pat.tail.starts[s.axis] = append(old, e)
	}
	return true
}

// restricts reports whether a condition that makes values impossible where its truth is out leaves
// consecutive values of the count, whatever the others are. It notes where these begin.
func (s *shaper) restricts(cond ast.Expr, out bool) bool {
	if !s.several || s.pat.tail == nil {
		return false
	}
	if !s.readsAny(cond) {
		return true
	}
	switch e := ast.Unparen(cond).(type) {
	case *ast.VarExpr, *ast.IndexExpr:
		return out && s.occurrence(e) >= 0 && s.oneLeft(e)
	case *ast.Unary:
		return e.Op == "!" && s.restricts(e.X, !out)
	case *ast.Binary:
		if e.Op == "||" || e.Op == "&&" {
			one := s.readsAny(e.X) != s.readsAny(e.Y)
			return (one || out == (e.Op == "||")) && s.restricts(e.X, out) && s.restricts(e.Y, out)
		}
		x, known := s.slope(e.X)
		y, known2 := s.slope(e.Y)
		if !comparisons[e.Op] || !known || !known2 || x == y {
			return false
		}
		from, to := e.X, e.Y
		if x < y {
			from, to = e.Y, e.X
		}
		less := (e.Op == "<" || e.Op == "<=") == (x > y) // the condition holds for small values
		switch equation := e.Op == "==" || e.Op == "!="; {
		case equation && (e.Op == "!=") != out:
			return false
		case equation || less == out:
			b := builder{e.Span()}
			return s.start(b.op("-", b.grouped(from), b.grouped(to)))
		}
		return true
	}
	return false
}

// restricted reports whether one of two branches is impossible, and the other one has consecutive
// values.
func (s *shaper) restricted(cond ast.Expr, then, other bool) bool {
	return then && s.restricts(cond, true) || other && s.restricts(cond, false)
}
