package proggen

import (
	"fmt"
	"math"
	"strings"
)

// someSize chooses a size for a vector in an expression.
func (g *gen) someSize() size {
	if g.chance(0.6) {
		v := g.some(func(v *variable) bool {
			return (v.kind == vectors || v.kind == rows) && v.dims[0].n > 0
		})
		if v != nil {
			return v.dims[0]
		}
	}
	return among(g, g.sizeN(), g.sizeK(), g.sizeK(), g.sizeT(), g.sizeJ(), lit(3))
}

// sequence makes an expression of type vector or, if row is set, row_vector.
func (g *gen) sequence(s size, depth int, row bool) expr {
	kd, other := vectors, rows
	if row {
		kd, other = rows, vectors
	}
	var out expr
	as := func(bound float64, format string, args ...any) bool {
		out = expr{fmt.Sprintf(format, args...), bound}
		return true
	}
	more := 0
	if depth > 0 {
		more = 1
	}
	g.pick(
		option{8, func() bool { // a variable or an element of an array
			v := g.some(func(v *variable) bool {
				return v.kind == kd && len(v.array) <= 1 && v.dims[0].n == s.n && nonempty(v)
			})
			if v == nil {
				return false
			}
			return as(v.bound, "%s", g.element(v, v.array))
		}},
		option{3, func() bool { return g.part(s, kd, &out) }},
		option{2, func() bool { return g.lineOf(s, row, &out) }},
		option{1, func() bool {
			v := g.some(func(v *variable) bool { return v.is(other, 0) && v.dims[0].n == s.n })
			if v == nil {
				return false
			}
			if g.chance(0.4) {
				return as(v.bound, "to_%s(%s)", kindName(kd), v.name)
			}
			return as(v.bound, "%s'", v.name)
		}},
		option{1, func() bool {
			x := g.real(depth - 1)
			return as(x.bound, "rep_%s(%s, %s)", kindName(kd), x.text, s.text)
		}},
		option{1, func() bool {
			if s.n > 4 {
				return false
			}
			var xs []string
			bound := 0.0
			for range s.n {
				x := g.real(depth - 1)
				xs, bound = append(xs, x.text), math.Max(bound, x.bound)
			}
			text := "[" + strings.Join(xs, ", ") + "]"
			if !row {
				text += "'"
			}
			return as(bound, "%s", text)
		}},
		option{5 * more, func() bool {
			x, y := g.sequence(s, depth-1, row), g.sequence(s, depth-1, row)
			if g.chance(0.3) {
				x, y = g.scaled(x, 3), g.scaled(y, 3)
				return as(x.bound*y.bound, "(%s .* %s)", x.text, y.text)
			}
			return as(x.bound+y.bound, "(%s %s %s)", x.text, among(g, "+", "-"), y.text)
		}},
		option{4 * more, func() bool {
			x, y := g.scaled(g.real(depth-1), 3), g.scaled(g.sequence(s, depth-1, row), 3)
			if g.chance(0.3) {
				return as(x.bound+y.bound, "(%s %s %s)", y.text, among(g, "+", "-"), x.text)
			}
			return as(x.bound*y.bound, "(%s * %s)", x.text, y.text)
		}},
		option{3 * more, func() bool {
			x := g.scaled(g.sequence(s, depth-1, row), 2)
			switch g.between(0, 5) {
			case 0:
				return as(1, "tanh(%s)", x.text)
			case 1:
				return as(4, "square(%s)", x.text)
			case 2:
				return as(3, "exp(0.5 * %s)", x.text)
			case 3:
				return as(2, "(-%s)", x.text)
			case 4:
				return as(2, "reverse(%s)", x.text)
			}
			return as(1, "inv_logit(%s)", x.text)
		}},
		option{2 * more, func() bool {
			if row {
				return false
			}
			x := g.scaled(g.sequence(s, depth-1, row), 2)
			if g.chance(0.5) {
				return as(2*float64(s.n), "cumulative_sum(%s)", x.text)
			}
			return as(1, "softmax(%s)", x.text)
		}},
		option{2 * more, func() bool { // matrix and vector
			k := g.sizeK()
			m, v := g.matrix(s, k, depth-1), g.sequence(k, depth-1, row)
			if row {
				m = g.matrix(k, s, depth-1)
				return as(float64(k.n)*m.bound*v.bound, "(%s * %s)", v.text, m.text)
			}
			return as(float64(k.n)*m.bound*v.bound, "(%s * %s)", m.text, v.text)
		}},
		option{1 * more, func() bool {
			if g.dropping && g.off[CondLevels] {
				return false
			}
			x, y := g.sequence(s, depth-1, row), g.sequence(s, depth-1, row)
			return as(math.Max(x.bound, y.bound), "(%s ? %s : %s)", g.cond(), x.text, y.text)
		}},
		option{3 * more, func() bool { return !row && g.callVector(s, depth, &out) }},
	)
	return g.scaled(out, maxBound)
}

func kindName(k kind) string {
	return [...]string{"int", "real", "vector", "row_vector", "matrix"}[k]
}

