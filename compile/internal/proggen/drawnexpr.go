package proggen

import (
	"fmt"
	"strings"
)

// ---- what is in scope ----

// some draws a variable that satisfies ok; nil if there is none. Assignable variables are more
// likely than data and parameters.
func (d *drawing) some(ok func(p *container) bool) *container {
	var list []*container
	for i := range d.vars {
		if p := &d.vars[i]; ok(p) {
			list = append(list, p)
			if !p.fixed {
				list = append(list, p, p)
			}
		}
	}
	if len(list) == 0 {
		return nil
	}
	return one(d, list)
}

func (d *drawing) has(name string) bool {
	for _, p := range d.vars {
		if p.name == name {
			return true
		}
	}
	return false
}

// element makes an element of p at computed indices.
func (d *drawing) element(p *container, depth int) string {
	if len(p.size) == 0 {
		return p.name
	}
	var at []string
	for _, s := range p.size {
		at = append(at, d.index(s, depth))
	}
	return p.name + "[" + strings.Join(at, ", ") + "]"
}

// ---- ints ----

// index makes an int expression in 1..size.
func (d *drawing) index(size string, depth int) string {
	if size == "N" && len(d.rows) > 0 && d.chance(0.6) {
		return one(d, d.rows)
	}
	if d.chance(0.2) {
		return among(d, "1", size)
	}
	if p := d.some(func(p *container) bool { return size == "N" && p.name == "L" || size == "K" && p.name == "g" }); p != nil && depth > 0 && d.chance(0.3) {
		return d.element(p, depth-1)
	}
	e := d.int(depth)
	return fmt.Sprintf(among(d, "1 + abs(%[1]s) %% %[2]s", "max(1, min(%[2]s, %[1]s))", "1 + (%[1]s + %[2]s * 100) %% %[2]s"), e, size)
}

// int makes an expression of type int.
func (d *drawing) int(depth int) string {
	scalar := func(p *container) bool { return p.kind == ints && len(p.size) == 0 }
	if depth <= 0 || d.chance(0.25) {
		if p := d.some(scalar); p != nil && d.chance(0.75) {
			return p.name
		}
		return fmt.Sprint(d.between(0, 4))
	}
	a := func() string { return d.int(depth - 1) }
	switch d.below(14) {
	case 0:
		return fmt.Sprintf("(%s + %s)", a(), a())
	case 1:
		return fmt.Sprintf("(%s - %s)", a(), a())
	case 2:
		return fmt.Sprintf("((%s * %d) %% %d)", a(), d.between(-2, 5), d.between(2, 9))
	case 3:
		return fmt.Sprintf("(%s %s %s)", a(), among(d, "%/%", "%"), among(d, "2", "3", "-2", "4"))
	case 4:
		return fmt.Sprintf("%s(%s, %s)", among(d, "min", "max"), a(), a())
	case 5:
		return fmt.Sprintf("(%s ? %s : %s)", d.condition(depth-1, d.chance(0.8)), a(), a())
	case 6:
		return fmt.Sprintf("abs(%s)", a())
	case 7:
		return fmt.Sprintf("(%s %s %s)", a(), among(d, "==", "<", ">="), a())
	case 8:
		if r := d.callable(func(r *routine) bool { return r.result.kind == ints }); r != nil {
			return d.calling(r, depth-1)
		}
	case 9:
		if p := d.some(func(p *container) bool { return p.kind == ints && p.arrays == 1 }); p != nil && d.chance(0.5) {
			return fmt.Sprintf("%s(%s[1:%s])", among(d, "sum", "max", "size"), p.name, d.index(p.size[0], 0))
		}
	}
	if p := d.some(func(p *container) bool { return p.kind == ints && p.arrays > 0 }); p != nil {
		return d.element(p, depth-1)
	}
	return a()
}

// condition makes a condition. If known is set, it compares ints and data, otherwise reals that may
// depend on parameters.
func (d *drawing) condition(depth int, known bool) string {
	if depth > 0 && d.chance(0.2) {
		return fmt.Sprintf("(%s %s %s)", d.condition(depth-1, known), among(d, "&&", "||"), d.condition(depth-1, known))
	}
	if depth > 0 && d.chance(0.08) {
		return fmt.Sprintf("!(%s)", d.condition(depth-1, known))
	}
	if !known {
		return fmt.Sprintf("%s %s %s", d.real(1), among(d, "<", ">"), d.real(1))
	}
	if p := d.some(func(p *container) bool { return p.known && p.kind != ints && p.kind != complexes }); p != nil && d.chance(0.25) {
		return fmt.Sprintf("%s %s %s", d.element(p, 1), among(d, ">", "<"), among(d, "0", "0.5", "-0.3"))
	}
	if d.chance(0.15) {
		return d.int(1)
	}
	return fmt.Sprintf("%s %s %s", d.int(1), among(d, "<", ">", "==", "!=", "<="), d.int(1))
}

