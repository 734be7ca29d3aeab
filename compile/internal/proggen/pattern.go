package proggen

import "fmt"

// pattern writes a group of statements that is frequent in models, and whose loop the compiler
// recognises and evaluates in a special way.
func (g *gen) pattern() bool {
	ps := []func() bool{
		g.fillVector, g.fillVector, g.scalarState, g.vectorRecurrence, g.vectorRecurrence, g.backward, g.privateTemporary, g.privateTemporary,
		g.groupSums, g.groupSums, g.permuted, g.antiDependence, g.forwardChain, g.tableOfSteps, g.vectorState, g.counter, g.intTable,
		g.raggedSums, g.raggedSlices, g.elementBranches, g.matrixNest, g.position,
	}
	if g.on(Computed) {
		ps = append(ps, g.computedIndex, g.computedIndex, g.computedLoop, g.toTolerance, g.shrinking, g.shrinking)
	}
	return one(g, ps)()
}

// steady writes a loop whose body has no jumps, so that every iteration runs to its end.
func (g *gen) steady(i, from, to string, lo, hi int, body func()) {
	g.withoutJumps(func() { g.inLoop(i, from, to, lo, hi, true, body) })
}

// over chooses the number of iterations of a pattern's loop. ok is false if it may not run that
// often here.
func (g *gen) over() (s size, ok bool) {
	s = among(g, g.sizeN(), g.sizeN(), g.sizeT())
	return s, g.fits(3 * s.n)
}

// extras sometimes adds a statement that does not belong to the pattern.
func (g *gen) extras() {
	if g.chance(0.35) {
		g.statement()
	}
}

// fillVector writes a loop that assigns each element of a vector.
func (g *gen) fillVector() bool {
	s, ok := g.over()
	if !ok {
		return false
	}
	g.fill(s)
	return true
}

// scalarState writes a loop in which each iteration replaces a real by a function of itself.
func (g *gen) scalarState() bool {
	s, ok := g.over()
	if !ok {
		return false
	}
	start := g.scaled(g.real(1), 2).text
	v := g.declare(variable{name: g.name("r"), kind: reals, bound: localBound, ready: true, level: g.stage != inData})
	g.line("real %s = %s;", v.name, start)
	from := g.between(1, 3)
	g.inLoop(g.name("i"), fmt.Sprint(from), s.text, from, s.n, true, func() {
		g.extras()
		g.line("%s = %s * %s + %s;", v.name, among(g, "0.5", "0.8 * tanh("+g.leaf().text+")", "-0.4"), v.name, g.scaled(g.real(2), 1.5).text)
		g.extras()
		if g.adds() && g.chance(0.6) {
			g.addTarget()
		}
	})
	return true
}

// vectorRecurrence writes a loop that computes each element of a vector from earlier ones.
func (g *gen) vectorRecurrence() bool {
	s, ok := g.over()
	if !ok {
		return false
	}
	d := g.between(1, 3)
	v := g.declare(variable{name: g.name("v"), kind: vectors, dims: []size{s}, bound: localBound, level: g.stage != inData})
	if g.chance(0.5) {
		g.line("%s = rep_vector(%s, %s);", declaration(v, ""), g.scaled(g.real(1), 2).text, s.text)
	} else {
		g.line("%s;", declaration(v, ""))
		for i := 1; i <= d; i++ {
			g.line("%s[%d] = %s;", v.name, i, g.scaled(g.real(1), 2).text)
		}
	}
	i := g.name("i")
	g.steady(i, fmt.Sprint(d+1), s.text, d+1, s.n, func() {
		g.extras()
		term := fmt.Sprintf("0.4 * %s[%s - %d]", v.name, i, d)
		if g.chance(0.5) {
			term += fmt.Sprintf(" - 0.3 * tanh(%s[%s - %d])", v.name, i, g.between(1, d))
		}
		if g.chance(0.3) {
			g.line("%s[%s] = %s;", v.name, i, g.scaled(g.real(2), 1).text)
			g.line("%s[%s] += %s;", v.name, i, term)
		} else {
			g.line("%s[%s] = %s + %s;", v.name, i, term, g.scaled(g.real(2), 1).text)
		}
		if g.adds() && g.chance(0.4) {
			g.line("target += -0.1 * square(%s[%s - %d]);", v.name, i, g.between(0, d))
		}
		g.extras()
	})
	v.ready = true
	return true
}

