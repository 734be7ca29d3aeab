package predict

import (
	"fmt"
	"slices"

	"github.com/ppl-lang/ppl/compile"
	"github.com/ppl-lang/ppl/lang/ast"
	"github.com/ppl-lang/ppl/lang/check"
	"github.com/ppl-lang/ppl/lang/types"
)

// This file draws the missing elements of covariates in new data. Covariates that may have missing
// elements have a distribution in the model. Where new data have their values, these are kept:
// predictions are conditional on them. The elements that new data lack are no parameters of the
// fit. They are drawn at each draw, before what depends on them.

// Covariates lists the data variables that may have missing elements, that a statement of the model
// draws, and whose values another variable's distribution depends on. drawn has all those that a
// statement draws.
func Covariates(p *compile.Program) (covariates, drawn []string) {
	tree, info := p.Syntax()
	e := &emitter{
		analysis: analyse(tree, info, nil), kind: Replicated, used: namesOf(tree), comments: map[ast.Stmt]string{},
		dims: map[*check.Var]int{}, names: map[*check.Var]string{},
	}
	e.gather()
	for _, v := range e.variables {
		if !v.Missing {
			continue
		}
		drawn = append(drawn, v.Name)
		is := func(u *check.Var) bool { return u == v }
		for _, f := range e.findings {
			if slices.ContainsFunc(f.terms, func(t term) bool {
				return t.place.v != v && (slices.ContainsFunc(t.args, func(a ast.Expr) bool { return e.reads(a, is) }) ||
					slices.ContainsFunc(e.under[t.at], func(c ast.Expr) bool { return e.reads(c, is) }))
			}) {
				covariates = append(covariates, v.Name)
				break
			}
		}
	}
	return covariates, drawn
}

// keeps reports whether a variable has the values of the data, so that it is not drawn.
func (e *emitter) keeps(v *check.Var) bool {
	return e.kind == Replicated && slices.Contains(e.standing, v.Name) && !slices.Contains(e.holes, v.Name)
}

// sums reports whether the derived program has discrete parameters. Missing elements of new data
// are none.
func (e *emitter) sums(p *compile.Program) bool {
	if e.kind.isPrior() {
		return false
	}
	for name := range p.Discretes() {
		if !slices.Contains(e.holes, name) {
			return true
		}
	}
	return false
}

// filled returns an error if the missing elements of new data cannot be drawn.
func (e *emitter) filled() error {
	for _, name := range e.holes {
		v := e.dataVariable(name)
		if err := e.unread(v, "the new data lack values of "+name); err != nil {
			return err
		}
		for _, s := range e.order {
			for _, t := range e.findings[s].terms {
				if t.place.v == v && (t.mixed != nil || !e.plans[planKey{t.at, t.variate}].each && !e.typeOf(t.variate).IsScalar()) {
					return fmt.Errorf("the new data lack values of %s, which line %d of the model does not draw one by one given the others", name, t.at.Span().Begin().Line)
				}
			}
		}
	}
	return nil
}

// unlessGiven wraps a statement that assigns an element in a condition, so that it runs only if the
// data lack the element.
func (e *emitter) unlessGiven(v *check.Var, at []ast.Index, s ast.Stmt) ast.Stmt {
	if !slices.Contains(e.holes, v.Name) {
		return s
	}
	element := indexed(variable(v.Name), at)
	lacks := call("is_nan", element)
	if v.Type.Scalar() == types.Int {
		lacks = binary("==", element, literal(Hole))
	}
	return &ast.If{Cond: lacks, Then: &ast.BlockStmt{Stmts: []ast.Stmt{s}}}
}

// maxAttempts is the maximum number of times that a missing element is drawn to be within its
// bounds.
const maxAttempts = 10000

// inBounds repeats a statement that draws an element of new data, until it is within the bounds of
// a declaration that says that elements may be missing: in a fit, these are the bounds of a
// parameter. Elements that are no numbers stay as they are, and so do other data, whose bounds only
// check values. at has the indices of the element, and rank the number of those of a number.
func (e *emitter) inBounds(v *check.Var, at []ast.Index, rank int, draw ast.Stmt, element ast.Expr) ast.Stmt {
	if !v.Missing || len(at) != rank || !slices.Contains(e.holes, v.Name) && !e.unknown[v] {
		return draw
	}
	var inside ast.Expr
	for _, s := range e.tree.Block(ast.Data).Stmts {
		d, ok := s.(*ast.VarDecl)
		if !ok || e.info.Defs[s] != v {
			continue
		}
		for _, b := range d.Type.Bounds {
			op, known := map[string]string{"lower": ">=", "upper": "<="}[b.Kind]
			if !known {
				continue
			}
			end := e.now.expr(b.Value)
			if t := e.typeOf(b.Value); !t.IsScalar() {
				end = indexed(end, at)
			}
			c := binary(op, element, end)
			if inside == nil {
				inside = c
			} else {
				inside = binary("&&", inside, c)
			}
		}
	}
	if inside == nil {
		return draw
	}
	var out ast.Stmt
	e.scope(func() {
		k := e.fresh("attempt")
		never := &ast.Reject{Args: []ast.Expr{&ast.StringLit{Value: v.Name + " lacks a value, and its distribution is hardly ever within its bounds"}}}
		outside := binary("||", binary("==", variable(k), literal(0)), &ast.Unary{Op: "!", X: &ast.Paren{X: inside}})
		out = &ast.BlockStmt{Stmts: []ast.Stmt{
			declare(&ast.TypeExpr{Elem: "int"}, k, literal(0)),
			&ast.While{Cond: outside, Body: &ast.BlockStmt{Stmts: []ast.Stmt{
				&ast.If{Cond: binary("==", variable(k), literal(maxAttempts)), Then: &ast.BlockStmt{Stmts: []ast.Stmt{never}}},
				draw,
				assign(variable(k), "+=", literal(1)),
			}}},
		}}
	})
	return out
}
