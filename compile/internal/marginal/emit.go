package marginal

import (
	"fmt"
	"slices"

	"github.com/ppl-lang/ppl/lang/ast"
	"github.com/ppl-lang/ppl/lang/check"
)

// writer writes the program without discrete parameters.
type writer struct {
	builder
	p      *program
	steps  []*step
	blocks []block           // all steps
	merged []block           // the steps that differ, for the density
	arrays map[string]string // names of index arrays, by content
	stem   string            // of these names
	tables []ast.Stmt        // their declarations, for transformed data

	marks map[*unknown]string // the marks of counts, while the density is written; see Cut
	bare  map[*unknown]bare

	called map[string]string // functions of massBeyond, by their names there

	vectors map[string]bool // with the terms of messages
	freely  map[int]bool    // the elements whose sum is 1, see free.go

	sharing *sharing // of the density, while it is written

	possible map[factor]*table // of factors that may be 0
	work     int               // values that regions has examined
}

// vector notes a vector with the terms of a message.
func (w *writer) vector(name string) {
	if w.vectors == nil {
		w.vectors = map[string]bool{}
	}
	w.vectors[name] = true
}

// counter is a loop variable that numbers rows, or factors of a list.
type counter struct {
	name   string
	values []int64 // of the rows, in order
}

// of returns an expression for a number that differs by row: a constant, a multiple of the counter
// plus a constant, or an element of an index array.
func (w *writer) of(c counter, ns []int64) ast.Expr {
	if len(ns) == 0 {
		return w.int(0)
	}
	if !slices.ContainsFunc(ns, func(n int64) bool { return n != ns[0] }) {
		return w.int(ns[0])
	}
	dx := c.values[1] - c.values[0]
	if slope := ns[1] - ns[0]; dx != 0 && slope%dx == 0 && slope != 0 {
		slope /= dx
		start := ns[0] - slope*c.values[0]
		fits := true
		for i, n := range ns {
			fits = fits && n == slope*c.values[i]+start
		}
		if fits && slope == 1 {
			return w.plus(w.name(c.name), start)
		} else if fits && slope > 1 {
			return w.plus(w.op("*", w.int(slope), w.name(c.name)), start)
		} else if fits && slope == -1 {
			return w.op("-", w.int(start), w.name(c.name))
		}
	}
	lo, hi := slices.Min(c.values), slices.Max(c.values)
	table := make([]int64, hi-lo+1)
	for i := range table {
		table[i] = ns[0]
	}
	for i, n := range ns {
		table[c.values[i]-lo] = n
	}
	return w.at(w.table(table), w.plus(w.name(c.name), 1-lo))
}

// table returns the name of an index array.
func (w *writer) table(ns []int64) ast.Expr {
	key := fmt.Sprint(ns)
	name, ok := w.arrays[key]
	if !ok {
		name = fmt.Sprintf("%s%d", w.stem, len(w.tables)+1)
		w.arrays[key] = name
		w.tables = append(w.tables, w.declare([]ast.Expr{w.int(int64(len(ns)))}, "int", nil, name, w.ints(ns)))
	}
	return w.name(name)
}

// messages are the names of the arrays of messages, by rank. A message is a vector with a number
// for each combination of values, those of the last element fastest.
type messages struct {
	name  map[int]string
	first map[int]int64   // the number of the first message
	width map[int][]int64 // the largest number of values, by element
}

// flat returns the position in a message of the values of some elements of a clique.
func (w *writer) flat(m messages, q clique, axes []int) ast.Expr {
	rank := len(axes)
	if rank == 1 {
		return w.from1(q.values[axes[0]], q.lo[axes[0]])
	}
	var terms []ast.Expr
	start, stride := int64(1), int64(1)
	for k, a := range slices.Backward(axes) {
		x := clone(q.values[a], nil)
		if n, ok := literal(q.lo[a]); ok {
			start -= stride * n
		} else {
			x = &ast.Paren{Base: w.base(), X: w.op("-", x, clone(q.lo[a], nil))}
		}
		if stride > 1 {
			x = w.op("*", w.int(stride), x)
		}
		terms = append(terms, x)
		stride *= m.width[rank][k]
	}
	slices.Reverse(terms)
	return w.plus(w.sum(terms), start)
}

