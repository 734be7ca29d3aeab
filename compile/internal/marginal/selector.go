package marginal

import (
	"slices"

	"github.com/ppl-lang/ppl/compile/internal/interp"
	"github.com/ppl-lang/ppl/compile/ir"
	"github.com/ppl-lang/ppl/lang/ast"
	"github.com/ppl-lang/ppl/lang/check"
)

// A factor may depend on an element through comparisons alone, such as t < s or t == s + 1. As a
// function of the element it is then constant over runs of values. The sum of many such factors,
// for all values, needs a term for each run: a running sum over the values adds what changes at
// each. Otherwise it needs a term for each factor at each value.

const (
	minSelected  = 8         // values from which running sums are written
	maxDecisions = 2_000_000 // comparisons that the data decide, for all kinds
	maxAtoms     = 32
	minSaved     = 4 // values for each value of runs between the first and the last, without differences
)

// selector says how the factors of a kind depend on the eliminated element.
type selector struct {
	atoms []ast.Expr // the comparisons with the element
	runs  [][][]run  // by row and factor, in order of their values
}

// run is a range of values for which all comparisons have the same results.
type run struct {
	first int64 // its first value
	bits  uint64
}

// selectorOf returns the selector of a kind of a group; nil if the factors depend on the eliminated
// element in another way, or if there is nothing to gain.
func (p *program) selectorOf(g *group, k int) *selector {
	kd := g.kinds[k]
	if kd.pattern == nil || !kd.many || kd.pattern.tagged() || p.overflow && len(p.axesOf(kd.pattern)) > 0 {
		return nil
	}
	work := 0
	for _, r := range g.rows {
		n := p.elements[r.clique[0]].size()
		if n < minSelected {
			return nil
		}
		work += len(r.factors[k]) * int(n)
	}
	if p.decisions+work > maxDecisions {
		return nil
	}
	atoms := p.atoms(kd.pattern, slices.Index(kd.axes, 0))
	if len(atoms) == 0 || len(atoms) > maxAtoms {
		return nil
	}
	p.decisions += work
	s := &selector{atoms: atoms}
	between := 0
	t := p.tracer()
	for _, r := range g.rows {
		var rows [][]run
		for _, f := range r.factors[k] {
			rs := t.runs(kd.pattern, f.instance, atoms, r.clique[0])
			if rs == nil {
				return nil
			}
			if rows = append(rows, rs); len(rs) > 2 {
				between += int(rs[len(rs)-1].first - rs[1].first)
			}
		}
		s.runs = append(s.runs, rows)
	}
	if !p.finite(kd.pattern.leaf) && minSaved*between > work {
		return nil
	}
	return s
}

var comparisons = map[string]bool{"<": true, "<=": true, ">": true, ">=": true, "==": true, "!=": true}

// atoms returns the comparisons in the code of a pattern that read an element; nil if something
// else reads it, or if a comparison reads another element too.
func (p *program) atoms(pat *pattern, axis int) (out []ast.Expr) {
	reads, others := map[ast.Node]bool{}, map[ast.Node]bool{}
	for k, o := range pat.leaf.occs {
		r := pat.reads[k]
		switch {
		case r.given || r.absent:
		case !slices.Contains(r.axes, axis):
			others[o.node] = true
		case len(r.axes) != 1 || slices.ContainsFunc(r.dims, func(d dimension) bool { return d.kind != one }):
			return nil
		default:
			reads[o.node] = true
		}
	}
	among := func(n ast.Node, set map[ast.Node]bool) bool {
		found := false
		ast.Inspect(n, func(n ast.Node) bool {
			found = found || set[n]
			return !found
		}, nil)
		return found
	}
	assigned := p.localsOf(pat.leaf)
	ok := true
	var visit func(n ast.Node)
	visit = func(n ast.Node) {
		switch n := n.(type) {
		case *ast.For, *ast.ForEach, *ast.While:
			ok = ok && !among(n, reads)
			return
		case *ast.Binary:
			if comparisons[n.Op] && among(n, reads) {
				ok = ok && !among(n, others) && !mentions(p.info, assigned, n)
				out = append(out, n)
				return
			}
		}
		ok = ok && !reads[n]
		for c := range ast.Children(n) {
			visit(c)
		}
	}
	for _, s := range pat.leaf.code {
		visit(s)
	}
	if !ok {
		return nil
	}
	return out
}

