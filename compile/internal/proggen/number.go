package proggen

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// expr is an expression, of type real or a container of reals, with a bound of its absolute values.
type expr struct {
	text  string
	bound float64
}

// index is an expression of type int, with the range of its values.
type index struct {
	text   string
	lo, hi int
}

// maxBound is the bound above which expressions are scaled down.
const maxBound = 12

func literal(x float64) string {
	s := strconv.FormatFloat(x, 'g', 4, 64)
	if !strings.ContainsAny(s, ".e") {
		s += ".0"
	}
	if x < 0 {
		s = "(" + s + ")"
	}
	return s
}

// scaled returns e, or if its bound is above limit, a multiple or the tanh of e whose bound is not.
func (g *gen) scaled(e expr, limit float64) expr {
	if e.bound <= limit {
		return e
	}
	if limit >= 1 && g.chance(0.2) {
		return expr{"tanh(" + e.text + ")", 1}
	}
	digits := math.Pow(10, math.Floor(math.Log10(limit/e.bound))-1)
	c := math.Max(math.Floor(limit/e.bound/digits)*digits, digits)
	return expr{"(" + literal(c) + " * " + e.text + ")", limit}
}

// ---- indices ----

// index makes an int expression with values in 1..s.n.
func (g *gen) index(s size, depth int) index {
	var cands []func() index
	weigh := func(w int, f func() index) {
		for range w {
			cands = append(cands, f)
		}
	}
	fixed := func(text string, lo, hi int) func() index {
		return func() index { return index{text, lo, hi} }
	}
	c := g.between(1, s.n)
	weigh(1, fixed(fmt.Sprint(c), c, c))
	weigh(1, fixed(s.text, s.n, s.n))
	for _, v := range g.vars {
		if v.kind != ints || !v.ready || len(v.array) > 1 {
			continue
		}
		if len(v.array) == 1 {
			if v.lo >= 1 && v.hi <= s.n && depth > 0 {
				weigh(4, func() index {
					return index{v.name + "[" + g.index(v.array[0], depth-1).text + "]", v.lo, v.hi}
				})
			}
			continue
		}
		w := 1
		if v.loop {
			w = 3
		}
		if v.lo == v.hi {
			continue // an int with a single value is a size, which is offered above
		}
		fits := func(lo, hi int) bool { return lo >= 1 && hi <= s.n }
		if fits(v.lo, v.hi) {
			weigh(8*w, fixed(v.name, v.lo, v.hi))
			weigh(w, fixed("("+s.text+" + 1 - "+v.name+")", s.n+1-v.hi, s.n+1-v.lo))
		}
		for d := 1; d <= 3; d++ {
			if fits(v.lo+d, v.hi+d) {
				weigh(w, fixed(fmt.Sprintf("(%s + %d)", v.name, d), v.lo+d, v.hi+d))
			}
			if fits(v.lo-d, v.hi-d) {
				weigh(2*w, fixed(fmt.Sprintf("(%s - %d)", v.name, d), v.lo-d, v.hi-d))
			}
		}
		if v.lo >= 0 && s.n > 1 {
			weigh(w, fixed(fmt.Sprintf("(%s %% %s + 1)", v.name, s.text), 1, s.n))
		}
		if v.lo >= 1 && v.hi > s.n {
			weigh(w, fixed(fmt.Sprintf("min(%s, %d)", v.name, s.n), 1, s.n))
		}
		if fits(2*v.lo-1, 2*v.hi-1) {
			weigh(w, fixed(fmt.Sprintf("(2 * %s - 1)", v.name), 2*v.lo-1, 2*v.hi-1))
		}
		if fits(v.lo, v.hi) && v.lo == 1 {
			d := g.between(1, 2)
			weigh(w, fixed(fmt.Sprintf("(%s > %d ? %s - %d : 1)", v.name, d, v.name, d), 1, v.hi))
			weigh(w, fixed(fmt.Sprintf("max(%s - %d, 1)", v.name, d), 1, v.hi))
		}
	}
	for _, f := range g.funcs {
		if f.picks && depth > 0 && g.fn != f {
			weigh(1, func() index {
				return index{fmt.Sprintf("%s(%s, %d)", f.name, g.anyInt(), s.n), 1, s.n}
			})
		}
	}
	return one(g, cands)()
}

// anyInt makes a small int.
func (g *gen) anyInt() string {
	if v := g.some(func(v *variable) bool { return v.is(ints, 0) && v.lo >= 0 && v.lo < v.hi }); v != nil && g.chance(0.8) {
		return v.name
	}
	if v := g.some(func(v *variable) bool { return v.is(ints, 1) && v.lo >= 0 && v.array[0].n > 0 }); v != nil && g.chance(0.7) {
		return v.name + "[" + g.index(v.array[0], 1).text + "]"
	}
	return fmt.Sprint(g.between(0, 4))
}