func (d *drawing) anyCondition() string { return d.condition(1, d.chance(0.6)) }

// ---- reals ----

// Constants have more digits than data. Otherwise two numbers would often be equal but for
// rounding, and comparing them would give different results in different evaluators.

// real makes an expression of type real.
func (d *drawing) real(depth int) string {
	depth = min(depth, d.deepest)
	if depth <= 0 || d.chance(0.2) {
		if p := d.some(func(p *container) bool { return p.kind != ints }); p != nil && d.chance(0.9) {
			if p.kind == complexes {
				return fmt.Sprintf("%s(%s)", among(d, "get_real", "get_imag"), d.element(p, 1))
			}
			return d.element(p, 1)
		}
		return among(d, "0.3071", "1.0", "-0.7219")
	}
	a := func() string { return d.real(depth - 1) }
	if d.wild && d.chance(0.07) {
		return fmt.Sprintf(among(d, "log(%s)", "sqrt(%s)", "(1 / %s)", "(%s ^ 0.5)", "log1m(%s)", "inv(%s)", "asin(%s)", "fmax(%s, negative_infinity())", "fmin(%s, not_a_number())"), a())
	}
	switch d.below(19) {
	case 0, 1:
		return fmt.Sprintf("(%s + %s)", a(), a())
	case 2:
		return fmt.Sprintf("(%s - %s)", a(), a())
	case 3:
		return fmt.Sprintf("(%s * %s)", a(), a())
	case 4, 5:
		return fmt.Sprintf("%s(%s)", among(d, "tanh", "sin", "inv_logit", "log1p_exp", "abs", "square"), a())
	case 6:
		return fmt.Sprintf("(%s ? %s : %s)", d.anyCondition(), a(), a())
	case 7:
		return fmt.Sprintf("%s(%s, %s)", among(d, "fmax", "fmin", "log_sum_exp"), a(), a())
	case 8:
		return fmt.Sprintf("(%s * %s * 0.1173)", a(), d.int(1))
	case 9:
		return fmt.Sprintf("(0.5 * %s)", a())
	case 10, 11:
		if r := d.callable(func(r *routine) bool { return r.result.kind == reals && len(r.result.size) == 0 }); r != nil {
			return d.calling(r, depth-1)
		}
	case 12, 13, 14:
		if p := d.some(func(p *container) bool { return p.kind != ints && p.kind != complexes && len(p.size) > 0 }); p != nil {
			return d.part(p)
		}
	case 15:
		size := among(d, "3", "3", "2")
		return fmt.Sprintf(among(d, "sum(%s)", "max(%s)", "dot_self(%s)", "log_sum_exp(%s)"), d.vector(size, depth-1))
	case 16:
		return fmt.Sprintf("dot_product(%s, %s)", d.vector("3", depth-1), d.vector("3", depth-1))
	}
	return fmt.Sprintf("(%s + 0.1339)", a())
}

// part makes a number from a container: an element, a sum, …
func (d *drawing) part(p *container) string {
	i := d.index(p.size[0], 1)
	last := p.size[len(p.size)-1]
	of := func() string { return among(d, "sum", "sum", "mean", "max", "min", "log_sum_exp", "prod") }
	if len(p.size) == 2 && p.arrays != 2 {
		line := fmt.Sprintf("%s[%s]", p.name, i)
		if p.arrays == 0 && d.chance(0.3) {
			line = fmt.Sprintf("%s[, %s]", p.name, d.index(last, 1))
		}
		return fmt.Sprintf("%s(%s)", among(d, "sum", "max", "mean"), line)
	}
	if len(p.size) > 1 {
		return d.element(p, 1)
	}
	switch d.below(6) {
	case 0:
		if d.cost*d.number(last) <= maxTrips {
			return fmt.Sprintf("%s(%s)", of(), p.name)
		}
	case 1:
		return fmt.Sprintf("%s(%s[%s])", of(), p.name, d.selection(last))
	case 2:
		return fmt.Sprintf("%s(%s[max(1, %s - 2):%s])", of(), p.name, i, i)
	case 3:
		return fmt.Sprintf("%s(segment(%s, %s, 1))", of(), p.name, i)
	case 4:
		if p.kind != reals {
			return fmt.Sprintf("dot_product(%s[1:%s], %s[1:%s])", p.name, i, p.name, i)
		}
	}
	return fmt.Sprintf("%s(%s[1:%s])", of(), p.name, i)
}