// runs evaluates comparisons for all values of an element, in an instance of a pattern; nil if that
// is not possible.
func (t *tracer) runs(pat *pattern, instance int, atoms []ast.Expr, element int) (out []run) {
	in := &pat.instances[instance]
	if err := t.enter(pat, in); err != nil {
		return nil
	}
	el := t.p.elements[element]
	set := t.give(el.of)
	defer delete(t.set, t.p.nodes.Vars[el.of.v][0])
	for v := el.lo; v <= el.hi; v++ {
		set(el.of.cell(element), v)
		r := run{first: v}
		for k, a := range atoms {
			i, ok, err := t.int(a)
			if !ok || err != nil {
				return nil
			}
			if i != 0 {
				r.bits |= 1 << k
			}
		}
		if n := len(out); n == 0 || out[n-1].bits != r.bits {
			out = append(out, r)
		}
	}
	return out
}

// enter sets the variables of the loops around an instance.
func (t *tracer) enter(pat *pattern, in *instance) error {
	local := map[*ir.Var]bool{}
	k := 0
	for at, s := range pat.leaf.path {
		for _, b := range pat.leaf.before[at] {
			if err := t.exec(b, pat.leaf, local); err != nil {
				return err
			}
		}
		if _, ok := s.(*ast.For); ok {
			v := t.variable(s)
			t.eval.SetInt(v, in.loops[k])
			t.set[v] = true
			k++
		}
	}
	return nil
}

// give makes a discrete parameter known, and returns a function that sets an element.
func (t *tracer) give(u *unknown) func(cell int, value int64) {
	v := t.p.nodes.Vars[u.v][0]
	t.set[v] = true
	if len(u.shape) == 0 {
		return func(_ int, value int64) { t.eval.SetInt(v, value) }
	}
	if t.values == nil {
		t.values = map[*unknown][]int64{}
	}
	all := t.values[u]
	if all == nil {
		n := 1
		for _, size := range u.shape {
			n *= size
		}
		if all = make([]int64, n); u.holes != nil {
			copy(all, u.holes.values)
		}
		for cell, x := range u.determined {
			all[cell] = x
		}
		t.values[u] = all
	}
	t.eval.Set(v, interp.Number{Shape: u.shape, Ints: all})
	return func(cell int, value int64) { all[cell] = value }
}

// localsOf returns the variables that the code of a leaf declares or assigns.
func (p *program) localsOf(l *leaf) map[*check.Var]bool {
	out := map[*check.Var]bool{}
	for _, s := range l.code {
		p.assigns(s, out)
		ast.Inspect(s, func(n ast.Node) bool {
			if d, ok := n.(*ast.VarDecl); ok {
				out[p.info.Defs[d]] = true
			}
			return true
		}, nil)
	}
	return out
}

// finite reports whether the terms of a leaf are finite wherever they have values. Running sums may
// then subtract them again.
func (p *program) finite(l *leaf) bool {
	return len(l.code) == 1 && p.finiteTerms(l.stmt())
}

func (p *program) finiteTerms(s ast.Stmt) bool {
	var c *check.Call
	var args []ast.Expr
	switch s := s.(type) {
	case *ast.BlockStmt:
		return !slices.ContainsFunc(s.Stmts, func(s ast.Stmt) bool { return !p.finiteTerms(s) })
	case *ast.If:
		return p.finiteTerms(s.Then) && (s.Else == nil || p.finiteTerms(s.Else))
	case *ast.Tilde:
		if s.Trunc == nil {
			c, args = p.info.Calls[s], s.Args
		}
	case *ast.TargetPlus:
		if e, ok := ast.Unparen(s.Value).(*ast.CallExpr); ok && len(e.Args) > 0 {
			c, args = p.info.Calls[e], e.Args[1:]
		}
	}
	if c == nil || c.Func != nil || !finites[c.Name] || slices.ContainsFunc(args, func(e ast.Expr) bool { return p.infinite(e) }) {
		return false
	}
	return !rates[c.Name] || p.positive(args[0])
}

