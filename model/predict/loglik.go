package predict

import (
	"strings"

	"github.com/ppl-lang/ppl/lang/ast"
	"github.com/ppl-lang/ppl/lang/types"
	"github.com/ppl-lang/ppl/stdlib"
)

// logDensity returns the statements that add a term to the log likelihood of its observations, or,
// for [Terms], count the term, or for [Censoring] say on which side the observations are.
func (e *emitter) logDensity(t *term) []ast.Stmt {
	op, one := "+=", literal(1)
	if e.kind == Censoring {
		op = "="
		if strings.HasSuffix(t.function, "_lcdf") {
			one = literal(-1)
		}
	}
	if t.negative && e.kind == LogLikelihood {
		op = "-="
	}
	add := func(i, value ast.Expr) []ast.Stmt {
		at := t.place.at(nil, i, e.dims[t.place.v])
		if e.kind.counts() {
			value = one
		}
		if e.kind == Censoring && (e.sided(t.place.v) || e.limited(t.place.v)) {
			value = e.sideAt(t.place.v, at)
		}
		place := indexed(variable(e.names[t.place.v]), at)
		return []ast.Stmt{assign(place, op, value)}
	}
	if t.function == "" {
		return add(nil, e.now.expr(t.value))
	}
	p := e.plans[planKey{t.at, t.variate}]
	return e.each(t, &p, func(i, variate ast.Expr, args []ast.Expr) []ast.Stmt {
		if e.kind.counts() {
			return add(i, nil)
		}
		return add(i, e.density(t, &p, variate, args))
	})
}

// each returns a loop over the observations of a term, or only the result of body if there is one
// observation. body receives the index of the observation, its variate and its arguments.
func (e *emitter) each(t *term, p *plan, body func(i, variate ast.Expr, args []ast.Expr) []ast.Stmt) (out []ast.Stmt) {
	argsOf := func(i ast.Expr) []ast.Expr {
		var out []ast.Expr
		for k, a := range p.args {
			switch {
			case !p.each || !p.split[k]:
				out = append(out, a.expr)
			case a.elem != nil:
				out = append(out, a.elem(i))
			default:
				out = append(out, element(a.expr, i))
			}
		}
		return out
	}
	variate := rename(nil).expr(t.variate)
	if !p.each {
		return body(nil, variate, argsOf(nil))
	}
	e.scope(func() {
		name := e.fresh("i")
		i := variable(name)
		out = []ast.Stmt{loop(name, call("size", variate), body(i, element(variate, i), argsOf(i)))}
	})
	return out
}

// density returns the log density of one observation.
func (e *emitter) density(t *term, p *plan, variate ast.Expr, args []ast.Expr) ast.Expr {
	value := given(p.function, variate, args)
	if t.trunc == nil {
		return value
	}
	if t.place.v.Censored {
		return e.truncatedDensity(t, p, variate, args)
	}
	dist, _ := density(p.function)
	lower, upper := rename(nil).expr(t.trunc.Lower), rename(nil).expr(t.trunc.Upper)
	below := func() ast.Expr { // the largest value below the lower bound
		if e.typeOf(t.variate).Kind == types.Int {
			return binary("-", lower, literal(1))
		}
		return lower
	}
	var outside ast.Expr
	switch {
	case lower != nil && upper != nil:
		value = binary("-", value, call("log_diff_exp", given(dist+"_lcdf", upper, args), given(dist+"_lcdf", below(), args)))
		outside = binary("||", binary("<", variate, lower), binary(">", variate, upper))
	case lower != nil:
		value = binary("-", value, given(dist+"_lccdf", below(), args))
		outside = binary("<", variate, lower)
	case upper != nil:
		value = binary("-", value, given(dist+"_lcdf", upper, args))
		outside = binary(">", variate, upper)
	default:
		return value
	}
	return &ast.Cond{Cond: outside, Then: call("negative_infinity"), Else: value}
}

// discrete reports whether a density is that of a distribution of integers.
func discrete(function string) bool { return strings.HasSuffix(function, "_lpmf") }

// distOf returns the library's declaration of a distribution; nil if it is not a distribution of
// single numbers.
func distOf(function string) *stdlib.Dist {
	for _, o := range stdlib.Language().Lookup(function) {
		if f, ok := o.(*stdlib.Func); ok && f.Dist != nil {
			return f.Dist
		}
	}
	return nil
}
