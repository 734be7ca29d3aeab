package predict

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/ppl-lang/ppl/internal/sorting"
	"github.com/ppl-lang/ppl/lang/ast"
	"github.com/ppl-lang/ppl/lang/check"
	"github.com/ppl-lang/ppl/lang/printer"
	"github.com/ppl-lang/ppl/lang/types"
)

// This file finds the elements of parameters that statements give a prior: whole parameters, single
// elements, and elements in loops, such as those of a random walk.

// elementPrior is a statement that gives a parameter or some of its elements a prior.
type elementPrior struct {
	s     *ast.Tilde
	loops []*ast.For // around the statement, the outermost first
	at    []ast.Expr // indices of the elements: literals and variables of the loops; nil: all elements
}

// priorsOf collects the priors in a statement by parameter. If the statement has another form, it
// returns the reason why the prior cannot be drawn.
func (e *emitter) priorsOf(s ast.Stmt, loops []*ast.For, priors map[*check.Var][]elementPrior) (reason string) {
	if !e.findings[s].prior && !e.adds(s) {
		return ""
	}
	switch s := s.(type) {
	case *ast.BlockStmt:
		for _, inner := range s.Stmts {
			if reason := e.priorsOf(inner, loops, priors); reason != "" {
				return reason
			}
		}
		return ""
	case *ast.For:
		if leaves(s) {
			break // some iterations may skip the statement
		}
		return e.priorsOf(s.Body, append(slices.Clip(loops), s), priors)
	case *ast.Tilde:
		if len(e.findings[s].left) > 0 {
			break
		}
		v, at := e.wholeParameter(s.Variate), []ast.Expr(nil)
		if v == nil {
			v, at = e.elementsIn(s.Variate, loops)
		}
		if v == nil {
			return fmt.Sprintf("the left side of `%s` is neither a whole parameter nor one of its elements", printer.Line(s))
		}
		if at == nil && (len(loops) > 0 || len(priors[v]) > 0) {
			return fmt.Sprintf("%s has two priors", v.Name)
		}
		priors[v] = append(priors[v], elementPrior{s, loops, at})
		return ""
	}
	return fmt.Sprintf("`%s` is not of the form parameter ~ distribution(…)", brief(s))
}

// leaves reports whether a loop has a statement that ends it or an iteration early.
func leaves(s *ast.For) (found bool) {
	ast.Inspect(s, func(n ast.Node) bool {
		switch n.(type) {
		case *ast.Break, *ast.Continue:
			found = true
		}
		return true
	}, nil)
	return found
}

// elementsIn returns the parameter of which a variate is an element, as beta[1] or z[j, k], and the
// indices; nil if there is none. Every loop must choose one index, so that none repeats an element.
func (e *emitter) elementsIn(variate ast.Expr, loops []*ast.For) (*check.Var, []ast.Expr) {
	x, ok := ast.Unparen(variate).(*ast.IndexExpr)
	if !ok {
		return nil, nil
	}
	name, ok := ast.Unparen(x.X).(*ast.VarExpr)
	if !ok || e.info.Uses[name] == nil || !e.isParameter(e.info.Uses[name]) {
		return nil, nil
	}
	v := e.info.Uses[name]
	switch v.Constraint {
	case types.Unconstrained, types.LowerUpper, types.OffsetMultiplier:
	default: // an element of an array can be drawn, a part of a simplex cannot
		if len(x.Indices) != v.Type.Dims {
			return nil, nil
		}
	}
	var at []ast.Expr
	var chosen []*ast.For
	for _, index := range x.Indices {
		s, ok := index.(*ast.Single)
		if !ok {
			return nil, nil
		}
		if _, literal := number(s.X); !literal {
			l := e.among(s.X, loops)
			if l == nil || slices.Contains(chosen, l) {
				return nil, nil
			}
			chosen = append(chosen, l)
		}
		at = append(at, s.X)
	}
	if len(chosen) < len(loops) {
		return nil, nil
	}
	return v, at
}

