package ir

import (
	"math"

	"github.com/ppl-lang/ppl/lang/ast"
	"github.com/ppl-lang/ppl/lang/check"
	"github.com/ppl-lang/ppl/lang/types"
)

// truncation lowers the terms that a truncation adds to the log density: minus the log of the
// probability between the bounds, once for each variate, or negative infinity if a variate is
// outside the bounds.
//
// With one bound, the term needs one distribution function. If arguments are containers, that adds
// up the logs of all probabilities. With two bounds no such function exists, so the term is a loop
// over containers.
func (l *lowerer) truncation(s *ast.Tilde) Stmt {
	t := &truncation{lowerer: l, s: s, pos: Pos{s.Trunc.Span()}}
	args := l.exprs(s.Args)
	lower, upper := s.Trunc.Lower, s.Trunc.Upper
	var out Stmt
	switch {
	case lower != nil && upper != nil && containerAmong(args) >= 0:
		out = t.loop(args)
	case lower != nil && upper != nil:
		out = t.minus(t.between(args, false), args)
	case lower != nil:
		out = t.minus(t.cdf("_lccdf", lower, true, args, false), args)
	case upper != nil:
		out = t.minus(t.cdf("_lcdf", upper, false, args, false), args)
	default:
		return &Block{Pos: t.pos}
	}
	if upper != nil {
		out = &If{Pos: t.pos, Cond: l.library("operator>", t.variate("max"), l.expr(upper)), Then: t.outside(), Else: out}
	}
	if lower != nil {
		out = &If{Pos: t.pos, Cond: l.library("operator<", t.variate("min"), l.expr(lower)), Then: t.outside(), Else: out}
	}
	return out
}

// truncation is the state of lowering one truncation.
type truncation struct {
	*lowerer
	s   *ast.Tilde
	pos Pos
}

// containerAmong returns the index of the first argument that is a container, or -1.
func containerAmong(args []Expr) int {
	for k, a := range args {
		if !a.Type().IsScalar() {
			return k
		}
	}
	return -1
}

// variate returns the variate as one number: if it is a container, the result of f (such as min).
func (t *truncation) variate(f string) Expr {
	v := t.expr(t.s.Variate)
	if !v.Type().IsScalar() {
		v = t.library(f, v)
	}
	return v
}

func (t *truncation) outside() Stmt {
	return &Target{Pos: t.pos, Value: t.library("negative_infinity")}
}

// minus subtracts the log of a probability, once for each variate that shares it.
func (t *truncation) minus(log Expr, args []Expr) Stmt {
	if v := t.expr(t.s.Variate); !v.Type().IsScalar() && containerAmong(args) < 0 {
		log = t.library("operator*", log, t.library("size", v))
	}
	return &Target{Pos: t.pos, Value: t.library("operator-", log)}
}

// cdf returns a distribution function at a bound. below means that the values on the other side
// include the bound itself. element means that args are elements of the written arguments.
func (t *truncation) cdf(suffix string, bound ast.Expr, below bool, args []Expr, element bool) Expr {
	call := t.info.Truncations[check.TruncationCall{Bound: bound, Suffix: suffix, Element: element}]
	b := t.expr(bound)
	if below && call.Match.Params[0].Kind == types.Int {
		b = t.library("operator-", b, &IntLit{leaf(b.Span(), types.IntType, Data), 1})
	}
	return t.resolved(leaf(t.pos.At, types.RealType, Data), call, append([]Expr{b}, args...))
}

// between returns the log of the probability between both bounds. It is the difference of
// lower-tail probabilities or, right of the median, where these round to 1, of upper-tail
// probabilities.
func (t *truncation) between(args []Expr, element bool) Expr {
	lower, upper := t.s.Trunc.Lower, t.s.Trunc.Upper
	less := func() Expr { return t.cdf("_lcdf", lower, true, args, element) }
	left := t.library("operator<", less(), &RealLit{leaf(t.pos.At, types.RealType, Data), -math.Ln2})
	return &Cond{leaf(t.pos.At, types.RealType, Data), left,
		t.library("log_diff_exp", t.cdf("_lcdf", upper, false, args, element), less()),
		t.library("log_diff_exp", t.cdf("_lccdf", lower, true, args, element), t.cdf("_lccdf", upper, false, args, element))}
}

// loop subtracts the log of the probability between both bounds for each element
// of arguments that are containers.
func (t *truncation) loop(args []Expr) Stmt {
	at := t.pos.At
	out := &Block{Pos: t.pos}
	for k, a := range args {
		if _, ok := a.(*VarRef); !ok { // so that it is evaluated once
			before, once := t.apart(t.pos, a)
			out.Stmts = append(out.Stmts, before...)
			args[k] = once[0]
		}
	}
	i := &Var{ID: *t.frame, Name: "element", Type: types.IntType, Block: ast.Functions, Loop: true, Span: at}
	*t.frame++
	elems := make([]Expr, len(args))
	for k, a := range args {
		elems[k] = a
		if elem, ok := a.Type().Elem(); ok {
			elems[k] = &IndexExpr{leaf(at, elem, a.Level()), a, []Index{{Kind: IndexSingle, A: &VarRef{Typed: leaf(at, types.IntType, Data), Var: i}, At: at}}}
		}
	}
	out.Stmts = append(out.Stmts, &For{
		Pos: t.pos, Var: i,
		From: &IntLit{leaf(at, types.IntType, Data), 1},
		To:   t.library("size", args[containerAmong(args)]),
		Body: &Target{Pos: t.pos, Value: t.library("operator-", t.between(elems, true))},
	})
	return out
}
