package marginal

import (
	"slices"

	"github.com/ppl-lang/ppl/lang/ast"
)

// The probabilities of all values of all elements come from a pass in the order opposite to that of
// the elimination. The outside message of a step is, as a function of the elements around it, the
// sum of everything that the step's own message leaves out. A step's clique with its factors and
// its outside message is the joint distribution of the clique. Without one of its factors it gives
// the outside message of the step that made the factor, or, if the factor is an observation, the
// density of all other observations. What is left out is left out of the sum, not divided by, so
// that values of density 0 count.

// modeSuffix and probabilitySuffix form the names of generated quantities.
const (
	modeSuffix        = "_mode"
	probabilitySuffix = "_probability"
)

// outside returns statements that compute the messages, and then in each step the probabilities or
// the log densities of observations.
func (w *writer) outside() []ast.Stmt {
	out, m := w.density(false, drawing)
	beyond := messages{name: map[int]string{}, first: m.first, width: m.width}
	for _, s := range out { // an outside message for each message
		d, ok := s.(*ast.VarDecl)
		if !ok {
			continue
		}
		for rank, name := range m.name {
			if name == d.Name.Name {
				beyond.name[rank] = w.p.names.fresh("outside")
				c := clone(d, nil)
				c.Name.Name = beyond.name[rank]
				out = append(out, c)
			}
		}
	}
	for _, gs := range slices.Backward(w.blocks) {
		out = append(out, w.looped(gs, true, func(g *group, c counter) []ast.Stmt {
			return w.belief(g, c, m, beyond)
		}))
	}
	return out
}

// part is a factor of a step, as the statements of belief need it.
type part struct {
	kind *kind
	c    counter  // numbers the factors: that of the rows or, if a step may have many, that of a loop
	all  []factor // in the order of the counter
	from ast.Expr // of many: the numbers of the step's factors
	to   ast.Expr
	term string // the variable with the log of the factor; of many: a vector
	left string // of an observation: the variable with the log density of the others
}

// each returns statements for each factor of a part.
func (w *writer) each(p *part, body func() []ast.Stmt) []ast.Stmt {
	if !p.kind.many {
		return body()
	}
	return []ast.Stmt{w.loop(p.c.name, clone(p.from, nil), clone(p.to, nil), body()...)}
}

// variable returns a variable of the current factor.
func (w *writer) variable(p *part, name string) ast.Expr {
	if !p.kind.many {
		return w.name(name)
	}
	return w.at(w.name(name), w.plus(w.op("-", w.name(p.c.name), clone(p.from, nil)), 1))
}

// declared returns the declaration of a variable of each factor.
func (w *writer) declared(p *part, name string, init ast.Expr) ast.Stmt {
	if !p.kind.many {
		return w.declare(nil, "real", nil, name, init)
	}
	n := w.plus(w.op("-", clone(p.to, nil), clone(p.from, nil)), 1)
	if init != nil {
		init = w.call("rep_vector", init, clone(n, nil))
	}
	return w.declare(nil, "vector", []ast.Expr{n}, name, init)
}

func (w *writer) never() ast.Expr { return w.call("negative_infinity") }

