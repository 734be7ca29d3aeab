package proggen

import "fmt"

// computedInt declares an int between 1 and n whose value depends on parameters.
func (g *gen) computedInt(n int) string {
	k := g.name("k")
	g.line("int %s = %d;", k, g.between(1, n))
	g.line("if (%s) %s = %d;", g.realCond(), k, g.between(1, n))
	return k
}

// computedIndex reads and assigns elements at a computed index.
func (g *gen) computedIndex() bool {
	v := g.some(func(v *variable) bool {
		return !v.fixed && v.pinned == 0 && nonempty(v) && (v.is(vectors, 0) || v.is(matrices, 0) || v.is(reals, 1))
	})
	if v == nil || !g.intsHere() {
		return false
	}
	g.open("{")
	m := g.mark()
	size := v.all()[0]
	k := g.computedInt(size.n)
	row := len(v.all()) > 1
	rowValue := func() string { return g.scaled(g.row(v.all()[1], 1), 1).text }
	switch {
	case row && g.chance(0.5):
		g.line("%s[%s] = %s;", v.name, k, rowValue())
	case row:
		g.line("%s[%s, %d] += %s;", v.name, k, g.between(1, v.all()[1].n), g.scaled(g.real(1), 0.5).text)
	case g.chance(0.5):
		g.line("%s[%s] = %s;", v.name, k, g.scaled(g.real(2), 1).text)
	default:
		g.line("%s[%s] %s= %s;", v.name, k, among(g, "+", "-"), g.scaled(g.real(1), 0.5).text)
	}
	if g.adds() {
		if row {
			g.line("target += 0.1 * sum(%s[%s]);", v.name, k)
		} else {
			g.line("target += 0.1 * %s[%s];", v.name, k)
		}
	}
	g.release(m, true)
	g.close()
	return true
}

// computedLoop writes a for loop whose bound depends on parameters.
func (g *gen) computedLoop() bool {
	s := among(g, g.sizeT(), g.sizeN())
	if s.n == 0 || !g.fits(3*s.n) || !g.intsHere() {
		return false
	}
	g.open("{")
	m := g.mark()
	k := g.computedInt(s.n)
	g.inLoop(g.name("i"), "1", k, 1, s.n, true, func() { g.statements(g.between(1, 2)) })
	g.release(m, true)
	g.close()
	return true
}

// toTolerance writes a loop that iterates until its step is below a tolerance, as solvers do.
func (g *gen) toTolerance() bool {
	const trips = 12
	if !g.fits(trips) {
		return false
	}
	start, shift := g.scaled(g.real(1), 2).text, g.name("r")
	g.open("{")
	m := g.mark()
	g.line("real %s = %s;", shift, g.scaled(g.real(2), 1).text)
	x, last, next := g.name("r"), g.name("r"), g.name("r")
	g.line("real %s = %s;", x, start)
	g.line("real %s = 1;", last)
	g.open("while (abs(%s) > %s) {", last, among(g, "0.1", "1e-3", "1e-6"))
	g.line("real %s = 0.4 * tanh(%s) + %s;%s", next, x, shift, step)
	g.line("%s = %s - %s;%s", last, next, x, step)
	g.line("%s = %s;%s", x, next, step)
	g.inWhile(trips, 0.4)
	g.forEnd()
	g.release(m, true)
	if g.adds() {
		g.line("target += -0.5 * square(%s);", x)
	}
	g.close()
	return true
}

// inWhile writes statements into the body of a while loop of about the given number of trips, with
// probability p. The caller ends the loop by forEnd.
func (g *gen) inWhile(trips int, p float64) {
	g.costs = append(g.costs, g.cost)
	g.cost *= trips
	g.loops++
	m := g.mark()
	g.withoutJumps(func() {
		if g.chance(p) {
			g.statements(g.between(1, 2))
		}
	})
	g.release(m, false)
}

// shrinking writes a while loop with arbitrary statements in its body. It runs until a number is
// small, and every trip at least halves that number, so it ends.
func (g *gen) shrinking() bool {
	const trips = 4
	if !g.fits(2 * trips) {
		return false
	}
	e := g.name("e")
	g.line("real %s = %s;", e, g.scaled(g.real(2), 3).text)
	cond := fmt.Sprintf("abs(%s) > %s", e, among(g, "0.1", "0.3", "0.7"))
	if g.chance(0.2) {
		cond = fmt.Sprintf("(%s) && (%s)", cond, g.realCond())
	}
	g.declare(variable{name: e, kind: reals, bound: 3, ready: true, fixed: true, level: g.stage != inData})
	g.open("while (%s) {", cond)
	g.inWhile(trips, 0.8)
	if g.on(ParamJumps) && g.chance(0.3) {
		g.line("if (%s) break;", g.realCond())
	}
	g.line("%s *= %s;%s", e, among(g, "0.5", "-0.3", "0.5 * "+g.scaled(g.real(1), 1).text), step)
	g.forEnd()
	return true
}

// newton writes a function that solves an equation by Newton's method.
func (g *gen) newton(f *function) {
	f.bound = 4
	x, y, d, n := g.name("x"), g.name("r"), g.name("r"), g.name("n")
	g.argument(f, variable{name: x, kind: reals})
	if g.chance(0.4) {
		g.someArguments(f)
	}
	g.head(f, "real")
	slope, limited, early := among(g, "0.5", "0.3"), g.chance(0.5), g.chance(0.3)
	g.line("real %s = %s;", y, g.scaled(g.real(1), 2).text)
	g.line("real %s = 1;", d)
	cond := fmt.Sprintf("abs(%s) > %s", d, among(g, "1e-2", "1e-8"))
	if limited {
		g.line("int %s = 0;", n)
		cond += fmt.Sprintf(" && %s < %d", n, g.between(3, 20))
	}
	g.open("while (%s) {", cond)
	g.line("%s = (%s + %s * tanh(%s) - %s) / (1 + %s * (1 - square(tanh(%s))));%s", d, y, slope, y, x, slope, y, step)
	g.line("%s -= %s;%s", y, d, step)
	if limited {
		g.line("%s += 1;%s", n, step)
	}
	if early {
		g.line("if (%s) return %s;", among(g, fmt.Sprintf("abs(%s) > 2", y), g.realCond()), y)
	}
	g.inWhile(5, 0.3)
	g.forEnd()
	g.line("return %s;", y)
	g.close()
}

// position writes a loop that advances a position, an int, possibly by a different amount in each
// iteration.
func (g *gen) position() bool {
	n := g.sizeN()
	v := g.some(func(v *variable) bool { return v.is(vectors, 0) && v.dims[0].text == n.text })
	if v == nil || n.n == 0 || g.off[IntLocals] || !g.intsHere() || !g.fits(2*n.n) {
		return false
	}
	pos := g.name("p")
	g.line("int %s = 1;", pos)
	i := g.name("i")
	g.inLoop(i, "1", n.text, 1, n.n, true, func() {
		m := g.mark()
		g.declare(variable{name: pos, kind: ints, lo: 1, hi: n.n, ready: true, fixed: true})
		g.extras()
		if g.adds() {
			g.line("target += 0.1 * %s[%s] * %s;", v.name, pos, g.scaled(g.real(1), 1).text)
		}
		step := fmt.Sprintf("%s %% 3", i)
		if g.chance(0.5) {
			step = fmt.Sprint(g.between(1, 2))
		}
		g.line("if (%s + %s <= %s) %s += %s;", pos, step, n.text, pos, step)
		g.extras()
		g.release(m, false)
	})
	return true
}
