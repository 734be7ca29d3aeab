package marginal

import (
	"slices"
	"strings"

	"github.com/ppl-lang/ppl/lang/ast"
	"github.com/ppl-lang/ppl/lang/check"
)

// This file bounds what a sum over a count leaves out, from its last two values.
//
// Let D(n) be the change of the log of a term from n - 1 to n. If all parts of the density that
// read the count are concave, later changes are at most D(n), and the terms beyond n are at most
// those of a geometric series with that log ratio. A tapering part has later changes of at most
// max(0, its own D(n)). So max(0, -its own D(n)) is added to the log ratio. For a clumped part,
// such as a negative binomial distribution, only lgamma(N + a) - lgamma(N + 1) counts, which is
// tapering.
//
// A rounded part may be -inf although the log of the exact number is not: 1 - q^N is 1 for a large
// N. It is concave, so that it is below its last finite value there, of which a tenth is taken off
// for rounding. Its change counts only where it is positive. So that values in between are not
// overlooked either, the terms at which it is -inf are bounded too.

// summand is a summand of a term of the density.
type summand struct {
	at    *ast.Tilde // a distribution statement
	x     ast.Expr   // or an expression
	minus bool
	shape shape
	pair  [2]ast.Expr // of a clumped one: u and v of lgamma(u) - lgamma(v)

	cond      ast.Expr // the parts are those of a branch
	then, els []summand
}

// add notes the parts of a statement.
func (s *shaper) add(st ast.Stmt, parts []summand) {
	var visit func(ps []summand)
	visit = func(ps []summand) {
		for _, p := range ps {
			visit(p.then)
			visit(p.els)
			switch {
			case p.cond != nil:
			case !p.shape.term() || p.shape == clumped && p.pair[0] == nil:
				s.fail(st)
			case p.shape >= clumped && p.x != nil && !s.scalars([]ast.Expr{p.x}):
				s.fail(p.x)
			}
		}
	}
	visit(parts)
	s.parts[st] = parts
}

// split returns the summands of an expression.
func (s *shaper) split(e ast.Expr, minus bool) []summand {
	switch x := ast.Unparen(e).(type) {
	case *ast.Unary:
		if x.Op == "-" || x.Op == "+" {
			return s.split(x.X, minus != (x.Op == "-"))
		}
	case *ast.Binary:
		if x.Op == "+" || x.Op == "-" {
			if s.scalars([]ast.Expr{x.X}) == s.scalars([]ast.Expr{x.Y}) { // a number is added to each element
				return s.paired(append(s.split(x.X, minus), s.split(x.Y, minus != (x.Op == "-"))...))
			}
		}
	case *ast.Cond:
		if s.scalars([]ast.Expr{x}) && s.readsAny(x) && s.of(x.Cond) == fixed && !s.several {
			s.of(x.Cond)
			return []summand{{cond: x.Cond, then: s.split(x.Then, minus), els: s.split(x.Else, minus)}}
		}
	case *ast.CallExpr:
		if c := s.p.info.Calls[x]; c != nil && s.readsAny(x) && !minus {
			return []summand{s.family(summand{x: e}, c, x.Args)}
		}
	}
	k := s.of(e)
	if minus && k != convex {
		k = k.negative()
	} else if minus {
		k = concave
	}
	return []summand{{x: e, minus: minus, shape: k}}
}

// family gives a call its shape, and its pair if it is clumped.
func (s *shaper) family(p summand, c *check.Call, args []ast.Expr) summand {
	p.shape = s.called(c, args)
	if p.shape != clumped {
		return p
	}
	size := args[len(args)-1]
	if strings.HasPrefix(c.Name, "neg_binomial_lp") || strings.HasPrefix(c.Name, "neg_binomial_lup") {
		size = args[1]
	}
	b := builder{args[0].Span()}
	p.pair = [2]ast.Expr{b.op("+", b.grouped(args[0]), b.grouped(size)), b.plus(b.grouped(args[0]), 1)}
	return p
}

