package marginal

import (
	"math"
	"slices"
	"strings"

	"github.com/ppl-lang/ppl/lang/ast"
	"github.com/ppl-lang/ppl/lang/check"
)

// peak is a bound of the log of a term for all values of its counts.
type peak struct {
	number float64
	terms  []peakTerm
}

// peakTerm is an expression that no count decides: a summand, the mode of a density, or the larger
// of two bounds.
type peakTerm struct {
	x      ast.Expr
	either []*peak
	mode   []ast.Expr // the arguments of the density, whose location is at
	at     int
	name   string
}

// locations has, for densities whose mode is at their location, the position of that among the
// arguments after the variate.
var locations = map[string]int{
	"normal": 0, "cauchy": 0, "double_exponential": 0, "logistic": 0, "gumbel": 0, "student_t": 1,
}

// limited reports whether the terms of a statement have a bound.
func (l *reader) limited(st ast.Stmt) bool {
	switch st := st.(type) {
	case *ast.BlockStmt:
		return !slices.ContainsFunc(st.Stmts, func(s ast.Stmt) bool { return !l.limited(s) })
	case *ast.If:
		return l.limited(st.Then) && (st.Else == nil || l.limited(st.Else))
	case *ast.For:
		return l.limited(st.Body)
	case *ast.ForEach:
		return l.limited(st.Body)
	}
	return l.peakOf(st) != nil
}

// peakOf returns the bound of a statement that adds one term or none; nil if it has none.
func (l *reader) peakOf(st ast.Stmt) *peak {
	out, ok := &peak{}, true
	switch st := st.(type) {
	case *ast.Tilde:
		c := l.p.info.Calls[st]
		ok = c != nil && st.Trunc == nil && l.peakOfCall(c, append([]ast.Expr{st.Variate}, st.Args...), out, nil)
	case *ast.TargetPlus:
		ok = l.peakOfTerm(st.Value, out, nil)
	case *ast.Assign:
		ok = l.p.observation(st) == nil || l.peakOfTerm(st.RHS, out, nil)
	}
	if !ok {
		return nil
	}
	return out
}

// most returns the bound of a factor of a kind, and statements that compute it. Its code runs once
// more, with the bounds of its terms in their place; nil if there is no bound.
func (w *writer) most(k *kind, c counter, all []factor, q clique) ([]ast.Stmt, ast.Expr) {
	l, e := w.p.reader(k.pattern), w.editor(k, c, all, q)
	code := k.pattern.leaf.code
	switch {
	case !k.pattern.limited(l):
		return nil, w.real(farAway)
	case len(code) == 1:
		if pk := l.peakOf(code[0]); pk != nil && !compound(code[0]) {
			return nil, pk.written(e)
		}
	}
	e.renamed = map[*check.Var]string{}
	for _, v := range k.pattern.leaf.copied {
		e.renamed[v] = w.p.names.fresh(v.Name)
	}
	sum := w.p.names.fresh("most")
	var body []ast.Stmt
	for _, st := range code {
		body = append(body, l.largest(e, st, sum))
	}
	return []ast.Stmt{w.declare(nil, "real", nil, sum, w.int(0)), w.block(body...)}, w.name(sum)
}

// limited reports whether the factors of a pattern have a bound for all values of their counts.
func (pat *pattern) limited(l *reader) bool {
	return !slices.ContainsFunc(pat.leaf.code, func(st ast.Stmt) bool { return !l.limited(st) })
}

// compound reports whether a statement has others.
func compound(st ast.Stmt) bool {
	switch st.(type) {
	case *ast.BlockStmt, *ast.If, *ast.For, *ast.ForEach:
		return true
	}
	return false
}

// largest returns a statement with the bounds of its terms added to a variable in their place.
func (l *reader) largest(e *editor, st ast.Stmt, sum string) ast.Stmt {
	w := e.w
	inner := func(st ast.Stmt, sum string) ast.Stmt { return w.block(l.largest(e, st, sum)) }
	switch st := st.(type) {
	case *ast.BlockStmt:
		var out []ast.Stmt
		for _, s := range st.Stmts {
			out = append(out, l.largest(e, s, sum))
		}
		return w.block(out...)
	case *ast.If:
		if len(l.counts(st.Cond)) == 0 {
			c := &ast.If{Base: w.base(), Cond: e.expr(st.Cond), Then: inner(st.Then, sum)}
			if st.Else != nil {
				c.Else = inner(st.Else, sum)
			}
			return c
		}
		then, other := w.p.names.fresh("then"), w.p.names.fresh("other")
		out := []ast.Stmt{w.declare(nil, "real", nil, then, w.int(0)), w.declare(nil, "real", nil, other, w.int(0)), inner(st.Then, then)}
		if st.Else != nil {
			out = append(out, inner(st.Else, other))
		}
		return w.block(append(out, w.assign(w.name(sum), "+=", w.call("fmax", w.name(then), w.name(other))))...)
	case *ast.For:
		return &ast.For{Base: w.base(), Var: st.Var, From: e.expr(st.From), To: e.expr(st.To), Body: inner(st.Body, sum)}
	case *ast.ForEach:
		c := *st
		c.Over, c.Body = e.expr(st.Over), inner(st.Body, sum)
		return &c
	case *ast.Tilde, *ast.TargetPlus:
		return w.assign(w.name(sum), "+=", l.peakOf(st).written(e))
	case *ast.Assign:
		if l.p.observation(st) != nil {
			return w.assign(w.name(sum), "+=", l.peakOf(st).written(e))
		}
	}
	return e.node(st).(ast.Stmt)
}

