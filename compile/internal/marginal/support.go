package marginal

import (
	"slices"

	"github.com/ppl-lang/ppl/lang/ast"
)

// A value of an element may be impossible for some values of the element around it: a site without
// the species has no animals, and a dead animal stays dead. The message is then a sum over fewer
// values, without an exponential where one value is left.

const (
	// maxRegions bounds the loops over the values of the element around an eliminated one.
	maxRegions = 3

	// fewTransitions is the number of transitions up to which pass log-products has products of
	// matrices with zeros.
	fewTransitions = 5
)

// region is a run of values of the element around an eliminated one, by position in the message.
// For each of them, the values from first to last are possible; first is after last if none is.
//
// With rows, it is a list of values. For each of them, as many values are possible, at any places:
// values has these, for one value in rows after the other.
type region struct {
	from, to, first, last int64
	rows, values          []int64
}

// terms returns the number of terms.
func (x region) terms() int64 {
	if x.rows != nil {
		return int64(len(x.values))
	}
	return (x.to - x.from + 1) * (x.last - x.first + 1)
}

// regions returns the regions for the rows of a group; nil if they save too few terms.
func (w *writer) regions(g *group) []region {
	if len(g.unknowns) != 2 {
		return nil
	}
	for _, s := range g.selectors {
		if s != nil {
			return nil
		}
	}
	sizes := make([]int, len(g.unknowns))
	volume := 1
	for k := range sizes {
		for i, r := range g.rows {
			el := &w.p.elements[r.clique[k]]
			n := el.size()
			if n > maxTriedValues || i > 0 && int(n) != sizes[k] || el.cut {
				return nil
			}
			sizes[k] = int(n)
		}
		if volume *= sizes[k]; volume > maxTriedValues {
			return nil
		}
	}
	// The eliminated element changes fastest.
	sizes = append(sizes[1:], sizes[0])
	possible := make([]bool, volume)
	left := volume
	at, position := make([]int, len(sizes)), make([]int, len(sizes))
	for _, r := range g.rows {
		if w.work += volume; w.work > maxTried {
			return nil
		}
		var tables []*table
		var axes [][]int
		for k, kd := range g.kinds {
			for _, f := range r.factors[k] {
				if t := w.possible[f]; t != nil {
					tables, axes = append(tables, t), append(axes, kd.axes)
				}
			}
		}
		clear(at)
		for c := range possible {
			if !possible[c] {
				copy(position[1:], at)
				position[0] = at[len(at)-1]
				fits := true
				for i, t := range tables {
					fits = fits && t.at(axes[i], position)
				}
				if fits {
					possible[c] = true
					left--
				}
			}
			advance(at, sizes)
		}
		if left == 0 {
			return nil
		}
	}
	n := int64(sizes[len(sizes)-1])
	most := int64((1 - minMerged) * float64(volume))
	runs, lists, ok := []region(nil), []region(nil), true
	var inRuns, listed int64
	for c := int64(0); c < int64(volume)/n; c++ {
		row := possible[c*n : (c+1)*n]
		x := region{from: c, to: c, first: max(int64(slices.Index(row, true)), 0), last: -1}
		var values []int64
		for v, ok := range row {
			if ok {
				x.last = int64(v)
				values = append(values, int64(v))
			}
		}
		inRuns, listed = inRuns+x.last-x.first+1, listed+int64(len(values))
		if k := len(runs) - 1; k >= 0 && runs[k].first == x.first && runs[k].last == x.last {
			runs[k].to = c
		} else {
			runs = append(runs, x)
		}
		k := slices.IndexFunc(lists, func(l region) bool { return len(l.values) == len(l.rows)*len(values) })
		if k < 0 {
			k, lists = len(lists), append(lists, region{})
		}
		lists[k].rows, lists[k].values = append(lists[k].rows, c), append(lists[k].values, values...)
	}
	for k := range g.unknowns {
		ok = ok && !slices.ContainsFunc(g.rows, func(r row) bool { return w.p.elements[r.clique[k]].lo != w.p.elements[g.rows[0].clique[k]].lo })
	}
	switch {
	case len(runs) <= maxRegions && inRuns <= most:
		return runs
	case ok && len(lists) <= maxRegions && listed <= most && !(g.chained && mixes(possible, int(n))):
		return lists
	}
	return nil
}

// mixes reports whether few transitions lead from each of n values to every value. Then the steps
// of a chain are products of a matrix without a logarithm in between, so that it may have zeros.
func mixes(possible []bool, n int) bool {
	if len(possible) != n*n {
		return false
	}
	for from := range n {
		at := make([]bool, n)
		at[from] = true
		for range fewTransitions {
			next := make([]bool, n)
			for to := range n {
				for v, ok := range possible[to*n : (to+1)*n] {
					next[to] = next[to] || ok && at[v]
				}
			}
			at = next
		}
		if slices.Contains(at, false) {
			return false
		}
	}
	return true
}