// backward writes a recurrence that runs from the last element to the first.
func (g *gen) backward() bool {
	s, ok := g.over()
	if !ok {
		return false
	}
	v := g.declare(variable{name: g.name("v"), kind: vectors, dims: []size{s}, bound: localBound, level: g.stage != inData})
	g.line("%s;", declaration(v, ""))
	g.line("%s[%s] = %s;", v.name, s.text, g.scaled(g.real(1), 2).text)
	i := g.name("i")
	g.steady(i, "1", "("+s.text+" - 1)", 1, s.n-1, func() {
		g.line("%s[%s - %s] = 0.5 * %s[%s - %s + 1] + %s;", v.name, s.text, i, v.name, s.text, i, g.scaled(g.real(2), 1).text)
		g.extras()
	})
	v.ready = true
	return true
}

// privateTemporary writes a variable declared outside the loop that every iteration overwrites
// before it reads it.
func (g *gen) privateTemporary() bool {
	s, ok := g.over()
	if !ok {
		return false
	}
	v := g.declare(*g.newVariable())
	if g.chance(0.3) {
		if e, ok := g.whole0(v, 1); ok {
			g.line("%s = %s;", declaration(v, ""), e.text)
			v.ready = true
		}
	}
	if !v.ready {
		g.line("%s;", declaration(v, ""))
	}
	g.inLoop(g.name("i"), "1", s.text, 1, s.n, true, func() {
		g.fillVariable(v)
		g.extras()
		if g.adds() {
			g.addTarget()
		} else {
			g.statement()
		}
	})
	return true
}

// groupSums writes a loop that adds to the elements of a vector that an int array of groups
// selects.
func (g *gen) groupSums() bool {
	s, ok := g.over()
	if !ok {
		return false
	}
	by := g.some(func(v *variable) bool { return v.is(ints, 1) && v.lo >= 1 && v.hi > 1 && v.array[0].n >= s.n })
	if by == nil {
		return false
	}
	out := size{fmt.Sprint(by.hi), by.hi}
	start := g.scaled(g.real(1), 2).text
	v := g.declare(variable{name: g.name("v"), kind: vectors, dims: []size{out}, bound: localBound, ready: true, level: g.stage != inData})
	g.line("%s = rep_vector(%s, %s);", declaration(v, ""), start, out.text)
	i := g.name("i")
	g.inLoop(i, "1", s.text, 1, s.n, true, func() {
		g.line("%s[%s[%s]] %s= %s;", v.name, by.name, i, among(g, "+", "+", "-"), g.scaled(g.real(2), 0.2).text)
		g.extras()
	})
	return true
}

// permuted writes a loop that assigns the elements of a vector in the order of an int array,
// perhaps some more than once.
func (g *gen) permuted() bool {
	s := g.sizeN()
	if !g.fits(s.n) {
		return false
	}
	by := g.some(func(v *variable) bool { return v.is(ints, 1) && v.lo >= 1 && v.hi <= s.n && v.array[0].n == s.n })
	if by == nil {
		return false
	}
	v := &variable{name: g.name("v"), kind: vectors, dims: []size{s}, bound: localBound, ready: true, level: g.stage != inData}
	e, _ := g.whole0(v, 1)
	v = g.declare(*v)
	g.line("%s = %s;", declaration(v, ""), e.text)
	i := g.name("i")
	g.inLoop(i, "1", s.text, 1, s.n, true, func() {
		g.line("%s[%s[%s]] = %s;", v.name, by.name, i, g.scaled(g.real(2), v.bound).text)
		g.extras()
	})
	return true
}