// message returns an element of messages: those with these numbers, at the values of some elements.
func (w *writer) message(m messages, q clique, axes []int, c counter, numbers []int64) ast.Expr {
	rank := len(axes)
	ns := make([]int64, len(numbers))
	for i, n := range numbers {
		ns[i] = n - m.first[rank] + 1
	}
	return w.at(w.name(m.name[rank]), w.of(c, ns), w.flat(m, q, axes))
}

// around returns the positions of the elements of a clique other than the first.
func around(rank int) []int {
	axes := make([]int, rank)
	for k := range axes {
		axes[k] = k + 1
	}
	return axes
}

// declareMessages declares the arrays of messages.
func (w *writer) declareMessages() (messages, []ast.Stmt) {
	m := messages{name: map[int]string{}, first: map[int]int64{}, width: map[int][]int64{}}
	last := map[int]int64{}
	width := m.width
	for _, s := range w.steps {
		r := len(s.around)
		if r == 0 {
			continue
		}
		n := int64(s.message)
		if _, ok := m.first[r]; !ok {
			m.first[r], last[r], width[r] = n, n, make([]int64, r)
		}
		m.first[r], last[r] = min(m.first[r], n), max(last[r], n)
		for k, e := range s.around {
			width[r][k] = max(width[r][k], w.p.elements[e].size())
		}
	}
	var out []ast.Stmt
	for r := 1; r < 64; r++ {
		if _, ok := m.first[r]; !ok {
			continue
		}
		m.name[r] = w.p.names.fresh("message")
		dims := []ast.Expr{w.int(last[r] - m.first[r] + 1)}
		size := int64(1)
		for _, n := range width[r] {
			size *= n
		}
		if r == 1 {
			out = append(out, w.declare(append(dims, w.int(size)), "real", nil, m.name[r], nil))
		} else {
			out = append(out, w.declare(dims, "vector", []ast.Expr{w.int(size)}, m.name[r], nil))
		}
	}
	return m, out
}

// looped returns loops over the rows of a block. reverse goes from the last row to the first.
func (w *writer) looped(gs block, reverse bool, row func(g *group, c counter) []ast.Stmt) ast.Stmt {
	mark := w.p.names.mark()
	defer w.p.names.release(mark)
	g := gs[0]
	body := func(c counter) (out []ast.Stmt) {
		if len(gs) == 1 {
			return row(g, c)
		}
		for k := range gs {
			if reverse {
				k = len(gs) - 1 - k
			}
			mark := w.p.names.mark()
			out = append(out, w.block(row(gs[k], c)...))
			w.p.names.release(mark)
		}
		return out
	}
	n := len(g.rows)
	c := counter{name: w.p.names.fresh("q"), values: make([]int64, n)}
	segments := append(slices.Clone(g.segments), n)
	contiguous := len(gs) == 1
	for s := 1; s < len(segments); s++ {
		for k := segments[s-1] + 1; k < segments[s]; k++ {
			contiguous = contiguous && g.rows[k].number == g.rows[k-1].number+1
		}
	}
	for k := range c.values {
		c.values[k] = int64(k + 1)
		if contiguous {
			c.values[k] = g.rows[k].number
		}
	}
	if n == 1 {
		return w.block(body(c)...)
	}
	var from, to []int64
	for s := 1; s < len(segments); s++ {
		from, to = append(from, c.values[segments[s-1]]), append(to, c.values[segments[s]-1])
	}
	loop := func(from, to ast.Expr) ast.Stmt {
		if !reverse {
			return w.loop(c.name, from, to, body(c)...)
		}
		back := w.p.names.fresh("back")
		at := w.declare(nil, "int", nil, c.name, w.op("-", w.op("+", clone(from, nil), clone(to, nil)), w.name(back)))
		return w.loop(back, from, to, append([]ast.Stmt{at}, body(c)...)...)
	}
	if len(from) == 1 {
		return loop(w.int(from[0]), w.int(to[0]))
	}
	s := counter{name: w.p.names.fresh("s")}
	for k := range from {
		s.values = append(s.values, int64(k+1))
	}
	inner := loop(w.of(s, from), w.of(s, to))
	if !reverse {
		return w.loop(s.name, w.int(1), w.int(int64(len(from))), inner)
	}
	back := w.p.names.fresh("back")
	at := w.declare(nil, "int", nil, s.name, w.op("-", w.int(int64(len(from)+1)), w.name(back)))
	return w.loop(back, w.int(1), w.int(int64(len(from))), at, inner)
}

