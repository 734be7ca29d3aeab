package marginal

import (
	"slices"

	"github.com/ppl-lang/ppl/lang/ast"
)

// A value of an element may be impossible for some values of the element around it: a site without
// the species has no animals, and a dead animal stays dead. The message is then a sum over fewer
// values, without an exponential where one value is left.

// maxRegions bounds the loops over the values of the element around an eliminated one.
const maxRegions = 3

// region is a run of values of the element around an eliminated one, by position in the message.
// For each of them, the values from first to last are possible; first is after last if none is.
type region struct{ from, to, first, last int64 }

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
	var out []region
	terms := int64(0)
	for c := int64(0); c < int64(volume)/n; c++ {
		row := possible[c*n : (c+1)*n]
		x := region{c, c, int64(slices.Index(row, true)), -1}
		for v, ok := range row {
			if ok {
				x.last = int64(v)
			}
		}
		if x.first < 0 {
			x.first = 0
		}
		terms += x.last - x.first + 1
		if k := len(out) - 1; k >= 0 && out[k].first == x.first && out[k].last == x.last {
			out[k].to = c
		} else if len(out) < maxRegions {
			out = append(out, x)
		} else {
			return nil
		}
	}
	if float64(terms) > (1-minMerged)*float64(volume) {
		return nil
	}
	return out
}

// terms returns the number of terms of a step of the group.
func (g *group) terms(p *program, r row) int {
	if g.regions == nil {
		return int(p.volume(r.clique))
	}
	n := int64(0)
	for _, x := range g.regions {
		n += (x.to - x.from + 1) * (x.last - x.first + 1)
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