// part makes an expression of s elements of a longer sequence: a slice, or elements selected by an
// int array.
func (g *gen) part(s size, kd kind, out *expr) bool {
	v := g.some(func(v *variable) bool { return v.is(kd, 0) && v.dims[0].n >= s.n })
	if v == nil {
		return false
	}
	*out = expr{"", v.bound}
	long := v.dims[0].n
	if by := g.some(func(x *variable) bool { return x.is(ints, 1) && x.array[0].n == s.n && x.lo >= 1 && x.hi <= long }); by != nil && g.chance(0.5) {
		out.text = v.name + "[" + by.name + "]"
		return true
	}
	from := g.between(1, long-s.n+1)
	if i := g.some(func(x *variable) bool { return x.is(ints, 0) && x.loop && x.lo >= 1 && x.hi+s.n-1 <= long }); i != nil && g.on(LoopSlices) {
		out.text = fmt.Sprintf("%s[%s:%s + %d]", v.name, i.name, i.name, s.n-1)
		return true
	}
	switch g.between(0, 3) {
	case 0:
		out.text = fmt.Sprintf("head(%s, %d)", v.name, s.n)
	case 1:
		out.text = fmt.Sprintf("tail(%s, %d)", v.name, s.n)
	case 2:
		out.text = fmt.Sprintf("segment(%s, %d, %d)", v.name, from, s.n)
	default:
		out.text = fmt.Sprintf("%s[%d:%d]", v.name, from, from+s.n-1)
	}
	return true
}

// lineOf makes an expression for a row or column of a matrix.
func (g *gen) lineOf(s size, row bool, out *expr) bool {
	along := 0
	if row {
		along = 1
	}
	v := g.some(func(v *variable) bool { return v.is(matrices, 0) && v.dims[along].n == s.n && nonempty(v) })
	if v == nil {
		return false
	}
	at := g.index(v.dims[1-along], 2).text
	*out = expr{"", v.bound}
	switch {
	case row && g.chance(0.3):
		out.text = fmt.Sprintf("%s[%s, :]", v.name, at)
	case row:
		out.text = fmt.Sprintf("%s[%s]", v.name, at)
	default:
		out.text = fmt.Sprintf("%s[, %s]", v.name, at)
	}
	return true
}

func (g *gen) vector(s size, depth int) expr { return g.sequence(s, depth, false) }
func (g *gen) row(s size, depth int) expr    { return g.sequence(s, depth, true) }

// matrix makes an expression of type matrix.
func (g *gen) matrix(r, c size, depth int) expr {
	var out expr
	as := func(bound float64, format string, args ...any) bool {
		out = expr{fmt.Sprintf(format, args...), bound}
		return true
	}
	variableOf := func(r, c size) *variable {
		return g.some(func(v *variable) bool {
			return v.kind == matrices && len(v.array) <= 1 && v.dims[0].n == r.n && v.dims[1].n == c.n && nonempty(v)
		})
	}
	more := 0
	if depth > 0 {
		more = 1
	}
	g.pick(
		option{8, func() bool {
			v := variableOf(r, c)
			if v == nil {
				return false
			}
			return as(v.bound, "%s", g.element(v, v.array))
		}},
		option{2, func() bool {
			v := variableOf(c, r)
			if v == nil || len(v.array) > 0 {
				return false
			}
			return as(v.bound, "%s'", v.name)
		}},
		option{2, func() bool { // some rows of a larger matrix
			v := g.some(func(v *variable) bool { return v.is(matrices, 0) && v.dims[0].n >= r.n && v.dims[1].n == c.n })
			if v == nil {
				return false
			}
			by := g.some(func(x *variable) bool {
				return x.is(ints, 1) && x.array[0].n == r.n && x.lo >= 1 && x.hi <= v.dims[0].n
			})
			if by != nil && g.chance(0.5) {
				return as(v.bound, "%s[%s]", v.name, by.name)
			}
			from := g.between(1, v.dims[0].n-r.n+1)
			return as(v.bound, "%s[%d:%d, ]", v.name, from, from+r.n-1)
		}},
		option{1, func() bool {
			x := g.real(depth - 1)
			return as(x.bound, "rep_matrix(%s, %s, %s)", x.text, r.text, c.text)
		}},
		option{1, func() bool {
			x, y := g.scaled(g.vector(r, depth-1), 2), g.scaled(g.row(c, depth-1), 2)
			return as(x.bound*y.bound, "(%s * %s)", x.text, y.text)
		}},
		option{2 * more, func() bool {
			x, y := g.matrix(r, c, depth-1), g.matrix(r, c, depth-1)
			return as(x.bound+y.bound, "(%s %s %s)", x.text, among(g, "+", "-"), y.text)
		}},
		option{2 * more, func() bool {
			x, y := g.scaled(g.real(depth-1), 2), g.scaled(g.matrix(r, c, depth-1), 2)
			return as(x.bound*y.bound, "(%s * %s)", x.text, y.text)
		}},
		option{1 * more, func() bool {
			if r.n != c.n {
				return false
			}
			x := g.vector(r, depth-1)
			return as(x.bound, "diag_matrix(%s)", x.text)
		}},
		option{1 * more, func() bool {
			x := g.scaled(g.matrix(r, c, depth-1), 2)
			return as(1, "tanh(%s)", x.text)
		}},
	)
	return g.scaled(out, maxBound)
}