// column collects a number of each row.
func column(g *group, f func(r *row) int64) []int64 {
	out := make([]int64, len(g.rows))
	for i := range g.rows {
		out[i] = f(&g.rows[i])
	}
	return out
}

// clique has expressions for the elements of the rows' cliques.
type clique struct {
	values []ast.Expr // the value of each element
	lo, hi []ast.Expr
}

// bounds returns a clique without values.
func (w *writer) bounds(g *group, c counter) clique {
	var q clique
	for k := range g.unknowns {
		q.lo = append(q.lo, w.of(c, column(g, func(r *row) int64 { return w.p.elements[r.clique[k]].lo })))
		q.hi = append(q.hi, w.of(c, column(g, func(r *row) int64 { return w.p.elements[r.clique[k]].hi })))
	}
	q.values = make([]ast.Expr, len(g.unknowns))
	return q
}

// from1 returns the position, from 1, of a value among those of its element.
func (w *writer) from1(value, lo ast.Expr) ast.Expr {
	if n, ok := literal(lo); ok {
		return w.plus(clone(value, nil), 1-n)
	}
	return w.plus(w.op("-", clone(value, nil), clone(lo, nil)), 1)
}

// terms returns statements that store in vector lp the sums of a step's factors for each value of
// its element. The other values of the clique are given.
func (w *writer) terms(g *group, c counter, q clique, m messages, lp string) []ast.Stmt {
	return w.partial(g, c, q, m, lp, "", q.lo[0], q.hi[0], func(*kind) bool { return true })
}

// own reports whether factors of a kind read the eliminated element alone. Their sum is the same
// for all values of the other elements.
func (k *kind) own() bool { return len(k.axes) == 1 && k.axes[0] == 0 }

// partial is terms for the values from lo to hi and the factors of some kinds, plus the elements of
// another vector, if any, which has all values.
func (w *writer) partial(g *group, c counter, q clique, m messages, lp, plus string, lo, hi ast.Expr, of func(*kind) bool) []ast.Stmt {
	v := w.p.names.fresh("v")
	q.values[0] = w.name(v)
	before, terms, after, numbers, vectors := w.sums(g, c, q, m, of)
	if plus != "" && len(terms) > 0 {
		terms = append(terms, w.at(w.name(plus), w.from1(w.name(v), q.lo[0])))
	} else if plus != "" {
		vectors = append(vectors, w.name(plus))
	}
	n := w.from1(hi, lo)
	out := []ast.Stmt{w.declare(nil, "vector", []ast.Expr{n}, lp, nil)}
	if each := len(terms) > 0 || len(numbers)+len(vectors) == 0; each {
		if mark := w.mark(g, c, q, false); mark != nil {
			terms = append(terms, mark)
		}
	} else if mark := w.mark(g, c, q, true); mark != nil {
		vectors = append(vectors, mark)
	}
	if len(terms) > 0 || len(numbers)+len(vectors) == 0 {
		body := append(before, w.assign(w.at(w.name(lp), w.from1(w.name(v), lo)), "=", w.sum(terms)))
		out = append(out, w.loop(v, clone(lo, nil), clone(hi, nil), body...))
		if len(numbers)+len(vectors) == 0 {
			return out
		}
		vectors = append(vectors, w.name(lp))
	}
	if len(vectors) == 0 {
		vectors = append(vectors, w.call("rep_vector", w.int(0), clone(n, nil)))
	}
	return append(append(out, after...), w.assign(w.name(lp), "=", w.sum(append(numbers, vectors...))))
}