// antiDependence writes a loop in which each iteration reads an element that a later iteration
// overwrites.
func (g *gen) antiDependence() bool {
	s, ok := g.over()
	if !ok {
		return false
	}
	d := g.between(1, 3)
	v := &variable{name: g.name("v"), kind: vectors, dims: []size{s}, bound: localBound, ready: true, level: g.stage != inData}
	e, _ := g.whole0(v, 2)
	v = g.declare(*v)
	g.line("%s = %s;", declaration(v, ""), e.text)
	i := g.name("i")
	g.inLoop(i, "1", fmt.Sprintf("(%s - %d)", s.text, d), 1, s.n-d, true, func() {
		g.line("%s[%s] = 0.5 * %s[%s + %d] - %s;", v.name, i, v.name, i, d, g.scaled(g.real(2), 1).text)
		g.extras()
	})
	return true
}

// forwardChain writes a loop with two statements, of which the second reads what the first wrote in
// an earlier iteration.
func (g *gen) forwardChain() bool {
	s, ok := g.over()
	if !ok {
		return false
	}
	d := g.between(1, 2)
	x := g.declare(variable{name: g.name("v"), kind: vectors, dims: []size{s}, bound: localBound, ready: true, level: g.stage != inData})
	g.line("%s = rep_vector(%s, %s);", declaration(x, ""), literal(g.number(1)), s.text)
	y := g.declare(variable{name: g.name("v"), kind: vectors, dims: []size{s}, bound: localBound + 2, level: g.stage != inData})
	g.line("%s;", declaration(y, ""))
	i := g.name("i")
	y.ready = g.inLoop(i, "1", s.text, 1, s.n, true, func() {
		g.line("%s[%s] = %s;", x.name, i, g.scaled(g.real(2), x.bound).text)
		g.extras()
		g.line("%s[%s] = (%s > %d ? %s[%s - %d] : 0.2) + %s;", y.name, i, i, d, x.name, i, d, g.scaled(g.real(1), 2).text)
		g.extras()
	})
	return true
}

// tableOfSteps fills a table row by row, each from the row before, as the forward algorithm of a
// hidden Markov model does.
func (g *gen) tableOfSteps() bool {
	t, k := g.sizeT(), g.sizeK()
	if !g.fits(t.n * k.n * k.n) {
		return false
	}
	v := g.declare(variable{name: g.name("c"), kind: vectors, array: []size{t}, dims: []size{k}, bound: localBound, level: g.stage != inData})
	acc := g.declare(variable{name: g.name("v"), kind: vectors, dims: []size{k}, bound: localBound, level: g.stage != inData})
	if g.stage == inTransformed && g.depth == 1 {
		g.line("%s = rep_vector(0.1, %s);", declaration(acc, ""), k.text)
	} else {
		g.line("%s;", declaration(acc, ""))
	}
	g.line("%s;", declaration(v, ""))
	g.line("%s[1] = %s;", v.name, g.scaled(g.vector(k, 1), 2).text)
	ti, ki, ji := g.name("i"), g.name("i"), g.name("i")
	g.steady(ti, "2", t.text, 2, t.n, func() {
		g.steady(ki, "1", k.text, 1, k.n, func() {
			g.steady(ji, "1", k.text, 1, k.n, func() {
				g.line("%s[%s] = 0.5 * %s[%s - 1, %s] + %s;", acc.name, ji, v.name, ti, ji, g.scaled(g.real(1), 1).text)
			})
			g.line("%s[%s, %s] = 0.5 * log_sum_exp(%s);", v.name, ti, ki, acc.name)
		})
		g.extras()
	})
	v.ready, acc.ready = true, true
	return true
}

// vectorState writes a loop in which each iteration multiplies a vector by a matrix.
func (g *gen) vectorState() bool {
	s, ok := g.over()
	k := g.sizeK()
	if !ok {
		return false
	}
	v := &variable{name: g.name("v"), kind: vectors, dims: []size{k}, bound: localBound, ready: true, level: g.stage != inData}
	e, _ := g.whole0(v, 1)
	v = g.declare(*v)
	g.line("%s = %s;", declaration(v, ""), e.text)
	path := g.declare(variable{name: g.name("m"), kind: matrices, dims: []size{s, k}, bound: localBound, level: g.stage != inData})
	g.line("%s;", declaration(path, ""))
	i := g.name("i")
	g.steady(i, "1", s.text, 1, s.n, func() {
		m := g.scaled(g.matrix(k, k, 1), 0.4)
		g.line("%s = %s * %s + %s;", v.name, m.text, v.name, g.scaled(g.vector(k, 1), 1).text)
		g.extras()
		g.line("%s[%s] = %s';", path.name, i, v.name)
	})
	path.ready = true
	return true
}