// selection makes a list of a few indices.
func (d *drawing) selection(size string) string {
	if size == "N" && d.has("L") && d.chance(0.3) {
		return "L[1:min(N, 4)]"
	}
	var at []string
	for range d.between(1, 3) {
		at = append(at, d.index(size, 1))
	}
	return "{" + strings.Join(at, ", ") + "}"
}

// bounded wraps an expression in increasing functions with a bounded range. Functions that rise and
// fall would be chaotic when iterated: they amplify rounding errors. In programs with NaN and
// infinities, it also replaces these by numbers.
func (d *drawing) bounded(e string) string {
	if d.wild && len(e) > 60 { // the checks for NaN repeat e, so they are left out for a long e
		return fmt.Sprintf("fmin(1, fmax(-1, %s))", e)
	}
	if d.wild {
		return fmt.Sprintf(among(d, "(is_nan(%[1]s) || is_inf(%[1]s) ? 0.1 : tanh(%[1]s))", "(%[1]s > -5 && %[1]s < 5 ? %[1]s : 0.2)"), e)
	}
	return fmt.Sprintf(among(d, "tanh(%[1]s)", "tanh(%[1]s)", "%[1]s / (1 + abs(%[1]s))"), e)
}

// ---- containers ----

// vector makes an expression of type vector.
func (d *drawing) vector(size string, depth int) string {
	depth = min(depth, d.deepest)
	long := size == "N" || size == "K"
	leaf := func() string {
		p := d.some(func(p *container) bool {
			return (p.kind == vectors || p.kind == rows || p.kind == reals && p.arrays > 0) && p.size[len(p.size)-1] == size && (p.kind != reals || p.arrays == len(p.size))
		})
		if p == nil || d.chance(0.1) {
			return fmt.Sprintf("rep_vector(%s, %s)", d.real(depth-1), size)
		}
		at := p.name
		if len(p.size) > 1 {
			at += "[" + d.index(p.size[0], 1) + "]"
		}
		switch p.kind {
		case rows:
			return at + "'"
		case reals:
			return "to_vector(" + at + ")"
		}
		return at
	}
	if depth <= 0 || long && d.cost > 100 || d.chance(0.2) {
		return leaf()
	}
	a := func() string { return d.vector(size, depth-1) }
	switch d.below(13) {
	case 0, 1:
		return fmt.Sprintf("(%s %s %s)", a(), among(d, "+", "-", ".*"), a())
	case 2:
		return fmt.Sprintf("%s(%s)", among(d, "tanh", "inv_logit", "reverse"), a())
	case 3:
		return fmt.Sprintf("(%s * %s)", d.real(depth-1), a())
	case 4:
		return fmt.Sprintf("(%s ? %s : %s)", d.anyCondition(), a(), a())
	case 5, 6: // a column or row of a matrix
		if p := d.some(func(p *container) bool { return p.kind == matrices && p.arrays == 0 && p.size[1] == size }); p != nil {
			return fmt.Sprintf("%s[%s]'", p.name, d.index(p.size[0], 1))
		}
		if p := d.some(func(p *container) bool { return p.kind == matrices && p.arrays == 0 && p.size[0] == size }); p != nil {
			return fmt.Sprintf("%s[, %s]", p.name, d.index(p.size[1], 1))
		}
	case 7:
		if p := d.some(func(p *container) bool {
			return p.kind == matrices && p.arrays == 0 && p.size[0] == size && p.size[1] == "3"
		}); p != nil {
			return fmt.Sprintf("(%s * %s)", p.name, d.vector("3", depth-1))
		}
	case 8, 9: // selected elements
		if p := d.some(func(p *container) bool { return p.kind == vectors && p.arrays == 0 }); p != nil {
			if long {
				by := map[string]string{"NN": "L", "KN": "g"}[p.size[0]+size]
				if by != "" && d.has(by) {
					return p.name + "[" + by + "]"
				}
				break
			}
			var at []string
			for range d.number(size) {
				at = append(at, d.index(p.size[0], 1))
			}
			return p.name + "[{" + strings.Join(at, ", ") + "}]"
		}
	case 10:
		if !long && d.number(size) > 0 {
			var xs []string
			for range d.number(size) {
				xs = append(xs, d.real(depth-1))
			}
			return "[" + strings.Join(xs, ", ") + "]'"
		}
	case 11:
		if r := d.callable(func(r *routine) bool {
			return r.result.kind == vectors && len(r.result.size) == 1 && r.result.size[0] == size
		}); r != nil {
			return d.calling(r, depth-1)
		}
	case 12:
		return fmt.Sprintf("cumulative_sum(%s)", a())
	}
	return leaf()
}