// sums returns the terms of a step at a value of its element, and the statements that compute them,
// and terms for all values with theirs, of the kinds for which of is true.
func (w *writer) sums(g *group, c counter, q clique, m messages, of func(*kind) bool) (before []ast.Stmt, terms []ast.Expr, after []ast.Stmt, numbers, vectors []ast.Expr) {
	for k, kd := range g.kinds {
		if !of(kd) {
			continue
		}
		if s := g.selectors[k]; s != nil {
			inner, ns, vs := w.selected(g, c, k, s, q, m)
			after, numbers, vectors = append(after, inner...), append(numbers, ns...), append(vectors, vs...)
			continue
		}
		var rows [][]factor
		for _, r := range g.rows {
			rows = append(rows, r.factors[k])
		}
		inner, value := w.added(kd, c, rows, q, m)
		before, terms = append(before, inner...), append(terms, value)
	}
	return before, terms, after, numbers, vectors
}

// maxWritten bounds the factors of a kind that are terms of a sum, not a loop, if all rows have the
// same number. With raters' answers, the gradient takes 0.33 of the time for two in a row, 0.8 for
// four and 1.2 for five.
const maxWritten = 4

// added returns the sum of the factors of a kind in each row, and the statements that compute it.
func (w *writer) added(kd *kind, c counter, rows [][]factor, q clique, m messages) ([]ast.Stmt, ast.Expr) {
	if !slices.ContainsFunc(rows, func(fs []factor) bool { return len(fs) != 1 }) {
		return w.value(kd, c, slices.Concat(rows...), q, m)
	}
	if n := len(rows[0]); n <= maxWritten && !slices.ContainsFunc(rows, func(fs []factor) bool { return len(fs) != n }) {
		var before []ast.Stmt
		terms := make([]ast.Expr, n)
		column := make([]factor, len(rows))
		for k := range terms {
			for i, fs := range rows {
				column[i] = fs[k]
			}
			inner, value := w.value(kd, c, slices.Clone(column), q, m)
			before, terms[k] = append(before, inner...), value
		}
		return before, w.sum(terms)
	}
	f := w.p.names.fresh("f")
	j, all, from, to := w.inTurn(rows)
	inner, value := w.value(kd, j, all, q, m)
	inner = append(inner, w.assign(w.name(f), "+=", value))
	return []ast.Stmt{w.declare(nil, "real", nil, f, w.int(0)), w.loop(j.name, w.of(c, from), w.of(c, to), inner...)}, w.name(f)
}

// value returns the value of a factor, and the statements that compute it.
func (w *writer) value(k *kind, c counter, all []factor, q clique, m messages) ([]ast.Stmt, ast.Expr) {
	before, value := w.inside(k, c, all, q, m)
	if k.pattern == nil || !w.p.overflow {
		return before, value
	}
	return w.beyondLast(k, c, all, q, m, before, value)
}

// inside is value where no count overflows.
func (w *writer) inside(k *kind, c counter, all []factor, q clique, m messages) ([]ast.Stmt, ast.Expr) {
	if k.pattern == nil {
		return nil, w.message(m, q, k.axes, c, w.numbersOf(all))
	}
	pat, e := k.pattern, w.editor(k, c, all, q)
	edge := !pat.given() && w.p.edge(pat.leaf)
	if len(pat.leaf.code) == 1 && !edge {
		switch s := pat.leaf.code[0].(type) {
		case *ast.Tilde:
			if s.Trunc == nil {
				return nil, e.tilde(s)
			}
		case *ast.TargetPlus:
			return nil, e.scalar(s.Value)
		case *ast.Assign:
			if s.Op == "+=" {
				return nil, e.expr(s.RHS)
			}
		}
	}
	e.sum = w.p.names.fresh("f")
	e.renamed = map[*check.Var]string{}
	for _, v := range pat.leaf.copied {
		e.renamed[v] = w.p.names.fresh(v.Name)
	}
	body := make([]ast.Stmt, 0, len(pat.leaf.code))
	for _, s := range pat.leaf.code {
		body = append(body, e.node(s).(ast.Stmt))
	}
	if k.decided != nil && !slices.ContainsFunc(body, func(s ast.Stmt) bool { return e.adds(s) }) {
		return nil, w.int(0)
	}
	value := w.name(e.sum)
	if edge {
		never := w.call("negative_infinity")
		value = &ast.Paren{Base: w.base(), X: &ast.Cond{Base: w.base(), Cond: w.op("==", w.name(e.sum), never), Then: clone(never, nil), Else: value}}
	}
	return []ast.Stmt{w.declare(nil, "real", nil, e.sum, w.int(0)), w.block(body...)}, value
}