// paired joins lgamma(u) with -lgamma(v) where u - v is free of the count: the difference is
// tapering.
func (s *shaper) paired(ps []summand) []summand {
	gamma := func(p summand) ast.Expr {
		if c, ok := ast.Unparen(p.x).(*ast.CallExpr); ok && c.Func.Name == "lgamma" && s.scalars(c.Args) && s.of(c.Args[0]) == linear {
			return c.Args[0]
		}
		return nil
	}
	for i := range ps {
		if ps[i].x == nil || ps[i].minus || ps[i].shape != convex || gamma(ps[i]) == nil {
			continue
		}
		for j := range ps {
			if ps[j].x == nil || !ps[j].minus || gamma(ps[j]) == nil || !s.parallel(gamma(ps[i]), gamma(ps[j])) {
				continue
			}
			b := builder{ps[i].x.Span()}
			ps[i] = summand{x: &ast.Paren{Base: b.base(), X: b.op("-", ps[i].x, ps[j].x)}, shape: tapering}
			return s.paired(slices.Delete(ps, j, j+1))
		}
	}
	return ps
}

// parallel reports whether the difference of two expressions is free of the count.
func (s *shaper) parallel(x, y ast.Expr) bool {
	a, ok := s.slope(x)
	b, ok2 := s.slope(y)
	return ok && ok2 && a == b
}

// slope returns the factor of the count in a linear expression, if that is known.
func (s *shaper) slope(e ast.Expr) (float64, bool) {
	e = ast.Unparen(e)
	if !s.readsAny(e) {
		return 0, true
	}
	switch x := e.(type) {
	case *ast.VarExpr, *ast.IndexExpr:
		return 1, s.occurrence(x) >= 0
	case *ast.Unary:
		a, ok := s.slope(x.X)
		if x.Op == "-" {
			a = -a
		}
		return a, ok && (x.Op == "-" || x.Op == "+")
	case *ast.Binary:
		a, ok := s.slope(x.X)
		b, ok2 := s.slope(x.Y)
		switch {
		case !ok || !ok2:
		case x.Op == "+":
			return a + b, true
		case x.Op == "-":
			return a - b, true
		case x.Op == "*":
			if n, ok := number(x.X); ok {
				return n * b, true
			} else if n, ok := number(x.Y); ok {
				return n * a, true
			}
		}
	}
	return 0, false
}

// scalars reports whether all expressions are numbers.
func (s *shaper) scalars(es []ast.Expr) bool {
	return !slices.ContainsFunc(es, func(e ast.Expr) bool {
		t, ok := s.p.info.Types[e]
		return ok && !t.Type.IsScalar()
	})
}

// has reports whether some part has one of these shapes.
func has(ps []summand, shapes ...shape) bool {
	return slices.ContainsFunc(ps, func(p summand) bool {
		return p.cond == nil && slices.Contains(shapes, p.shape) || has(p.then, shapes...) || has(p.els, shapes...)
	})
}

// parts returns the parts of a kind of factor, as functions of the eliminated element; nil if it
// does not read that.
func (k *kind) parts() map[ast.Stmt][]summand {
	if k.pattern == nil {
		return nil
	}
	return k.pattern.parts[slices.Index(k.axes, 0)]
}

// any reports whether a kind of factor has a part with one of these shapes.
func (k *kind) any(shapes ...shape) bool {
	for _, ps := range k.parts() {
		if has(ps, shapes...) {
			return true
		}
	}
	return false
}

// any reports whether some factor of a group has a part with one of these shapes.
func (g *group) any(shapes ...shape) bool {
	return slices.ContainsFunc(g.kinds, func(k *kind) bool { return k.any(shapes...) })
}

// rises reports whether the ratios of a step's terms may rise. Steps that add messages up have
// another bound.
func (g *group) rises() bool {
	return g.any(rounded, clumped, tapering, multiple) && !slices.ContainsFunc(g.kinds, func(k *kind) bool { return k.pattern == nil })
}

