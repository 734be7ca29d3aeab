package marginal

import (
	"slices"

	"github.com/ppl-lang/ppl/compile/internal/interp"
	"github.com/ppl-lang/ppl/compile/ir"
	"github.com/ppl-lang/ppl/lang/ast"
)

// This file: integers of the data with missing elements. Only these are elements of the sums. A
// statement reads the others from the data, so that a factor about complete data stays as it was
// written.

// holes are the missing elements of a variable of the data.
type holes struct {
	values  []int64 // by cell
	cells   []int   // by element
	element []int   // by cell, the number of the element from 0; -1: data have the value
	drawn   string  // the generated quantity with the elements, an array
	whole   string  // the generated quantity with all cells
}

// holesOf finds the missing elements of a variable, and names the generated quantities.
func (p *program) holesOf(u *unknown) *holes {
	h := &holes{}
	p.known.Each(func(v *ir.Var, _ []int, ints []int64, _ []float64) {
		if slices.Contains(p.nodes.Vars[u.v], v) {
			h.values = ints
		}
	})
	for i, x := range h.values {
		k := -1
		if x == interp.MissingInt {
			k = len(h.cells)
			h.cells = append(h.cells, i)
		}
		h.element = append(h.element, k)
	}
	h.drawn, h.whole = p.names.fresh(u.name+"_missing"), p.names.fresh(u.name+"_complete")
	return h
}

// given reports whether data have all of some cells, of which there is at least one.
func (u *unknown) given(cells []int) bool {
	return u.holes != nil && len(cells) > 0 && !slices.ContainsFunc(cells, func(c int) bool { return u.holes.element[c] >= 0 })
}

// lacks reports whether an observation is that of a missing element, which was not observed. Its
// factor is then part of the density that others have.
func (p *program) lacks(a *ast.Assign, tag []int64) bool {
	t, _ := root(a.LHS)
	for _, u := range p.unknowns {
		if u.holes == nil || p.o.Of[t.Name] != u.name || len(tag) != len(u.shape) {
			continue
		}
		cell := 0
		for d, i := range tag {
			if i < 1 || i > int64(u.shape[d]) {
				return false
			}
			cell = cell*u.shape[d] + int(i-1)
		}
		return u.holes.element[cell] >= 0
	}
	return false
}

// range1 returns the least and the greatest value that an unknown may have.
func (p *program) range1(u *unknown) (lo, hi int64) {
	first := true
	add := func(a, b int64) {
		if first {
			lo, hi, first = a, b, false
		}
		lo, hi = min(lo, a), max(hi, b)
	}
	for _, el := range p.elements[u.first:] {
		if el.of != u {
			break
		}
		add(el.lo, el.hi)
	}
	if u.holes != nil {
		for cell, x := range u.holes.values {
			if u.holes.element[cell] < 0 {
				add(x, x)
			}
		}
	}
	return lo, hi
}

// Hole is a variable of the data with missing elements, as generated quantities of the written
// program have it.
type Hole struct {
	Name         string // of the variable
	Drawn, Whole string // the quantity with the draws of its missing elements, and that with all of them
	Shape        []int
	Cells        []int // the missing elements, in row-major order
}

// holed lists the variables of the data with missing elements.
func (p *program) holed() (out []Hole) {
	for _, u := range p.unknowns {
		if u.holes != nil && len(u.holes.cells) > 0 {
			out = append(out, Hole{u.name, u.holes.drawn, u.holes.whole, u.shape, u.holes.cells})
		}
	}
	return out
}

// drawn returns the declaration of the missing elements.
func (u *unknown) drawn(b builder) ast.Stmt {
	return b.declare([]ast.Expr{b.int(int64(len(u.holes.cells)))}, "int", nil, u.holes.drawn, nil)
}

// assembled returns the statements that make the whole variable from the drawn elements.
func (w *writer) assembled() (out []ast.Stmt) {
	for _, u := range w.p.unknowns {
		if u.holes == nil || len(u.holes.cells) == 0 {
			continue
		}
		var dims []ast.Expr
		for _, n := range u.shape {
			dims = append(dims, w.int(int64(n)))
		}
		out = append(out, w.declare(dims, "int", nil, u.holes.whole, w.name(u.name)))
		c := counter{name: w.p.names.fresh("k")}
		indices := make([][]int64, len(u.shape))
		for k, cell := range u.holes.cells {
			c.values = append(c.values, int64(k+1))
			for d, i := range u.index(cell) {
				indices[d] = append(indices[d], i)
			}
		}
		var at []ast.Expr
		for _, ns := range indices {
			at = append(at, w.of(c, ns))
		}
		k := w.int(1)
		if len(c.values) > 1 {
			k = w.name(c.name)
		}
		set := w.assign(w.at(w.name(u.holes.whole), at...), "=", w.at(w.name(u.holes.drawn), k))
		if len(c.values) > 1 {
			set = w.loop(c.name, w.int(1), w.int(int64(len(c.values))), set)
		}
		out = append(out, set)
	}
	return out
}

// completed returns statements that read the whole variables.
func (p *program) completed(ss []ast.Stmt) []ast.Stmt {
	to := map[string]string{}
	for _, h := range p.holed() {
		to[h.Name] = h.Whole
	}
	if len(to) == 0 {
		return ss
	}
	out := make([]ast.Stmt, len(ss))
	for i, s := range ss {
		out[i] = clone(s, func(n ast.Node) ast.Node {
			if v, ok := n.(*ast.VarExpr); ok && to[v.Name] != "" {
				v.Name = to[v.Name]
			}
			return n
		})
	}
	return out
}