// editor returns an editor for the code of factors.
func (w *writer) editor(k *kind, c counter, all []factor, q clique) *editor {
	number := func(f func(factor) int64) ast.Expr {
		ns := make([]int64, len(all))
		for i := range all {
			ns[i] = f(all[i])
		}
		return w.of(c, ns)
	}
	pat := k.pattern
	e := &editor{w: w, p: w.p, leaf: pat.leaf, reads: pat.reads, instances: pat.instances, loops: map[*check.Var]ast.Expr{}, decided: k.decided, pattern: pat, number: number}
	for i, l := range pat.loops {
		e.loops[w.p.info.Defs[l]] = number(func(f factor) int64 { return pat.instances[f.instance].loops[i] })
	}
	for _, a := range k.axes {
		e.axes = append(e.axes, q.values[a])
	}
	if len(pat.instances) > 0 {
		for i := range pat.instances[0].shifts {
			e.shifts = append(e.shifts, number(func(f factor) int64 { return pat.instances[f.instance].shifts[i] }))
		}
		for i := range pat.instances[0].values {
			e.values = append(e.values, number(func(f factor) int64 { return pat.instances[f.instance].values[i] }))
		}
	}
	return e
}

// numbersOf returns the numbers of messages.
func (w *writer) numbersOf(all []factor) []int64 {
	ns := make([]int64, len(all))
	for i, f := range all {
		ns[i] = int64(w.steps[f.step].message)
	}
	return ns
}

// elimination is a way to eliminate an element: from the logarithms of the terms for its values, a
// function gives the message, and another one the position of its value.
type elimination struct {
	message string
	value   func(b builder, lp string) ast.Expr
}

var (
	drawing = elimination{"log_sum_exp", func(b builder, lp string) ast.Expr {
		return b.call("categorical_rng", b.call("softmax", b.name(lp)))
	}}
	// maximising finds the most likely configuration: the max-product algorithm.
	maximising = elimination{"max", func(b builder, lp string) ast.Expr {
		return b.at(b.call("sort_indices_desc", b.name(lp)), b.int(1))
	}}
)