// positive reports whether a rate cannot be 0: 3 * (t < s) can.
func (p *program) positive(e ast.Expr) bool {
	switch e := ast.Unparen(e).(type) {
	case *ast.IntLit:
		return e.Value > 0
	case *ast.RealLit:
		return e.Value > 0
	case *ast.CallExpr:
		c := p.info.Calls[e]
		return c != nil && c.Func == nil && c.Name == "exp"
	case *ast.Cond:
		return p.positive(e.Then) && p.positive(e.Else)
	case *ast.Binary:
		switch e.Op {
		case "+", "*", "/", ".*", "./":
			return p.positive(e.X) && p.positive(e.Y)
		}
	case *ast.VarExpr, *ast.IndexExpr:
		v, ok := root(e)
		if !ok {
			return false
		}
		d := p.info.Uses[v]
		return d != nil && d.Global && d.Block == ast.Parameters && !d.Discrete()
	}
	return false
}

// infinite reports whether an argument may be infinite, by a function or a quotient.
func (p *program) infinite(e ast.Expr) bool {
	found := false
	ast.Inspect(e, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.CallExpr:
			c := p.info.Calls[n]
			found = found || c == nil || c.Func != nil || infinites[c.Name]
		case *ast.Binary:
			found = found || n.Op == "/" && p.involved(n.Y)
		}
		return !found
	}, nil)
	return found
}

// finites are densities of all real numbers, and masses of all counts, that are positive where
// their parameters are finite, and their rates positive.
var finites = map[string]bool{
	"normal_lpdf": true, "std_normal_lpdf": true, "student_t_lpdf": true, "cauchy_lpdf": true, "logistic_lpdf": true, "double_exponential_lpdf": true,
	"poisson_lpmf": true, "poisson_log_lpmf": true, "neg_binomial_lpmf": true, "neg_binomial_2_lpmf": true, "neg_binomial_2_log_lpmf": true,
	"bernoulli_logit_lpmf": true, "binomial_logit_lpmf": true,
}

// rates are those whose first parameter may be 0, where all counts but 0 are impossible.
var rates = map[string]bool{"poisson_lpmf": true}

// infinites are functions that are infinite at ends of their domains.
var infinites = map[string]bool{
	"log": true, "log1m": true, "log1p": true, "log2": true, "log10": true, "logit": true, "inv": true,
	"log_diff_exp": true, "log1m_exp": true, "negative_infinity": true, "positive_infinity": true,
}

// piece is a list of factors with the same results of comparisons: of all values, or those whose
// runs begin or end at each value or contain it.
type piece struct {
	bits  uint64
	where where
	minus bool
	at    [][][]factor // by row and position of the value, from 0; whole: position 0 alone
}

type where uint8

const (
	whole where = iota // for all values
	from               // for a value and those behind it
	upto               // for a value and those before it
	alone              // for a value
)

// pieces sorts the factors of a kind. With differences, what ends at a value is subtracted from the
// running sum there.
func (s *selector) pieces(g *group, k int, differences bool, elements []element) (out []*piece) {
	for i, r := range g.rows {
		el := elements[r.clique[0]]
		add := func(f factor, bits uint64, to where, minus bool, value int64) {
			at := slices.IndexFunc(out, func(p *piece) bool { return p.bits == bits && p.where == to && p.minus == minus })
			if at < 0 {
				at = len(out)
				out = append(out, &piece{bits: bits, where: to, minus: minus})
			}
			p := out[at]
			for len(p.at) < len(g.rows) {
				n := 1
				if to != whole {
					n = int(elements[g.rows[len(p.at)].clique[0]].size())
				}
				p.at = append(p.at, make([][]factor, n))
			}
			p.at[i][value-el.lo] = append(p.at[i][value-el.lo], f)
		}
		for j, f := range r.factors[k] {
			rs := s.runs[i][j]
			switch {
			case len(rs) == 1:
				add(f, rs[0].bits, whole, false, el.lo)
			case differences:
				add(f, rs[0].bits, whole, false, el.lo)
				for n, r := range rs[1:] {
					add(f, r.bits, from, false, r.first)
					add(f, rs[n].bits, from, true, r.first)
				}
			default:
				last := len(rs) - 1
				add(f, rs[0].bits, upto, false, rs[1].first-1)
				for n := 1; n < last; n++ {
					for v := rs[n].first; v < rs[n+1].first; v++ {
						add(f, rs[n].bits, alone, false, v)
					}
				}
				add(f, rs[last].bits, from, false, rs[last].first)
			}
		}
	}
	return out
}