// counter writes a loop that counts, in an int, iterations selected by data, and uses the count.
func (g *gen) counter() bool {
	s, ok := g.over()
	if !ok || g.off[IntLocals] || !g.intsHere() {
		return false
	}
	n := g.declare(variable{name: g.name("n"), kind: ints, lo: 0, hi: s.n, ready: true, fixed: true})
	g.line("int %s = 0;", n.name)
	g.inLoop(g.name("i"), "1", s.text, 1, s.n, true, func() {
		g.line("if (%s) %s += 1;", g.dataCond(), n.name)
		g.statements(g.between(1, 2))
	})
	return true
}

// intTable writes a loop that fills an array of ints. Later statements use it as indices.
func (g *gen) intTable() bool {
	s, ok := g.over()
	if !ok || !g.intsHere() {
		return false
	}
	to := among(g, g.sizeN(), g.sizeK(), g.sizeJ(), g.sizeT())
	v := g.declare(variable{name: g.name("n"), kind: ints, array: []size{s}, lo: 1, hi: to.n})
	g.line("array[%s] int %s;", s.text, v.name)
	i := g.name("i")
	g.steady(i, "1", s.text, 1, s.n, func() {
		at := g.index(to, 2).text
		if g.chance(0.4) {
			g.open("if (%s) {", g.dataCond())
			g.line("%s[%s] = %s;", v.name, i, at)
			g.indent--
			g.line("} else {")
			g.indent++
			g.line("%s[%s] = %s;", v.name, i, g.index(to, 2).text)
			g.close()
		} else {
			g.line("%s[%s] = %s;", v.name, i, at)
		}
	})
	v.ready = true
	return true
}

// raggedSums writes a nest of loops: the inner one sums a part of a vector, and these parts have
// different lengths.
func (g *gen) raggedSums() bool {
	j := g.sizeJ()
	if g.off[Ragged] || g.stage == inFunction || !g.fits(j.n*4) {
		return false
	}
	start := g.scaled(g.real(1), 2).text
	v := g.declare(variable{name: g.name("v"), kind: vectors, dims: []size{j}, bound: localBound, ready: true, level: g.stage != inData})
	g.line("%s = rep_vector(%s, %s);", declaration(v, ""), start, j.text)
	o := g.name("i")
	g.inLoop(o, "1", j.text, 1, j.n, true, func() {
		start := g.scaled(g.real(1), 2).text
		total := g.declare(variable{name: g.name("r"), kind: reals, bound: localBound, ready: true, level: true})
		g.line("real %s = %s;", total.name, start)
		i := g.name("i")
		g.inLoop(i, "beg["+o+"]", "(beg["+o+"] + len["+o+"] - 1)", 1, g.sizeN().n, false, func() {
			switch g.between(0, 2) {
			case 0:
				g.line("%s += %s;", total.name, g.scaled(g.real(2), 0.5).text)
			case 1:
				g.line("%s[%s] += %s;", v.name, o, g.scaled(g.real(2), 0.5).text)
			case 2:
				if g.adds() {
					g.line("target += %s;", g.scaled(g.real(2), 1).text)
				}
			}
			g.extras()
		})
		if g.adds() {
			g.addTarget()
		} else {
			g.line("%s[%s] -= %s;", v.name, o, total.name)
		}
	})
	return true
}