// riser writes what bounds the terms of a sum beyond its last value: the log of the last term, and
// of a ratio that later ones do not exceed.
type riser struct {
	w    *writer
	g    *group
	c    counter
	m    messages
	now  clique // the last value
	was  clique // the one before, or the one before with the same remainder
	last string // variables: the log of the last term
	rate string // "": not computed, and rounded parts are left out
	all  bool   // terms are computed once more
}

// past returns statements that bound the mass beyond the last value of a step, and the bound. Its
// terms are lp, and sum is the log of their sum. If outer is not nil, it is a further term, lp is
// not read, and factors of the kind without are left out.
func (w *writer) past(g *group, c counter, q clique, m messages, lp string, sum, outer ast.Expr, without *kind) ([]ast.Stmt, ast.Expr) {
	period := max(w.p.turns[g.unknowns[0]].period, 1)
	r := &riser{w: w, g: g, c: c, m: m, rate: w.p.names.fresh("rate"), all: outer != nil}
	mass := w.p.names.fresh("mass")
	var before []ast.Stmt
	left := ast.Expr(w.real(0))
	rest, low := "", ""
	if outer == nil && g.any(rounded) {
		rest = w.p.names.fresh("rest")
		low = w.p.names.fresh("low")
		before = append(r.rest(q, rest), w.declare(nil, "real", nil, low, w.call(w.helper("last_rounded"), w.name(lp), w.name(rest))))
		left = w.call(w.helper("mass_rounded"), w.name(lp), w.name(rest), w.name(low), sum)
	}
	r.at(q, clone(q.hi[0], nil), period)
	n := ast.Expr(w.call("size", w.name(lp)))
	var k string
	if period > 1 {
		k = w.p.names.fresh("k")
		r.at(q, w.op("-", w.op("+", clone(q.hi[0], nil), w.name(k)), w.int(period)), period)
		n = w.op("-", w.op("+", n, w.name(k)), w.int(period))
	}
	term := func(of string, back int64) ast.Expr { return w.at(w.name(of), w.plus(clone(n, nil), -back)) }
	start, ratio := term(lp, 0), ast.Expr(w.op("-", term(lp, 0), term(lp, period)))
	switch {
	case outer != nil:
		start, ratio = outer, w.int(0)
	case rest != "":
		rounds := w.op("==", term(lp, 0), w.never())
		start = &ast.Cond{Base: w.base(), Cond: rounds, Then: w.op("+", term(rest, 0), w.name(low)), Else: start}
		rises := w.op("&&", w.op(">", term(lp, 0), w.never()), w.op(">", w.op("-", term(lp, 0), term(rest, 0)), w.op("-", term(lp, period), term(rest, period))))
		ratio = &ast.Cond{Base: w.base(), Cond: rises, Then: ratio, Else: w.op("-", term(rest, 0), term(rest, period))}
	}
	r.last = w.p.names.fresh("last")
	body := []ast.Stmt{w.declare(nil, "real", nil, r.last, start), w.declare(nil, "real", nil, r.rate, ratio)}
	for i, kd := range g.kinds {
		if kd != without {
			body = append(body, r.kind(i, kd)...)
		}
	}
	body = append(body, w.assign(w.name(mass), "+=", w.call(w.helper("mass_past"), w.name(r.last), w.name(r.rate), clone(sum, nil))))
	if period > 1 {
		body = []ast.Stmt{w.loop(k, w.int(1), w.int(period), body...)}
	}
	return slices.Concat(before, []ast.Stmt{w.declare(nil, "real", nil, mass, left)}, body), w.name(mass)
}

// at sets the last value.
func (r *riser) at(q clique, value ast.Expr, period int64) {
	r.now, r.was = q, q
	r.now.values, r.was.values = slices.Clone(q.values), slices.Clone(q.values)
	r.now.values[0], r.was.values[0] = value, r.w.plus(clone(value, nil), -period)
}

