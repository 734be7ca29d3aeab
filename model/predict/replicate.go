package predict

import (
	"fmt"
	"slices"
	"strings"

	"github.com/ppl-lang/ppl/lang/ast"
	"github.com/ppl-lang/ppl/lang/check"
	"github.com/ppl-lang/ppl/lang/types"
)

// planRandom decides how to draw the observations of a term. If that is impossible, it returns the
// reason.
func (e *emitter) planRandom(t *term, p *plan, dist string, observation types.Type) (reason string) {
	v := t.place.v
	for _, c := range e.under[t.at] {
		if e.reads(c, func(u *check.Var) bool { return u == v }) {
			return "whether it is drawn here depends on the value of " + v.Name + " itself"
		}
	}
	if t.place.of != "" && t.place.inverse == "pow3" {
		return "the inverse of " + t.place.of + " is not known"
	}
	p.dist = dist
	var args []types.Type
	for k, a := range p.args {
		at := a.typ
		if p.each && p.split[k] {
			at, _ = at.Elem()
		}
		args = append(args, at)
	}
	name, ok := byHand[dist]
	result := observation
	if !ok || t.user {
		name = dist + "_rng"
		result, ok = e.resolve(name, args)
		if !ok {
			if len(e.candidates(name)) == 0 {
				if t.user {
					return fmt.Sprintf("there is no function %s that draws from the distribution", name)
				}
				return dist + " has no generator"
			}
			return name + " does not take these arguments"
		}
	}
	switch {
	case result.Equal(observation):
	case result.Kind == types.Vector && observation.Kind == types.RowVector && result.Dims == 0 && observation.Dims == 0:
		p.transposed = true
	case !result.Equal(observation) && result.Rank() != observation.Rank():
		return "one observation has several distributions"
	default:
		return fmt.Sprintf("%s draws %s, not %s", name, result, observation)
	}
	p.random = name
	if t.trunc != nil {
		d := distOf(p.function)
		if t.user || d == nil || !observation.IsScalar() {
			return "its own distribution, truncated, has no generator"
		}
	}
	e.observedBy(t)
	return ""
}

// byHand lists distributions whose generators take other arguments than their densities, see
// [generator].
var byHand = map[string]string{
	"multinomial": "multinomial_rng", "multinomial_logit": "multinomial_logit_rng", "dirichlet_multinomial": "dirichlet_multinomial_rng",
	"lkj_corr": "lkj_corr_rng", "lkj_corr_cholesky": "lkj_corr_cholesky_rng",
	"binomial_logit": "binomial_rng", "multi_normal_prec": "multi_normal_rng",
	"multi_gp": "multi_normal_rng", "multi_gp_cholesky": "multi_normal_cholesky_rng",
}

// observedBy records that the arguments of a term depend on observed values of the same variable
// that have not been redrawn before, if they do.
func (e *emitter) observedBy(t *term) {
	v := t.place.v
	is := func(u *check.Var) bool { return u == v }
	loops := e.loops[t.at]
	seen := map[*check.Var]bool{}
	note := func(text string) {
		if !slices.Contains(e.observed[v], text) {
			e.observed[v] = append(e.observed[v], text)
		}
	}
	var look func(n ast.Node)
	look = func(n ast.Node) {
		ast.Inspect(n, func(n ast.Node) bool {
			x, ok := n.(*ast.VarExpr)
			if !ok {
				return true
			}
			u := e.info.Uses[x]
			if u == nil || u == v || seen[u] {
				return true
			}
			seen[u] = true
			for _, s := range e.assigned[u] {
				switch {
				case u.Global:
					if e.reads(s.value, is) {
						note(fmt.Sprintf("%s is computed from %s in the %s block", u.Name, v.Name, u.Block))
					}
				case e.directly(s.value, is):
					// In the same iteration of the same loop, earlier statements run first.
					if (len(loops) == 0 || !slices.Contains(e.loops[s.at], loops[len(loops)-1])) && !e.readsKnown(s.value, v) {
						note(fmt.Sprintf("%s is computed from %s before it is drawn", u.Name, v.Name))
					}
					fallthrough
				default:
					look(s.value)
				}
			}
			return true
		}, nil)
	}
	for _, a := range t.args {
		look(a)
	}
}

// draw returns the statements that draw the observations of a term.
func (e *emitter) draw(t *term) (out []ast.Stmt) {
	p := e.plans[planKey{t.at, t.variate}]
	// Convert the arguments again, now with the names of the variables that have been drawn.
	dist, _ := density(t.function)
	args := make([]argument, len(t.args))
	for i, a := range t.args {
		args[i] = argument{expr: e.now.expr(a), typ: e.typeOf(a)}
	}
	if !t.user {
		_, args, _ = plain(dist, e.typeOf(t.variate), args)
	}
	p.args = args
	name := e.names[t.place.v]
	rank := t.place.v.Type.Rank()
	if strings.HasPrefix(p.dist, "multi_gp") && !t.user {
		e.scope(func() { out = []ast.Stmt{e.drawRows(t, &p, name)} })
		return out
	}
	return e.each(t, &p, func(i, variate ast.Expr, args []ast.Expr) []ast.Stmt {
		var value ast.Expr
		switch {
		case t.trunc != nil:
			value = e.drawTruncated(t, &p, args)
		case t.user:
			value = call(p.random, args...)
		default:
			value = generator(p.dist, variate, args)
		}
		if p.transposed {
			value = transposed(value)
		}
		if t.place.of != "" {
			value = call(t.place.inverse, value)
		}
		at := t.place.at(e.now, i, rank)
		if e.cut {
			value = e.cutAt(t.place.v, at, value)
		}
		element := indexed(variable(name), at)
		return []ast.Stmt{e.unlessGiven(t.place.v, at, e.unlessKnown(t.place.v, at, e.inBounds(t.place.v, at, rank, assign(element, "=", value), element)))}
	})
}

// drawRows draws the rows of a matrix of Gaussian processes, each with its own
// scale of the precision.
func (e *emitter) drawRows(t *term, p *plan, name string) ast.Stmt {
	i, y := e.fresh("i"), rename(nil).expr(t.variate)
	zero := call("rep_vector", literal(0), call("cols", y))
	w := element(p.args[1].expr, variable(i))
	value := call("multi_normal_rng", zero, binary("/", p.args[0].expr, w))
	if p.dist == "multi_gp_cholesky" {
		value = call("multi_normal_cholesky_rng", zero, binary("/", p.args[0].expr, call("sqrt", w)))
	}
	matrix := e.fresh("drawn")
	return &ast.BlockStmt{Stmts: []ast.Stmt{
		declare(typeExpr(types.MatrixType, []ast.Expr{call("rows", y), call("cols", y)}), matrix, nil),
		loop(i, call("rows", y), []ast.Stmt{assign(element(variable(matrix), variable(i)), "=", transposed(value))}),
		assign(indexed(variable(name), t.place.at(e.now, nil, t.place.v.Type.Rank())), "=", variable(matrix)),
	}}
}