// raggedSlices writes a loop over slices of a vector that have few different lengths.
func (g *gen) raggedSlices() bool {
	n := g.sizeN()
	if g.off[Ragged] || g.stage == inFunction || !g.fits(n.n*4) {
		return false
	}
	from := g.scaled(g.vector(n, 1), 2).text
	whole := g.declare(variable{name: g.name("v"), kind: vectors, dims: []size{n}, bound: localBound, ready: true, level: g.stage != inData})
	g.line("%s = %s;", declaration(whole, ""), from)
	v := g.declare(variable{name: g.name("v"), kind: vectors, dims: []size{n}, bound: localBound, level: g.stage != inData})
	g.line("%s;", declaration(v, ""))
	i := g.name("i")
	g.steady(i, "1", n.text, 1, n.n, func() {
		length := among(g, "(1 + "+i+" % 2)", "(1 + "+i+" % 3)", "(len[1 + "+i+" % 2] % 2 + 1)")
		part := g.name("e")
		g.extras()
		switch g.between(0, 2) {
		case 0:
			g.line("vector[%s] %s = segment(%s, 1 + %s %% 4, %s) * %s;", length, part, whole.name, i, length, g.scaled(g.real(1), 1).text)
		case 1:
			g.line("vector[%s] %s = tanh(head(%s, %s));", length, part, whole.name, length)
		default:
			g.line("vector[%s] %s;", length, part)
			g.line("for (j in 1:%s) %s[j] = %s[j] + %s;", length, part, whole.name, g.scaled(g.real(1), 2).text)
		}
		if g.adds() && g.chance(0.6) {
			g.line("target += -0.1 * dot_self(%s);", part)
		}
		g.line("%s[%s] = tanh(sum(%s)) + %s[1];", v.name, i, among(g, part, "exp("+part+")", "cumulative_sum("+part+")"), among(g, "0.1 * "+part, "softmax("+part+")"))
		g.extras()
	})
	v.ready = true
	return true
}

// elementBranches writes a loop that assigns each element in one of the branches of a conditional.
func (g *gen) elementBranches() bool {
	s, ok := g.over()
	if !ok {
		return false
	}
	v := g.declare(variable{name: g.name("v"), kind: vectors, dims: []size{s}, bound: localBound, level: g.stage != inData})
	g.line("%s;", declaration(v, ""))
	i := g.name("i")
	g.steady(i, "1", s.text, 1, s.n, func() {
		m := g.mark()
		g.open("if (%s) {", g.cond())
		g.extras()
		g.line("%s[%s] = %s;", v.name, i, g.scaled(g.real(2), v.bound).text)
		g.release(m, false)
		g.indent--
		if g.chance(0.3) {
			g.line("} else if (%s) {", g.cond())
			g.indent++
			g.line("%s[%s] = %s;", v.name, i, g.scaled(g.real(1), v.bound).text)
			g.release(m, false)
			g.indent--
		}
		g.line("} else {")
		g.indent++
		g.line("%s[%s] = %s;", v.name, i, g.scaled(g.real(2), v.bound).text)
		g.extras()
		g.release(m, false)
		g.close()
		if g.adds() && g.chance(0.5) {
			g.line("target += -0.2 * square(%s[%s]);", v.name, i)
		}
	})
	v.ready = true
	return true
}

// matrixNest fills a matrix by nested loops and reads it by rows and columns.
func (g *gen) matrixNest() bool {
	r, c := among(g, g.sizeN(), g.sizeT()), among(g, g.sizeT(), g.sizeK())
	if !g.fits(r.n * c.n) {
		return false
	}
	v := g.declare(variable{name: g.name("m"), kind: matrices, dims: []size{r, c}, bound: localBound, level: g.stage != inData})
	g.line("%s;", declaration(v, ""))
	i, j := g.name("i"), g.name("i")
	g.steady(i, "1", r.text, 1, r.n, func() {
		g.extras()
		g.steady(j, "1", c.text, 1, c.n, func() {
			e := g.scaled(g.real(2), 1.5)
			if g.chance(0.3) {
				e.text = fmt.Sprintf("(%s > 1 ? 0.5 * %s[%s, %s - 1] : 0.3) + %s", j, v.name, i, j, e.text)
			}
			g.line("%s[%s, %s] = %s;", v.name, i, j, e.text)
		})
		g.extras()
	})
	v.ready = true
	return true
}