// terms returns the number of terms of a step of the group.
func (g *group) terms(p *program, r row) int {
	if g.regions == nil {
		return int(p.volume(r.clique))
	}
	n := int64(0)
	for _, x := range g.regions {
		n += x.terms()
	}
	return int(n)
}

// at reports whether the factor is positive at positions of its elements, whose places in the
// clique are axes.
func (t *table) at(axes, position []int) bool {
	i := 0
	for k, a := range axes {
		i = i*t.sizes[k] + position[a]
	}
	return t.possible[i]
}

// byRegion returns the statements that compute the messages of a group, a loop for each region. own
// is the vector with the terms of factors that read the eliminated element alone, if any.
func (w *writer) byRegion(g *group, c counter, q clique, m messages, own string, by elimination) (out []ast.Stmt) {
	around := around(1)
	of := func(k *kind) bool { return own == "" || !k.own() }
	q.values = slices.Clone(q.values)
	counter := q.values[1].(*ast.VarExpr).Name
	for _, x := range g.regions {
		if x.rows != nil {
			out = append(out, w.listed(g, c, q, m, own, by, x))
			continue
		}
		from, to := w.plus(clone(q.lo[1], nil), x.from), w.plus(clone(q.lo[1], nil), x.to)
		q.values[1] = w.name(counter)
		if x.from == x.to {
			q.values[1] = from
		}
		first, last := w.plus(clone(q.lo[0], nil), x.first), w.plus(clone(q.lo[0], nil), x.last)
		sum := w.call("negative_infinity")
		var body []ast.Stmt
		if x.first == x.last {
			q.values[0] = first
			before, terms, _, _, _ := w.sums(g, c, q, m, of)
			if own != "" {
				terms = append(terms, w.at(w.name(own), w.int(x.first+1)))
			}
			body, sum = before, w.sum(terms)
		} else if x.first < x.last {
			lp := w.p.names.fresh("lp")
			w.vector(lp)
			body, sum = w.partial(g, c, q, m, lp, own, first, last, of), w.call(by.message, w.name(lp))
		}
		body = append(body, w.assign(w.message(m, q, around, c, column(g, func(r *row) int64 { return r.number })), "=", sum))
		if x.from != x.to {
			body = []ast.Stmt{w.loop(counter, from, to, body...)}
		}
		out = append(out, w.block(body...))
	}
	return out
}

// listed is byRegion for a region that is a list of values.
func (w *writer) listed(g *group, c counter, q clique, m messages, own string, by elimination, x region) ast.Stmt {
	mark := w.p.names.mark()
	defer w.p.names.release(mark)
	n := int64(len(x.values) / len(x.rows))
	// values returns an expression for an element of a table of values of an element of the clique.
	values := func(positions []int64, k int, at ast.Expr) ast.Expr {
		table := slices.Clone(positions)
		least, _ := literal(q.lo[k])
		for i := range table {
			table[i] += least
		}
		return w.at(w.table(table), at)
	}
	name, a, v := w.p.names.fresh("r"), w.p.names.fresh("a"), w.p.names.fresh("v")
	q.values = slices.Clone(q.values)
	q.values[0], q.values[1] = w.name(v), w.name(a)
	body := []ast.Stmt{w.declare(nil, "int", nil, a, values(x.rows, 1, w.name(name)))}
	sum := w.call("negative_infinity")
	if n > 0 {
		before, terms, _, _, _ := w.sums(g, c, q, m, func(k *kind) bool { return own == "" || !k.own() })
		if own != "" {
			terms = append(terms, w.at(w.name(own), w.from1(w.name(v), q.lo[0])))
		}
		if n == 1 {
			body = append(body, w.declare(nil, "int", nil, v, values(x.values, 0, w.name(name))))
			body, sum = append(body, before...), w.sum(terms)
		} else {
			lp, j := w.p.names.fresh("lp"), w.p.names.fresh("j")
			w.vector(lp)
			at := w.plus(w.op("+", w.op("*", w.int(n), w.name(name)), w.name(j)), -n)
			inner := append([]ast.Stmt{w.declare(nil, "int", nil, v, values(x.values, 0, at))}, before...)
			inner = append(inner, w.assign(w.at(w.name(lp), w.name(j)), "=", w.sum(terms)))
			body = append(body, w.declare(nil, "vector", []ast.Expr{w.int(n)}, lp, nil), w.loop(j, w.int(1), w.int(n), inner...))
			sum = w.call(by.message, w.name(lp))
		}
	}
	body = append(body, w.assign(w.message(m, q, around(1), c, column(g, func(r *row) int64 { return r.number })), "=", sum))
	return w.block(w.loop(name, w.int(1), w.int(int64(len(x.rows))), body...))
}