// rest returns statements that compute a vector with the terms without their rounded parts.
func (r *riser) rest(q clique, name string) []ast.Stmt {
	w := r.w
	v := w.p.names.fresh("v")
	t := &riser{w: w, g: r.g, c: r.c, m: r.m, last: w.p.names.fresh("last"), all: true}
	t.at(q, w.name(v), 1)
	body := []ast.Stmt{w.declare(nil, "real", nil, t.last, w.int(0))}
	for i, kd := range t.g.kinds {
		body = append(body, t.kind(i, kd)...)
	}
	body = append(body, w.assign(w.at(w.name(name), w.from1(w.name(v), q.lo[0])), "=", w.name(t.last)))
	return []ast.Stmt{w.declare(nil, "vector", []ast.Expr{w.from1(q.hi[0], q.lo[0])}, name, nil), w.loop(v, clone(q.lo[0], nil), clone(q.hi[0], nil), body...)}
}

// kind returns the statements for the factors of a kind.
func (r *riser) kind(i int, kd *kind) []ast.Stmt {
	w := r.w
	rows := make([][]factor, len(r.g.rows))
	for k, row := range r.g.rows {
		rows[k] = row.factors[i]
	}
	switch {
	case kd.any(rounded, clumped, tapering, multiple):
	case !r.all:
		return nil
	default:
		body, now := w.added(kd, r.c, rows, r.now, r.m)
		body = append(body, w.assign(w.name(r.last), "+=", now))
		if r.rate == "" {
			return body
		}
		before, was := w.added(kd, r.c, rows, r.was, r.m)
		return slices.Concat(body, before, []ast.Stmt{w.assign(w.name(r.rate), "+=", w.op("-", clone(now, nil), w.grouped(was)))})
	}
	if !slices.ContainsFunc(rows, func(fs []factor) bool { return len(fs) != 1 }) {
		return r.factors(kd, r.c, slices.Concat(rows...))
	}
	j, all, from, to := w.inTurn(rows)
	return []ast.Stmt{w.loop(j.name, w.of(r.c, from), w.of(r.c, to), r.factors(kd, j, all)...)}
}

// factors returns the statements for some factors of a kind: their code, with all variables twice.
func (r *riser) factors(kd *kind, c counter, all []factor) []ast.Stmt {
	w := r.w
	now, was := w.editor(kd, c, all, r.now), w.editor(kd, c, all, r.was)
	now.sum = r.last
	now.renamed, was.renamed = map[*check.Var]string{}, map[*check.Var]string{}
	for _, st := range kd.pattern.leaf.code {
		ast.Inspect(st, func(n ast.Node) bool {
			if d, ok := n.(*ast.VarDecl); ok {
				v := w.p.def(d)
				now.renamed[v], was.renamed[v] = w.p.names.fresh(v.Name), w.p.names.fresh(v.Name)
			}
			return true
		}, nil)
	}
	var out []ast.Stmt
	for _, st := range kd.pattern.leaf.code {
		out = append(out, r.stmt(kd.parts(), now, was, st)...)
	}
	return []ast.Stmt{w.block(out...)}
}

// stmt returns what replaces a statement of the code.
func (r *riser) stmt(parts map[ast.Stmt][]summand, now, was *editor, st ast.Stmt) (out []ast.Stmt) {
	b := builder{st.Span()}
	inner := func(st ast.Stmt) ast.Stmt { return b.block(r.stmt(parts, now, was, st)...) }
	ps, ok := parts[st]
	switch st := st.(type) {
	case *ast.BlockStmt:
		for _, t := range st.Stmts {
			out = append(out, r.stmt(parts, now, was, t)...)
		}
		return []ast.Stmt{b.block(out...)}
	case *ast.If:
		s := &ast.If{Base: b.base(), Cond: now.expr(st.Cond), Then: inner(st.Then)}
		if st.Else != nil {
			s.Else = inner(st.Else)
		}
		return []ast.Stmt{s}
	case *ast.For:
		return []ast.Stmt{&ast.For{Base: b.base(), Var: st.Var, From: now.expr(st.From), To: now.expr(st.To), Body: inner(st.Body)}}
	case *ast.Tilde:
		if st.Trunc != nil && r.all {
			return []ast.Stmt{now.truncated(st)}
		}
	}
	if !ok && r.rate == "" {
		return []ast.Stmt{now.node(st).(ast.Stmt)}
	} else if !ok {
		return []ast.Stmt{now.node(st).(ast.Stmt), was.node(st).(ast.Stmt)}
	}
	for _, sum := range []struct {
		name string
		of   func(now, was *editor, p summand) ast.Expr
	}{{r.rate, r.rise}, {r.last, r.term}} {
		if x := sums(now, was, ps, sum.of); x != nil && sum.name != "" {
			out = append(out, b.assign(b.name(sum.name), "+=", x))
		}
	}
	return out
}

