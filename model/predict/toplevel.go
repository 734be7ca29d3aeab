package predict

import (
	"slices"
	"strings"

	"github.com/ppl-lang/ppl/compile"
	"github.com/ppl-lang/ppl/lang/ast"
	"github.com/ppl-lang/ppl/lang/check"
	"github.com/ppl-lang/ppl/lang/printer"
	"github.com/ppl-lang/ppl/lang/types"
)

// This file finds the priors at the top level, to which power-scaling applies (Kallioinen and
// others, 2024; R's package priorsense). A distribution with estimated parameters, such as u ~
// normal(0, tau), is part of a population model. Scaling it would change a part that adapts to the
// data, not an assumption of the model's author.

// lprior is the name that brms and priorsense use for the sum of the log priors.
const lprior = "lprior"

// topStmt returns the part of a statement that is a prior at the top level. It records which parts
// it keeps and which it leaves out.
func (e *emitter) topStmt(s ast.Stmt) (out []ast.Stmt) {
	f := e.findings[s]
	keep := func(top bool, s ast.Stmt) {
		text := printer.Line(s)
		if _, isTarget := s.(*ast.TargetPlus); isTarget {
			text = strings.TrimSuffix(text, ";")
		}
		if top {
			e.scaled = append(e.scaled, text)
			out = append(out, s)
		} else {
			e.unscaled = append(e.unscaled, text)
		}
	}
	switch s := s.(type) {
	case *ast.Tilde:
		if f.prior {
			var given []ast.Node
			for _, x := range s.Args {
				given = append(given, x)
			}
			if s.Trunc != nil {
				for _, x := range []ast.Expr{s.Trunc.Lower, s.Trunc.Upper} {
					if x != nil {
						given = append(given, x)
					}
				}
			}
			keep(e.top(s.Dist.Name, s.Variate, given), s)
		}
	case *ast.TargetPlus:
		for _, p := range addends(s.Value, false, nil) {
			if one := e.part(s, p); !one.prior && !(one.unclear != "" && f.prior) || !e.reads(p.value, e.isParameter) {
				continue
			}
			keep(e.topAddend(p.value), p.added())
		}
	case *ast.CallStmt:
		if strings.HasSuffix(s.Call.Func.Name, "_lp") {
			e.unscaled = append(e.unscaled, printer.Line(s))
			return nil
		}
		out = append(out, s)
	}
	return out
}

// topAddend reports whether an addend of the log density is at the top level: a density whose
// arguments are not parameters, a term that depends on one parameter, such as the log Jacobian of a
// change of variables, or brms's lprior.
func (e *emitter) topAddend(value ast.Expr) bool {
	switch x := ast.Unparen(value).(type) {
	case *ast.VarExpr:
		if x.Name == lprior {
			return true
		}
	case *ast.CallExpr:
		if conditional(x.Func.Name) && len(x.Args) > 0 {
			var given []ast.Node
			for _, a := range x.Args[1:] {
				given = append(given, a)
			}
			dist, _ := density(x.Func.Name)
			return e.top(dist, x.Args[0], given)
		}
	}
	read := map[*check.Var]bool{}
	e.reads(value, func(v *check.Var) bool {
		if e.isParameter(v) {
			read[v] = true
		}
		return false
	})
	return len(read) == 1
}

// Varying lists the parameters with several elements whose distribution depends on other
// parameters, such as the effects of groups, or that are standardised and multiplied by another
// parameter. Their distribution describes a population. They are in the order of their
// declarations.
func Varying(p *compile.Program) (names []string) {
	tree, info := p.Syntax()
	e := &emitter{analysis: analyse(tree, info, nil), kind: TopLevel, used: namesOf(tree), comments: map[ast.Stmt]string{}, dims: map[*check.Var]int{}, names: map[*check.Var]string{}}
	e.gather()
	found := map[*check.Var]bool{}
	note := func(dist string, variate ast.Expr, given []ast.Expr) {
		var nodes []ast.Node
		for _, x := range given {
			nodes = append(nodes, x)
		}
		if e.top(dist, variate, nodes) {
			return
		}
		e.directly(variate, func(v *check.Var) bool {
			found[v] = found[v] || v.Global && v.Block == ast.Parameters && v.Type.Rank() > 0
			return false
		})
	}
	for s, f := range e.findings {
		if !f.prior {
			continue
		}
		switch s := s.(type) {
		case *ast.Tilde:
			note(s.Dist.Name, s.Variate, s.Args)
		case *ast.TargetPlus:
			for _, part := range addends(s.Value, false, nil) {
				if x, ok := ast.Unparen(part.value).(*ast.CallExpr); ok && conditional(x.Func.Name) && len(x.Args) > 0 {
					dist, _ := density(x.Func.Name)
					note(dist, x.Args[0], x.Args[1:])
				}
			}
		}
	}
	if b := tree.Block(ast.Parameters); b != nil {
		for _, s := range b.Stmts {
			if v := info.Defs[s]; found[v] {
				names = append(names, v.Name)
			}
		}
	}
	return names
}

// top reports whether the distribution of a variate with these arguments is a prior at the top
// level. Parameters with bounds are scales, not standardised effects.
func (e *emitter) top(dist string, variate ast.Expr, given []ast.Node) bool {
	if slices.ContainsFunc(given, func(n ast.Node) bool { return e.reads(n, e.isParameter) }) {
		return false
	}
	if !isStandardNormal(dist, given) {
		return true
	}
	standardised := false
	e.directly(variate, func(v *check.Var) bool {
		standardised = standardised || e.isParameter(v) && v.Type.Rank() > 0 && v.Constraint != types.LowerUpper && e.multiplied(v)
		return false
	})
	return !standardised
}

// isNumber reports whether an expression is a constant with this value.
func isNumber(n ast.Node, value float64) bool {
	e, ok := n.(ast.Expr)
	if !ok {
		return false
	}
	x, ok := number(e)
	return ok && x == value
}

// multiplied reports whether a parameter is multiplied by another parameter somewhere, as
// standardised effects are by their scale: mu + tau * z.
func (e *emitter) multiplied(v *check.Var) bool {
	is := func(u *check.Var) bool { return u == v }
	other := func(u *check.Var) bool { return e.isParameter(u) && u != v }
	found := false
	for _, kind := range []ast.BlockKind{ast.TransformedParameters, ast.Model} {
		b := e.tree.Block(kind)
		if b == nil {
			continue
		}
		ast.Inspect(b, func(n ast.Node) bool {
			for i, x := range e.factors(n) {
				for k, y := range e.factors(n) {
					found = found || i != k && e.directly(x, is) && e.reads(y, other)
				}
			}
			return !found
		}, nil)
	}
	return found
}

// factors returns the factors of a product. A call of a user function with effects and their scales
// counts as one, such as scale_r_cor(z, sd, L) in programs of brms.
func (e *emitter) factors(n ast.Node) []ast.Expr {
	switch x := n.(type) {
	case *ast.Binary:
		if x.Op == "*" || x.Op == ".*" {
			return []ast.Expr{x.X, x.Y}
		}
	case *ast.CallExpr:
		if call := e.info.Calls[x]; call != nil && call.Func != nil || x.Func.Name == "diag_pre_multiply" || x.Func.Name == "diag_post_multiply" {
			return x.Args
		}
	}
	return nil
}
