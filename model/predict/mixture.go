package predict

import (
	"github.com/ppl-lang/ppl/lang/ast"
	"github.com/ppl-lang/ppl/lang/printer"
)

// This file predicts observations of mixtures of two distributions that are written as sums of
// densities.

// mixture is a distribution that is one of two, the first with a probability.
type mixture struct {
	weight ast.Expr
	of     [2]term
}

// mixtureOf returns the mixture whose log density an addend is; nil if it is none. The forms are
// log_mix(w, a, b) and log_sum_exp(log(w) + a, log1m(w) + b), with densities a and b of the same
// observation.
func (a *analysis) mixtureOf(s ast.Stmt, value ast.Expr, at *place) *mixture {
	c, ok := ast.Unparen(value).(*ast.CallExpr)
	if !ok {
		return nil
	}
	m := &mixture{}
	var densities [2]ast.Expr
	switch {
	case c.Func.Name == "log_mix" && len(c.Args) == 3:
		m.weight, densities = c.Args[0], [2]ast.Expr{c.Args[1], c.Args[2]}
	case c.Func.Name == "log_sum_exp" && len(c.Args) == 2:
		first, w := weighted(c.Args[0], "log")
		second, rest := weighted(c.Args[1], "log1m")
		if w == nil || rest == nil || printer.Line(w) != printer.Line(rest) {
			return nil
		}
		m.weight, densities = w, [2]ast.Expr{first, second}
	default:
		return nil
	}
	for i, d := range densities {
		call, ok := ast.Unparen(d).(*ast.CallExpr)
		if !ok || len(call.Args) == 0 {
			return nil
		}
		if _, ok := density(call.Func.Name); !ok || !a.info.Types[call.Args[0]].Type.IsScalar() {
			return nil
		}
		p := a.placeOf(call.Args[0])
		if p == nil || !p.same(at) {
			return nil
		}
		m.of[i] = term{at: s, place: p, function: normalised(call.Func.Name), user: a.info.Calls[call].Func != nil, variate: call.Args[0], args: call.Args[1:], whole: true}
	}
	return m
}

// weighted returns d and w of the sum function(w) + d; w is nil if an expression is no such sum.
func weighted(x ast.Expr, function string) (d, w ast.Expr) {
	sum, ok := ast.Unparen(x).(*ast.Binary)
	if !ok || sum.Op != "+" {
		return nil, nil
	}
	c, ok := ast.Unparen(sum.X).(*ast.CallExpr)
	if !ok || c.Func.Name != function || len(c.Args) != 1 {
		return nil, nil
	}
	return sum.Y, ast.Unparen(c.Args[0])
}

// planMixture is planWith for a mixture.
func (e *emitter) planMixture(t *term, kind Kind) (reason string) {
	if kind == LinearPredictor {
		return "a mixture has no linear predictor"
	}
	for i := range t.mixed.of {
		of := &t.mixed.of[i]
		if reason := e.planWith(of, kind); reason != "" {
			return reason
		}
		if e.plans[planKey{of.at, of.variate}].moments.vector {
			return "the expected value of a mixture of outcomes with categories is not known"
		}
	}
	return ""
}

// mix returns the statements that draw an observation from one of the two distributions, or that
// compute its expected value.
func (e *emitter) mix(t *term) (out []ast.Stmt) {
	m, weight := t.mixed, e.now.expr(t.mixed.weight)
	if e.kind == Replicated {
		return []ast.Stmt{&ast.If{Cond: call("bernoulli_rng", weight), Then: &ast.BlockStmt{Stmts: e.draw(&m.of[0])}, Else: &ast.BlockStmt{Stmts: e.draw(&m.of[1])}}}
	}
	e.scope(func() {
		w, first := e.fresh("w"), e.fresh("first")
		at := t.place.at(e.now, nil, t.place.v.Type.Rank())
		value := func() ast.Expr { return indexed(variable(e.names[t.place.v]), at) }
		mean := binary("+", binary("*", variable(w), variable(first)), binary("*", binary("-", literal(1), variable(w)), value()))
		list := append(e.expect(&m.of[0]), declare(&ast.TypeExpr{Elem: "real"}, w, weight), declare(&ast.TypeExpr{Elem: "real"}, first, value()))
		list = append(list, e.expect(&m.of[1])...)
		list = append(list, e.unlessKnown(t.place.v, at, assign(value(), "=", mean)))
		out = []ast.Stmt{&ast.BlockStmt{Stmts: list}}
	})
	return out
}