// matrix makes an expression of type matrix.
func (d *drawing) matrix(r, c string, depth int) string {
	if p := d.some(func(p *container) bool {
		return p.kind == matrices && p.arrays == 0 && p.size[0] == r && p.size[1] == c
	}); p != nil {
		switch {
		case depth <= 0 || d.chance(0.4):
			return p.name
		case d.chance(0.3):
			return fmt.Sprintf("(%s %s %s)", p.name, among(d, "+", ".*"), d.matrix(r, c, depth-1))
		case r == c && d.chance(0.6):
			return fmt.Sprintf(among(d, "%s'", "(0.3 * %[1]s * %[1]s)"), p.name)
		}
	}
	if depth > 0 && d.chance(0.5) {
		return fmt.Sprintf("(%s * %s')", d.vector(r, depth-1), d.vector(c, depth-1))
	}
	return fmt.Sprintf("rep_matrix(%s, %s, %s)", d.real(depth-1), r, c)
}

// value makes an expression of the type of p, with small numbers.
func (d *drawing) value(p container, depth int) string {
	if p.arrays > 0 {
		elem := p
		elem.arrays--
		elem.size = p.size[1:]
		if n := d.number(p.size[0]); p.size[0] != "N" && p.size[0] != "K" && n <= 4 && d.chance(0.5) {
			var xs []string
			for range n {
				xs = append(xs, d.value(elem, depth-1))
			}
			return "{" + strings.Join(xs, ", ") + "}"
		}
		if rows := among(d, "L", "k", "b"); p.kind == ints && p.arrays == 1 && p.size[0] == "N" && d.has(rows) && d.chance(0.6) {
			return rows
		}
		return fmt.Sprintf("rep_array(%s, %s)", d.value(elem, depth), p.size[0])
	}
	switch p.kind {
	case ints:
		return fmt.Sprintf("(%s) %% %d", d.int(depth), among(d, 20, 9, 5, 50))
	case reals:
		return d.bounded(d.real(depth))
	case complexes:
		return fmt.Sprintf("to_complex(%s, %s)", d.bounded(d.real(depth)), d.bounded(d.real(0)))
	case vectors:
		return d.boundedAll(d.vector(p.size[0], depth))
	case rows:
		return d.boundedAll(d.vector(p.size[0], depth)) + "'"
	}
	return d.boundedAll(d.matrix(p.size[0], p.size[1], depth))
}

// boundedAll applies bounded functions to each element of a container.
func (d *drawing) boundedAll(e string) string {
	return fmt.Sprintf(among(d, "tanh(%s)", "tanh(%s)", "inv_logit(%s)"), e)
}

// reduced makes a number that depends on every element of p.
func (d *drawing) reduced(p container) string {
	switch {
	case p.kind == complexes && p.arrays == 0:
		return fmt.Sprintf("(get_real(%s) + norm(%s))", p.name, p.name)
	case p.kind == complexes:
		return fmt.Sprintf("norm(%s)", d.element(&p, 1))
	case p.kind == ints && len(p.size) == 0:
		return fmt.Sprintf("(0.1 * %s)", p.name)
	case len(p.size) == 0:
		return p.name
	case p.kind == ints && p.arrays == 1:
		return fmt.Sprintf("(0.1 * sum(%s))", p.name)
	case len(p.size) == p.arrays && p.arrays == 1:
		return fmt.Sprintf(among(d, "sum(%s)", "log_sum_exp(%s)"), p.name)
	case p.arrays == 0 && p.kind == matrices:
		return fmt.Sprintf("sum(%s)", p.name)
	case p.arrays == 0:
		return fmt.Sprintf(among(d, "sum(%[1]s)", "dot_self(%[1]s)", "log_sum_exp(%[1]s)"), p.name)
	case p.kind != ints && p.arrays == 1:
		return fmt.Sprintf("sum(%s[%s])", p.name, d.index(p.size[0], 1))
	}
	return fmt.Sprintf("(0.1 * %s)", d.element(&p, 1))
}