// density returns the statements of the elimination. With target they add the logarithm of the sum
// to the target, otherwise they only compute the messages.
func (w *writer) density(target bool, by elimination) ([]ast.Stmt, messages) {
	m, out := w.declareMessages()
	for _, gs := range w.merged {
		if !target && !slices.ContainsFunc(gs, func(g *group) bool { return len(g.unknowns) > 1 }) {
			continue
		}
		out = append(out, w.looped(gs, false, func(g *group, c counter) []ast.Stmt {
			rank := len(g.unknowns) - 1
			if rank == 0 && !target {
				return nil
			}
			q := w.bounds(g, c)
			around := around(rank)
			over := w.over(g, q, around)
			if rank == 0 && len(g.kinds) == 0 { // no statement reads it
				if w.p.indicators[g.unknowns[0].name] || g.certain(w.p) {
					return nil
				}
				return []ast.Stmt{w.target(w.times(g, c, w.call("log", w.from1(q.hi[0], q.lo[0]))))}
			}
			if g.certain(w.p) {
				q.values[0] = q.lo[0]
				body, terms, _, _, _ := w.sums(g, c, q, m, func(*kind) bool { return true })
				return append(body, w.target(w.times(g, c, w.sum(terms))))
			}
			if name, args := w.free(g); name != "" {
				return []ast.Stmt{w.validated(g, c, q, name, args)}
			}
			lp := w.p.names.fresh("lp")
			var shared []ast.Stmt // computed once for all values of the other elements
			plus := ""
			if rank > 0 && slices.ContainsFunc(g.kinds, (*kind).own) {
				plus = w.p.names.fresh("own")
				marks := w.marks
				w.marks = nil
				shared = w.partial(g, c, q, m, plus, "", q.lo[0], q.hi[0], (*kind).own)
				w.marks = marks
			}
			if g.regions != nil && w.marks[g.unknowns[0]] == "" {
				return append(shared, w.byRegion(g, c, q, m, plus, by)...)
			}
			body := w.partial(g, c, q, m, lp, plus, q.lo[0], q.hi[0], func(k *kind) bool { return plus == "" || !k.own() })
			sum := w.call(by.message, w.name(lp))
			if rank > 0 {
				w.vector(lp)
			}
			if rank == 0 {
				if w.bare[g.unknowns[0]].left == "" {
					return append(body, w.target(w.times(g, c, sum)))
				}
				all := w.p.names.fresh("all")
				left := w.leaves(g, c, q, m, lp, all)
				return slices.Concat(body, []ast.Stmt{w.declare(nil, "real", nil, all, sum), w.target(w.name(all))}, left)
			}
			to := w.message(m, q, around, c, column(g, func(r *row) int64 { return r.number }))
			if over.name != "" && slices.Equal(over.size, m.width[rank]) {
				e := to.(*ast.IndexExpr)
				e.Indices[len(e.Indices)-1] = w.single(w.name(over.name))
			}
			all := w.p.names.fresh("all")
			if left := w.leaves(g, c, q, m, lp, all); target && left != nil {
				return append(shared, over.loop(slices.Concat(body, []ast.Stmt{w.declare(nil, "real", nil, all, sum), w.assign(to, "=", w.name(all))}, left))...)
			}
			return append(shared, over.loop(append(body, w.assign(to, "=", sum)))...)
		}))
	}
	if target {
		out = append(out, w.restricted(m)...)
	}
	return out, m
}

// times returns a term of the target multiplied by the number of equal steps.
func (w *writer) times(g *group, c counter, x ast.Expr) ast.Expr {
	return w.multiplied(c, column(g, func(r *row) int64 { return int64(w.steps[r.step].times) }), x)
}

func (w *writer) multiplied(c counter, by []int64, x ast.Expr) ast.Expr {
	if n, ok := w.of(c, by).(*ast.IntLit); ok && n.Value == 1 {
		return x
	}
	return w.op("*", w.of(c, by), w.grouped(x))
}

// visit is how loops visit all values of some elements of a clique.
type visit struct {
	name string // of the variable of the only loop; "": each element has its own
	size []int64
	loop func([]ast.Stmt) []ast.Stmt // puts statements into the loops
}

// over gives elements of a clique the names of variables that loops set to all their values.
//
// Several elements have one loop if the numbers of their values are the same in all rows. The
// compiler computes it in lanes, also within the step of a scan. Nested loops would be unrolled.
func (w *writer) over(g *group, q clique, axes []int) visit {
	o := visit{size: make([]int64, len(axes))}
	same := len(axes) > 1
	for i, k := range axes {
		q.values[k] = w.name(w.p.names.fresh("a"))
		sizes := column(g, func(r *row) int64 { return w.p.elements[r.clique[k]].size() })
		o.size[i] = sizes[0]
		same = same && slices.Min(sizes) == slices.Max(sizes)
	}
	name := func(k int) string { return q.values[k].(*ast.VarExpr).Name }
	if !same {
		o.loop = func(body []ast.Stmt) []ast.Stmt {
			for _, k := range slices.Backward(axes) {
				body = []ast.Stmt{w.loop(name(k), clone(q.lo[k], nil), clone(q.hi[k], nil), body...)}
			}
			return body
		}
		return o
	}
	o.name = w.p.names.fresh("i")
	var values []ast.Stmt
	stride := int64(1)
	for i, k := range slices.Backward(axes) {
		x := w.plus(w.name(o.name), -1)
		if stride > 1 || i > 0 {
			x = &ast.Paren{Base: w.base(), X: x}
		}
		if stride > 1 {
			x = w.op("%/%", x, w.int(stride))
		}
		if i > 0 {
			x = w.op("%", x, w.int(o.size[i]))
		}
		if n, ok := literal(q.lo[k]); ok {
			x = w.plus(x, n)
		} else {
			x = w.op("+", x, clone(q.lo[k], nil))
		}
		values = append(values, w.declare(nil, "int", nil, name(k), x))
		stride *= o.size[i]
	}
	slices.Reverse(values)
	o.loop = func(body []ast.Stmt) []ast.Stmt {
		used := map[string]bool{}
		for _, s := range body {
			ast.Inspect(s, func(n ast.Node) bool {
				if v, ok := n.(*ast.VarExpr); ok {
					used[v.Name] = true
				}
				return true
			}, nil)
		}
		var before []ast.Stmt
		for _, v := range values {
			if used[v.(*ast.VarDecl).Name.Name] {
				before = append(before, v)
			}
		}
		return []ast.Stmt{w.loop(o.name, w.int(1), w.int(stride), append(before, body...)...)}
	}
	return o
}