// belief returns the statements of a step: all values of its clique are visited.
func (w *writer) belief(g *group, c counter, m, beyond messages) []ast.Stmt {
	if name, _ := w.free(g); name != "" {
		return nil // no other observation depends on it
	}
	rank := len(g.unknowns) - 1
	q := w.bounds(g, c)
	for k := range q.values {
		q.values[k] = w.name(w.p.names.fresh([]string{"v", "a"}[min(k, 1)]))
	}
	var parts []*part
	for k, kd := range g.kinds {
		p := &part{kind: kd, c: c, term: w.p.names.fresh("term")}
		if kd.many {
			p.c = counter{name: w.p.names.fresh("j")}
			from, to := make([]int64, len(g.rows)), make([]int64, len(g.rows))
			for i, r := range g.rows {
				from[i] = int64(len(p.all) + 1)
				p.all = append(p.all, r.factors[k]...)
				to[i] = int64(len(p.all))
			}
			for i := range p.all {
				p.c.values = append(p.c.values, int64(i+1))
			}
			p.from, p.to = w.of(c, from), w.of(c, to)
		} else {
			for _, r := range g.rows {
				p.all = append(p.all, r.factors[k][0])
			}
		}
		if kd.pattern != nil && kd.pattern.tagged() {
			p.left = w.p.names.fresh("left")
		}
		parts = append(parts, p)
	}
	all, outer := w.p.names.fresh("whole"), w.p.names.fresh("outer")
	lp := w.p.names.fresh("lp")
	probable := w.p.o.Purpose == Probabilities
	open := slices.ContainsFunc(g.rows, func(r row) bool { return w.p.open(r.clique[0]) })
	var out []ast.Stmt
	if probable || open {
		n := w.from1(q.hi[0], q.lo[0])
		out = append(out, w.declare(nil, "vector", []ast.Expr{n}, lp, w.call("rep_vector", w.never(), clone(n, nil))))
	}
	if !probable {
		out = append(out, w.declare(nil, "real", nil, all, w.never()))
	}
	// The outside messages of the steps behind begin with nothing.
	toMessage := func(p *part, m messages) ast.Expr {
		return w.message(m, q, p.kind.axes, p.c, w.numbersOf(p.all))
	}
	loops := func(axes []int, body []ast.Stmt) []ast.Stmt {
		for _, a := range slices.Backward(axes) {
			name := q.values[a].(*ast.VarExpr).Name
			body = []ast.Stmt{w.loop(name, clone(q.lo[a], nil), clone(q.hi[a], nil), body...)}
		}
		return body
	}
	for _, p := range parts {
		switch {
		case p.kind.pattern == nil:
			out = append(out, w.each(p, func() []ast.Stmt {
				return loops(p.kind.axes, []ast.Stmt{w.assign(toMessage(p, beyond), "=", w.never())})
			})...)
		case p.left != "":
			out = append(out, w.declared(p, p.left, w.never()))
		}
	}
	// Of counts: the terms without an observation, or all of a part's, which fall more slowly.
	without := map[*part]string{}
	for _, p := range parts {
		if open && p.left != "" {
			n := w.from1(q.hi[0], q.lo[0])
			without[p] = w.p.names.fresh("without")
			out = append(out, w.declare(nil, "vector", []ast.Expr{n}, without[p], w.call("rep_vector", w.never(), clone(n, nil))))
		}
	}
	// The terms at a value of the clique.
	start := ast.Expr(w.int(0))
	if rank > 0 {
		start = w.message(beyond, q, around(rank), c, column(g, func(r *row) int64 { return r.number }))
	}
	body := []ast.Stmt{w.declare(nil, "real", nil, outer, start)}
	sums := []ast.Expr{w.name(outer)} // whose sum is that of all terms; that of part k has number k+1
	for _, p := range parts {
		if !p.kind.many {
			inner, value := w.value(p.kind, p.c, p.all, q, m)
			body = append(append(body, inner...), w.declare(nil, "real", nil, p.term, value))
			sums = append(sums, w.name(p.term))
			continue
		}
		body = append(body, w.declared(p, p.term, nil))
		body = append(body, w.each(p, func() []ast.Stmt {
			inner, value := w.value(p.kind, p.c, p.all, q, m)
			return append(inner, w.assign(w.variable(p, p.term), "=", value))
		})...)
		sums = append(sums, w.call("sum", w.name(p.term)))
	}
	add := func(to, value ast.Expr) ast.Stmt {
		return w.assign(to, "=", w.call("log_sum_exp", clone(to, nil), value))
	}
	for k, p := range parts {
		if p.kind.pattern != nil && p.left == "" {
			continue
		}
		var others []ast.Expr
		for i, x := range sums {
			if i != k+1 {
				others = append(others, clone(x, nil))
			}
		}
		if name := without[p]; name != "" {
			rest := make([]ast.Expr, len(others))
			for i, x := range others {
				rest[i] = clone(x, nil)
			}
			body = append(body, add(w.at(w.name(name), w.from1(q.values[0], q.lo[0])), w.sum(rest)))
		}
		to := func() ast.Expr {
			if p.kind.pattern == nil {
				return toMessage(p, beyond)
			}
			return w.variable(p, p.left)
		}
		if !p.kind.many {
			body = append(body, add(to(), w.sum(others)))
			continue
		}
		// The sums of the part's factors before each and behind each.
		before, behind := w.p.names.fresh("before"), w.p.names.fresh("behind")
		n := w.plus(w.op("-", clone(p.to, nil), clone(p.from, nil)), 2)
		for k, v := range []ast.Expr{w.name(p.term), w.call("reverse", w.name(p.term))} {
			name := []string{before, behind}[k]
			body = append(body, w.declare(nil, "vector", []ast.Expr{clone(n, nil)}, name, w.call("cumulative_sum", w.call("append_row", w.int(0), v))))
		}
		others = append(others,
			w.at(w.name(before), w.plus(w.op("-", w.name(p.c.name), clone(p.from, nil)), 1)),
			w.at(w.name(behind), w.plus(w.op("-", clone(p.to, nil), w.name(p.c.name)), 1)))
		body = append(body, w.each(p, func() []ast.Stmt {
			return []ast.Stmt{add(to(), w.sum(others))}
		})...)
	}
	if probable || open {
		body = append(body, add(w.at(w.name(lp), w.from1(q.values[0], q.lo[0])), w.sum(sums)))
	}
	if !probable {
		body = append(body, add(w.name(all), w.sum(sums)))
	}
	axes := make([]int, rank+1)
	for k := range axes {
		axes[k] = (k + 1) % (rank + 1) // the element's own values innermost
	}
	out = append(out, loops(axes, body)...)
	checked := func(lp string, without *kind) []ast.Stmt {
		if w.p.overflow || !g.rises() {
			return w.checked(g, c, q, m, lp)
		}
		return w.checkedBy(g, c, lp, func(sum ast.Expr) ([]ast.Stmt, ast.Expr) {
			body, bound := w.past(g, c, q, m, lp, sum, clone(start, nil), without)
			mass := w.p.names.fresh("mass")
			body = append(body, w.assign(w.name(mass), "+=", bound))
			return append([]ast.Stmt{w.declare(nil, "real", nil, mass, w.int(0))}, loops(around(rank), body)...), w.name(mass)
		})
	}
	out = append(out, checked(lp, nil)...)
	for _, p := range parts {
		if name := without[p]; name != "" {
			out = append(out, checked(name, p.kind)...)
		}
	}
	if probable {
		return append(out, w.assignProbabilities(g, c, q, lp)...)
	}
	for _, p := range parts {
		if p.left != "" {
			out = append(out, w.each(p, func() []ast.Stmt {
				return []ast.Stmt{w.assign(w.observation(p.kind.pattern, p.c, p.all), "+=", w.op("-", w.name(all), w.variable(p, p.left)))}
			})...)
		}
	}
	return out
}