// sums returns the sum of what a function gives for parts; nil if that is nothing.
func sums(now, was *editor, ps []summand, of func(now, was *editor, p summand) ast.Expr) ast.Expr {
	var terms []ast.Expr
	for _, p := range ps {
		x := of(now, was, p)
		if p.cond != nil {
			then, els := sums(now, was, p.then, of), sums(now, was, p.els, of)
			if then == nil && els == nil {
				continue
			}
			b := builder{p.cond.Span()}
			if then == nil {
				then = b.int(0)
			}
			if els == nil {
				els = b.int(0)
			}
			x = &ast.Paren{Base: b.base(), X: &ast.Cond{Base: b.base(), Cond: now.expr(p.cond), Then: then, Else: els}}
		}
		if x != nil {
			terms = append(terms, x)
		}
	}
	if len(terms) == 0 {
		return nil
	}
	return now.w.sum(terms)
}

// value returns the value of a part.
func (p summand) value(e *editor) ast.Expr {
	if p.at != nil {
		return e.tilde(p.at)
	}
	x := e.expr(p.x)
	if t, ok := e.p.info.Types[p.x]; ok && !t.Type.IsScalar() {
		x = e.w.call("sum", x)
	}
	x = e.w.grouped(x)
	if p.minus {
		x = e.w.grouped(&ast.Unary{Base: e.w.base(), Op: "-", X: x})
	}
	return x
}

// rise returns by how much more than in its last change a part may rise; for a rounded part, and
// for others if terms are computed once more, that includes the last change.
func (r *riser) rise(now, was *editor, p summand) ast.Expr {
	w := r.w
	zero := w.real(0)
	var change ast.Expr
	if p.cond == nil && p.shape != rounded && r.all {
		change = w.op("-", p.value(now), p.value(was))
	}
	fall := func(before, after ast.Expr) ast.Expr {
		x := w.call("fmax", zero, w.op("-", before, w.grouped(after)))
		if change != nil {
			return w.op("+", change, x)
		}
		return x
	}
	switch {
	case p.cond != nil || p.shape == fixed || p.shape == rounded && !r.all:
		return nil
	case p.shape == rounded:
		less := w.op(">", p.value(now), p.value(was))
		return &ast.Paren{Base: w.base(), X: &ast.Cond{Base: w.base(), Cond: less, Then: w.op("-", p.value(now), p.value(was)), Else: zero}}
	case p.shape == clumped:
		h := func(e *editor) ast.Expr {
			return w.op("-", w.call("lgamma", e.expr(p.pair[0])), w.call("lgamma", e.expr(p.pair[1])))
		}
		return fall(h(was), h(now))
	case p.shape >= tapering:
		return fall(p.value(was), p.value(now))
	}
	return change
}

// floor is above the log of a number where a rounded part is -inf: no double is between 1 - e^-36.7
// and 1.
const floor = -36

// term returns the value of a part at the last value of the count, if terms are computed once more.
func (r *riser) term(now, was *editor, p summand) ast.Expr {
	w := r.w
	switch {
	case p.cond != nil || !r.all || p.shape == rounded && r.rate == "":
		return nil
	case p.shape != rounded:
		return p.value(now)
	}
	x := &ast.Cond{Base: w.base(), Cond: w.op(">", p.value(now), w.never()), Then: p.value(now), Else: w.int(floor)}
	return &ast.Paren{Base: w.base(), X: x}
}