// element makes an element of v at random indices.
func (g *gen) element(v *variable, sizes []size) string {
	var at []string
	for _, s := range sizes {
		at = append(at, g.index(s, 2).text)
	}
	if len(at) == 0 {
		return v.name
	}
	if len(at) == 2 && g.chance(0.2) {
		return v.name + "[" + at[0] + "][" + at[1] + "]"
	}
	return v.name + "[" + strings.Join(at, ", ") + "]"
}

func nonempty(v *variable) bool {
	for _, s := range v.all() {
		if s.n == 0 {
			return false
		}
	}
	return true
}

// ---- conditions ----

// dataCond makes a condition that depends on data only.
func (g *gen) dataCond() string {
	var out string
	g.pick(
		option{4, func() bool {
			v := g.some(func(v *variable) bool { return v.is(ints, 1) && v.array[0].n > 0 })
			if v == nil {
				return false
			}
			out = fmt.Sprintf("%s[%s] %s %d", v.name, g.index(v.array[0], 1).text, among(g, "==", ">", "<=", "!="), g.between(v.lo, v.hi))
			return true
		}},
		option{5, func() bool {
			v := g.some(func(v *variable) bool { return v.is(ints, 0) && v.lo < v.hi })
			if v == nil {
				return false
			}
			if g.chance(0.4) {
				out = fmt.Sprintf("%s %% %d == %d", v.name, g.between(2, 3), g.between(0, 1))
			} else {
				out = fmt.Sprintf("%s %s %d", v.name, among(g, ">", "<", ">=", "<="), g.between(v.lo, v.hi))
			}
			return true
		}},
		option{3, func() bool {
			v := g.some(func(v *variable) bool { return v.kind != ints && !v.level && v.fixed && nonempty(v) })
			if v == nil {
				return false
			}
			out = fmt.Sprintf("%s > %s", g.element(v, v.all()), literal(g.number(1)))
			return true
		}},
		option{1, func() bool {
			out = among(g, "1 < 2", "3 == 4")
			return true
		}},
	)
	switch {
	case g.chance(0.12):
		out = "(" + out + ") && (" + g.dataCond() + ")"
	case g.chance(0.12):
		out = "(" + out + ") || (" + g.dataCond() + ")"
	case g.chance(0.08):
		out = "!(" + out + ")"
	}
	return out
}

// realCond compares reals, which may depend on parameters.
func (g *gen) realCond() string {
	out := g.real(1).text + " " + among(g, ">", "<", ">=") + " " + g.real(1).text
	if g.chance(0.15) {
		out = "(" + out + ") " + among(g, "&&", "||") + " (" + among(g, g.realCond, g.dataCond)() + ")"
	}
	return out
}

// cond makes a condition of either kind.
func (g *gen) cond() string {
	if g.on(ParamBranch) && g.chance(0.5) {
		return g.realCond()
	}
	return g.dataCond()
}

// ---- reals ----

// leaf makes a simple real expression: a variable, an element or a literal.
func (g *gen) leaf() expr {
	var out expr
	g.pick(
		option{12, func() bool {
			v := g.some(func(v *variable) bool { return v.kind != ints && nonempty(v) })
			if v == nil {
				return false
			}
			out = expr{g.element(v, v.all()), v.bound}
			return true
		}},
		option{1, func() bool {
			v := g.some(func(v *variable) bool { return v.is(ints, 0) })
			if v == nil {
				return false
			}
			out = expr{"(" + v.name + " / 10.0)", math.Max(math.Abs(float64(v.lo)), float64(v.hi)) / 10}
			return true
		}},
		option{1, func() bool {
			v := g.some(func(v *variable) bool { return v.is(ints, 1) && v.array[0].n > 0 && v.hi < 8 })
			if v == nil {
				return false
			}
			out = expr{g.element(v, v.array), float64(v.hi)}
			return true
		}},
		option{2, func() bool {
			x := g.number(2)
			out = expr{literal(x), math.Abs(x)}
			return true
		}},
	)
	return out
}