// selected returns terms of the sum of the factors of a kind: numbers for all values of the
// eliminated element, and vectors with an element for each. The statements compute them.
func (w *writer) selected(g *group, c counter, k int, s *selector, q clique, m messages) (before []ast.Stmt, numbers, vectors []ast.Expr) {
	kd := g.kinds[k]
	kinds := map[uint64]*kind{}
	for _, rows := range s.runs {
		for _, rs := range rows {
			for _, r := range rs {
				if kinds[r.bits] == nil {
					d := *kd
					d.decided = map[ast.Node]bool{}
					for i, a := range s.atoms {
						d.decided[a] = r.bits>>i&1 == 1
					}
					kinds[r.bits] = &d
				}
			}
		}
	}
	// Lists with positions share a loop and a running sum.
	running := map[where][]*piece{}
	for _, p := range s.pieces(g, k, w.p.finite(kd.pattern.leaf), w.p.elements) {
		_, value := w.value(kinds[p.bits], c, g.rows[0].factors[k][:min(1, len(g.rows[0].factors[k]))], q, m)
		if v, ok := literal(value); ok && v == 0 { // no statement is left
			continue
		}
		if p.where != whole {
			running[p.where] = append(running[p.where], p)
			continue
		}
		var rows [][]factor
		for _, at := range p.at {
			rows = append(rows, at[0])
		}
		inner, value := w.added(kinds[p.bits], c, rows, q, m)
		before, numbers = append(before, inner...), append(numbers, value)
	}
	for _, to := range []where{from, upto, alone} {
		ps := running[to]
		if len(ps) == 0 {
			continue
		}
		part := w.p.names.fresh("part")
		before = append(before,
			w.declare(nil, "vector", []ast.Expr{w.from1(q.hi[0], q.lo[0])}, part, w.call("rep_vector", w.int(0), w.from1(q.hi[0], q.lo[0]))),
			w.parts(c, ps, kinds, part, q, m))
		switch to {
		case from:
			vectors = append(vectors, w.call("cumulative_sum", w.name(part)))
		case upto:
			vectors = append(vectors, w.call("reverse", w.call("cumulative_sum", w.call("reverse", w.name(part)))))
		default:
			vectors = append(vectors, w.name(part))
		}
	}
	return before, numbers, vectors
}

// parts returns a loop over values that sets the elements of a vector to sums of pieces.
func (w *writer) parts(c counter, ps []*piece, kinds map[uint64]*kind, part string, q clique, m messages) ast.Stmt {
	rows := len(ps[0].at)
	first, last, shift := make([]int64, rows), make([]int64, rows), make([]int64, rows)
	u := counter{name: w.p.names.fresh("u")}
	lists := make([][][]factor, len(ps))
	n := int64(0)
	for i := range rows {
		first[i], last[i] = int64(len(ps[0].at[i])), 0
		for _, p := range ps {
			for at, fs := range p.at[i] {
				if len(fs) > 0 {
					first[i], last[i] = min(first[i], int64(at+1)), max(last[i], int64(at+1))
				}
			}
		}
		shift[i] = n - first[i] + 1
		for at := first[i]; at <= last[i]; at++ {
			n++
			for k, p := range ps {
				lists[k] = append(lists[k], p.at[i][at-1])
			}
		}
	}
	number := u
	var body []ast.Stmt
	if rows > 1 {
		number.name = w.p.names.fresh("at")
		body = append(body, w.declare(nil, "int", nil, number.name, w.op("+", w.name(u.name), w.of(c, shift))))
	}
	for i := range n {
		if number.values = append(number.values, i+1); rows == 1 {
			number.values[i] -= shift[0]
		}
	}
	var sum ast.Expr
	for k, p := range ps {
		inner, value := w.added(kinds[p.bits], number, lists[k], q, m)
		body = append(body, inner...)
		switch {
		case p.minus && sum == nil:
			sum = &ast.Unary{Base: w.base(), Op: "-", X: w.grouped(value)}
		case p.minus:
			sum = w.op("-", sum, w.grouped(value))
		case sum == nil:
			sum = value
		default:
			sum = w.op("+", sum, value)
		}
	}
	body = append(body, w.assign(w.at(w.name(part), w.name(u.name)), "=", sum))
	return w.loop(u.name, w.of(c, first), w.of(c, last), body...)
}