// peakOfTerm adds the bound of an expression. within are the variables of the function whose result
// it is.
func (l *reader) peakOfTerm(e ast.Expr, to *peak, within *check.Func) bool {
	e = ast.Unparen(e)
	if never(e) || l.negative(e) {
		return true
	}
	if within == nil && len(l.counts(e)) == 0 {
		if !l.p.info.Types[e].Type.IsScalar() {
			return false
		}
		to.terms = append(to.terms, peakTerm{x: e})
		return true
	}
	both := func(x, y ast.Expr) bool {
		switch a, b := (&peak{}), (&peak{}); {
		case never(x):
			return l.peakOfTerm(y, to, within)
		case never(y):
			return l.peakOfTerm(x, to, within)
		case !l.peakOfTerm(x, a, within) || !l.peakOfTerm(y, b, within):
			return false
		case len(a.terms)+len(b.terms) == 0:
			to.number += max(a.number, b.number)
		default:
			to.terms = append(to.terms, peakTerm{either: []*peak{a, b}})
		}
		return true
	}
	switch e := e.(type) {
	case *ast.Binary:
		if e.Op == "+" {
			return l.peakOfTerm(e.X, to, within) && l.peakOfTerm(e.Y, to, within)
		}
	case *ast.Cond:
		return both(e.Then, e.Else)
	case *ast.IntLit, *ast.RealLit:
		x, _ := number(e)
		to.number += x
		return true
	case *ast.CallExpr:
		switch {
		case e.Func.Name == "log_sum_exp" && len(e.Args) == 2:
			to.number += math.Ln2
			return both(e.Args[0], e.Args[1])
		case e.Func.Name == "log_mix" && len(e.Args) == 3:
			return both(e.Args[1], e.Args[2])
		}
		c := l.p.info.Calls[e]
		return c != nil && l.peakOfCall(c, e.Args, to, within)
	}
	return false
}

// negative reports whether an expression is written as one that is at most 0.
func (l *reader) negative(e ast.Expr) bool {
	u, ok := e.(*ast.Unary)
	if !ok || u.Op != "-" {
		return false
	}
	switch x := ast.Unparen(u.X).(type) {
	case *ast.CallExpr:
		return slices.Contains([]string{"square", "abs", "exp"}, x.Func.Name) && l.p.info.Types[x].Type.IsScalar()
	case *ast.Binary:
		n, ok := literal(x.Y)
		return x.Op == "^" && ok && n%2 == 0
	}
	return false
}

// peakOfCall adds the bound of a call: masses and probabilities are at most 1.
func (l *reader) peakOfCall(c *check.Call, args []ast.Expr, to *peak, within *check.Func) bool {
	name := strings.NewReplacer("_lupmf", "_lpmf", "_lupdf", "_lpdf").Replace(c.Name)
	stem, density := strings.CutSuffix(name, "_lpdf")
	at, located := locations[stem]
	switch {
	case c.Func != nil:
		return within != c.Func && l.peakOfFunction(c.Func, to)
	case strings.HasSuffix(name, "_lpmf"), strings.HasSuffix(name, "_lcdf"), strings.HasSuffix(name, "_lccdf"),
		name == "log_inv_logit", name == "log1m_inv_logit":
		return true
	case !density || !located || within != nil || len(args) < at+2:
	default:
		for i, a := range args {
			if i > 0 && i != at+1 && len(l.counts(a)) > 0 {
				return false
			}
		}
		to.terms = append(to.terms, peakTerm{name: name, mode: args, at: at + 1})
		return true
	}
	return false
}

// peakOfFunction adds the bound of a function whose results are bounded by numbers.
func (l *reader) peakOfFunction(f *check.Func, to *peak) bool {
	top, ok := math.Inf(-1), f.Decl.Body != nil
	ast.Inspect(f.Decl.Body, func(n ast.Node) bool {
		if r, is := n.(*ast.Return); is && ok {
			var of peak
			ok = r.Value != nil && l.peakOfTerm(r.Value, &of, f) && len(of.terms) == 0
			top = max(top, of.number)
		}
		return ok
	}, nil)
	to.number += top
	return ok && !math.IsInf(top, -1)
}

// written returns the bound.
func (pk *peak) written(e *editor) ast.Expr {
	w := e.w
	out := []ast.Expr{w.real(pk.number)}
	for _, t := range pk.terms {
		switch {
		case t.either != nil:
			out = append(out, w.call("fmax", t.either[0].written(e), t.either[1].written(e)))
			continue
		case t.mode == nil:
			out = append(out, w.grouped(e.expr(t.x)))
			continue
		}
		y := ast.Expr(w.int(0))
		var args []ast.Expr
		for i, a := range t.mode {
			if !e.p.info.Types[a].Type.IsScalar() {
				y = w.call("rep_vector", w.int(0), w.call("num_elements", e.expr(a)))
			}
			if i == t.at {
				args = append(args, w.int(0))
			} else if i > 0 {
				args = append(args, e.expr(a))
			}
		}
		out = append(out, w.builder.density(t.name, y, args...))
	}
	return w.sum(out)
}