// real makes an expression of type real.
func (g *gen) real(depth int) expr {
	if depth <= 0 {
		return g.leaf()
	}
	var out expr
	as := func(bound float64, format string, args ...any) bool {
		out = expr{fmt.Sprintf(format, args...), bound}
		return true
	}
	g.pick(
		option{6, func() bool { out = g.leaf(); return true }},
		option{6, func() bool {
			x, y := g.real(depth-1), g.real(depth-1)
			return as(x.bound+y.bound, "(%s %s %s)", x.text, among(g, "+", "-"), y.text)
		}},
		option{6, func() bool {
			x, y := g.scaled(g.real(depth-1), 3), g.scaled(g.real(depth-1), 3)
			return as(x.bound*y.bound, "(%s * %s)", x.text, y.text)
		}},
		option{1, func() bool { return depth > 1 && g.complexReal(depth, &out) }},
		option{2, func() bool {
			x, y := g.real(depth-1), g.real(depth-1)
			return as(x.bound/1.5, "(%s / (1.5 + square(%s)))", x.text, y.text)
		}},
		option{5, func() bool {
			x := g.scaled(g.real(depth-1), 3)
			switch g.between(0, 11) {
			case 0:
				return as(1, "tanh(%s)", x.text)
			case 1:
				return as(1, "sin(%s)", x.text)
			case 2:
				return as(1, "inv_logit(%s)", x.text)
			case 3:
				return as(x.bound*x.bound, "square(%s)", x.text)
			case 4:
				return as(math.Exp(0.5*x.bound), "exp(0.5 * %s)", x.text)
			case 5:
				return as(x.bound+1, "log1p_exp(%s)", x.text)
			case 6:
				return as(x.bound+1, "sqrt(0.5 + square(%s))", x.text)
			case 7:
				return as(x.bound, "abs(%s)", x.text)
			case 8:
				return as(x.bound, "(-%s)", x.text)
			case 9:
				return as(x.bound*x.bound, "(%s)^2", x.text)
			case 10:
				return as(1, "Phi(%s)", x.text)
			}
			return as(x.bound+1, "log(1.2 + square(%s))", x.text)
		}},
		option{2, func() bool {
			x, y := g.real(depth-1), g.real(depth-1)
			if g.chance(0.2) { // hypot(0, 0) has no derivative, so keep away from it
				return as(x.bound+2, "hypot(%s, 1.5)", x.text)
			}
			f := among(g, "fmax", "fmin", "log_sum_exp")
			return as(x.bound+y.bound+1, "%s(%s, %s)", f, x.text, y.text)
		}},
		option{3, func() bool {
			if g.dropping && g.off[CondLevels] {
				return false
			}
			x, y := g.real(depth-1), g.real(depth-1)
			return as(math.Max(x.bound, y.bound), "(%s ? %s : %s)", g.cond(), x.text, y.text)
		}},
		option{4, func() bool { return g.reduction(depth, &out) }},
		option{3, func() bool { return g.callReal(depth, &out) }},
		option{1, func() bool {
			x, m := g.scaled(g.real(depth-1), 3), g.scaled(g.real(depth-1), 3)
			return as(30, "normal_lpdf(%s | %s, %s)", x.text, m.text, g.positive(depth-1))
		}},
		option{1, func() bool {
			if g.off[ParamInts] {
				return false
			}
			x := g.real(depth - 1)
			return as(x.bound, "((%s) * %s)", g.realCond(), x.text)
		}},
		option{1, func() bool {
			if g.off[TargetReads] || g.stage != inModel || g.loops > 0 && g.chance(0.8) {
				return false
			}
			return as(1, "tanh(0.01 * target())")
		}},
	)
	return g.scaled(out, maxBound)
}

// reduction makes a real expression from a container.
func (g *gen) reduction(depth int, out *expr) bool {
	s := g.someSize()
	n := float64(s.n)
	v := g.vector(s, depth-1)
	switch g.between(0, 8) {
	case 0:
		*out = expr{"sum(" + v.text + ")", n * v.bound}
	case 1:
		*out = expr{"mean(" + v.text + ")", v.bound}
	case 2:
		w := g.vector(s, depth-1)
		*out = expr{"dot_product(" + v.text + ", " + w.text + ")", n * v.bound * w.bound}
	case 3:
		*out = expr{"dot_self(" + v.text + ")", n * v.bound * v.bound}
	case 4:
		*out = expr{"log_sum_exp(" + v.text + ")", v.bound + math.Log(n)}
	case 5:
		*out = expr{among(g, "max", "min") + "(" + v.text + ")", v.bound}
	case 6:
		r := g.row(s, depth-1)
		*out = expr{"(" + r.text + " * " + v.text + ")", n * v.bound * r.bound}
	case 7:
		k := g.sizeK()
		m := g.matrix(k, k, depth-1)
		*out = expr{among(g, "sum", "trace") + "(" + m.text + ")", float64(k.n*k.n) * m.bound}
	default:
		if s.n < 2 {
			return false
		}
		// The standard deviation has no derivative where all elements are equal, so use the
		// variance.
		*out = expr{"variance(" + v.text + ")", v.bound * v.bound * 2}
	}
	return true
}

// positive makes a real expression with values above about 0.3.
func (g *gen) positive(depth int) string {
	if g.on(Rejections) && g.chance(0.04) {
		return g.real(1).text // possibly negative, so that the program rejects
	}
	s := g.some(func(v *variable) bool { return v.name == "s" })
	switch g.between(0, 4) {
	case 0:
		return "(0.4 + square(" + g.scaled(g.real(depth), 2).text + "))"
	case 1:
		return "exp(" + g.scaled(g.real(depth), 1).text + ")"
	case 2:
		return "(0.3 + log1p_exp(" + g.scaled(g.real(depth), 3).text + "))"
	case 3:
		if s != nil {
			return among(g, "s", "(s + 0.5)", "sqrt(s + 0.1)")
		}
	}
	return literal(math.Abs(g.number(2)) + 0.5)
}