// draws returns statements that draw the discrete parameters, in the order opposite to that of the
// elimination: each given those that are drawn before it.
func (w *writer) draws(by elimination) []ast.Stmt {
	out, m := w.density(false, by)
	for _, gs := range slices.Backward(w.blocks) {
		out = append(out, w.looped(gs, true, func(g *group, c counter) []ast.Stmt {
			q := w.bounds(g, c)
			for k := 1; k < len(g.unknowns); k++ {
				q.values[k] = w.element(g, c, k)
			}
			if g.certain(w.p) || w.p.idle(g.rows[0].clique[0], len(g.kinds)) {
				return []ast.Stmt{w.assign(w.element(g, c, 0), "=", clone(q.lo[0], nil))}
			}
			if name, args := w.free(g); name != "" {
				return []ast.Stmt{w.assign(w.element(g, c, 0), "=", w.call(name+"_rng", w.freed(g, c, q, args)...))}
			}
			lp := w.p.names.fresh("lp")
			body := w.terms(g, c, q, m, lp)
			if w.p.o.Purpose != Probabilities {
				body = append(body, w.checked(g, c, q, m, lp)...)
			}
			draw := by.value(w.builder, lp)
			var value ast.Expr
			if n, ok := literal(q.lo[0]); ok {
				value = w.plus(draw, n-1)
			} else {
				value = w.op("+", w.plus(clone(q.lo[0], nil), -1), draw)
			}
			return append(body, w.assign(w.element(g, c, 0), "=", value))
		}))
	}
	return out
}

// element returns the variable of a discrete parameter at the element of the clique.
func (w *writer) element(g *group, c counter, k int) ast.Expr {
	u := g.unknowns[k]
	name := u.name
	if u.holes != nil {
		name = u.holes.drawn
	}
	if w.p.o.Purpose == Probabilities {
		name = u.name + modeSuffix
	}
	return w.at(w.name(name), w.indices(g, c, k)...)
}

// indices returns the indices of the element of the clique.
func (w *writer) indices(g *group, c counter, k int) (is []ast.Expr) {
	u := g.unknowns[k]
	if u.holes != nil {
		return []ast.Expr{w.of(c, column(g, func(r *row) int64 { return int64(r.clique[k] - u.first + 1) }))}
	}
	for d := range u.shape {
		is = append(is, w.of(c, column(g, func(r *row) int64 { return u.index(u.cell(r.clique[k]))[d] })))
	}
	return is
}

// inTurn returns a counter of the factors of all rows, one row after the other. A row's first and
// last factor are from and to.
func (w *writer) inTurn(rows [][]factor) (j counter, all []factor, from, to []int64) {
	j.name = w.p.names.fresh("j")
	for _, fs := range rows {
		from = append(from, int64(len(all)+1))
		all = append(all, fs...)
		to = append(to, int64(len(all)))
	}
	for i := range all {
		j.values = append(j.values, int64(i+1))
	}
	return j, all, from, to
}