// among returns the one of the loops whose variable an expression is; nil if there is none.
func (e *emitter) among(x ast.Expr, loops []*ast.For) *ast.For {
	if l := e.loopOf(x); slices.Contains(loops, l) {
		return l
	}
	return nil
}

// interval returns the first and the last element along a dimension.
func (e *emitter) interval(p elementPrior, dim int) (first, last ast.Expr) {
	if l := e.among(p.at[dim], p.loops); l != nil {
		return l.From, l.To
	}
	return p.at[dim], p.at[dim]
}

// arranged sorts the priors of a parameter by their elements. overlap says that some element may
// have two priors, and gap that some may have none: intervals must follow each other, from 1 to the
// size as it is written in the declaration.
func (e *emitter) arranged(v *check.Var, priors []elementPrior) (overlap, gap bool) {
	if len(priors) == 0 || priors[0].at == nil {
		return len(priors) > 1, false
	}
	sizes := sizesOf(v.Decl.(*ast.VarDecl).Type, v.Type)
	first := func(p elementPrior, dim int) float64 {
		x, _ := e.interval(p, dim)
		n, ok := number(x)
		if !ok {
			return 0
		}
		return n
	}
	same := func(a, b ast.Expr) bool {
		m, known := number(a)
		n, ok := number(b)
		return known && ok && m == n || printer.Line(ast.Unparen(a)) == printer.Line(ast.Unparen(b))
	}
	if len(priors) > 1 && slices.ContainsFunc(priors, func(p elementPrior) bool { return len(p.at) != 1 }) {
		return true, false // in several dimensions, only one statement is understood
	}
	sorting.Stable(priors, func(a, b elementPrior) int { return cmp.Compare(first(a, 0), first(b, 0)) })
	for dim := range priors[0].at {
		next := 1.0
		var last ast.Expr
		for i, p := range priors {
			n := first(p, dim)
			if i > 0 && n < next {
				return true, false
			}
			gap = gap || n != next
			_, last = e.interval(p, dim)
			end, ok := number(last)
			if !ok && i < len(priors)-1 {
				return true, false // the next may begin before this one ends
			}
			next = end + 1
		}
		gap = gap || !same(last, sizes[dim])
	}
	return false, gap
}

// earlier reports whether an expression in a prior reads only elements of the same parameter that
// are drawn before: those of earlier statements, and in a loop over t, those at t - 1 or before.
func (e *emitter) earlier(v *check.Var, p elementPrior, x ast.Expr) bool {
	if len(p.at) != 1 {
		return false
	}
	l := e.among(p.at[0], p.loops)
	from, _ := e.interval(p, 0)
	first, _ := number(from)
	reads, good := 0, 0
	ast.Inspect(x, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.VarExpr:
			if e.info.Uses[n] == v {
				reads++
			}
		case *ast.IndexExpr:
			name, ok := ast.Unparen(n.X).(*ast.VarExpr)
			if !ok || e.info.Uses[name] != v {
				break
			}
			s, ok := n.Indices[0].(*ast.Single)
			if !ok {
				break
			}
			if k, ok := number(s.X); ok && k >= 1 && k < first {
				good++
			}
			if b, ok := ast.Unparen(s.X).(*ast.Binary); ok && b.Op == "-" && l != nil && e.among(b.X, p.loops) == l {
				if lag, ok := number(b.Y); ok && lag >= 1 && lag < first && lag == float64(int(lag)) {
					good++
				}
			}
		}
		return true
	}, nil)
	return reads == good
}

// within returns the loops of a prior around the statements that draw its elements.
func (e *emitter) within(p elementPrior, body []ast.Stmt) []ast.Stmt {
	for _, l := range slices.Backward(p.loops) {
		c := *l
		c.From, c.To, c.Body = e.now.expr(l.From), e.now.expr(l.To), &ast.BlockStmt{Stmts: body}
		body = []ast.Stmt{&c}
	}
	return body
}
