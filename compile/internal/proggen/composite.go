package proggen

import "fmt"

// composite writes statements that use tuples or complex numbers.
func (g *gen) composite() bool {
	return g.pick(
		option{4, g.tupleLocal},
		option{2, g.unpack},
		option{1, g.tupleArray},
		option{2, g.complexState},
		option{1, g.complexVector},
	)
}

// tupleLocal declares a tuple. Later statements read its members like variables.
func (g *gen) tupleLocal() bool {
	if g.off[Tuples] {
		return false
	}
	s := among(g, g.sizeK(), g.sizeT(), g.sizeJ())
	name := g.name("t")
	second := name + ".2"
	nested := g.chance(0.2)
	if nested {
		second += ".1"
	}
	members := []variable{
		{name: name + ".1", kind: reals, bound: localBound, level: g.stage != inData},
		{name: second, kind: vectors, dims: []size{s}, bound: localBound, level: g.stage != inData},
	}
	if f := g.callable(func(f *function) bool { return f.kind == tupleFunc }); f != nil && !nested && g.chance(0.6) {
		args, _ := g.arguments(f, 2)
		members[1].dims = []size{lit(f.result.n)}
		g.line("tuple(real, vector[%d]) %s = %s(%s);", f.result.n, name, f.name, args)
	} else {
		var texts []string
		for i := range members {
			e, _ := g.whole0(&members[i], 2)
			texts = append(texts, e.text)
		}
		typ := fmt.Sprintf("tuple(real, vector[%s])", s.text)
		pair := func(a, b string) string { return fmt.Sprintf("(%s, %s)", a, b) }
		if nested {
			n := g.between(1, 3)
			typ = fmt.Sprintf("tuple(real, tuple(vector[%s], real))", s.text)
			pair = func(a, b string) string { return fmt.Sprintf("(%s, (%s, %d))", a, b, n) }
			members = append(members, variable{name: name + ".2.2", kind: reals, bound: localBound, level: g.stage != inData})
		}
		value := pair(texts[0], texts[1])
		if g.chance(0.3) {
			other, _ := g.whole0(&members[0], 1)
			value = fmt.Sprintf("(%s) ? %s : %s", g.cond(), value, pair(other.text, texts[1]))
		}
		g.line("%s %s = %s;", typ, name, value)
	}
	for _, m := range members {
		m.ready = true
		g.declare(m)
	}
	return true
}

// unpack assigns the members of a tuple to two variables at once. The tuple's expressions may read
// both variables, so all of them must be evaluated before the assignment.
func (g *gen) unpack() bool {
	if g.off[Tuples] {
		return false
	}
	var list []*variable
	for _, v := range g.vars {
		if len(v.array) == 0 && v.kind != ints && v.ready && !v.fixed && v.pinned == 0 && nonempty(v) {
			list = append(list, v)
		}
	}
	if len(list) < 2 {
		return false
	}
	x, y := one(g, list), one(g, list)
	if x == y {
		return false
	}
	if x.kind == reals && y.kind == vectors {
		f := g.callable(func(f *function) bool { return f.kind == tupleFunc && f.result.n == y.dims[0].n })
		if f != nil && f.bound <= x.bound && f.bound <= y.bound {
			args, _ := g.arguments(f, 2)
			g.line("(%s, %s) = %s(%s);", x.name, y.name, f.name, args)
			return true
		}
	}
	a, _ := g.whole0(x, 2)
	b, _ := g.whole0(y, 2)
	g.line("(%s, %s) = (%s, %s);", x.name, y.name, a.text, b.text)
	return true
}

// tupleArray fills an array of tuples and reads it.
func (g *gen) tupleArray() bool {
	s, k := among(g, g.sizeN(), g.sizeT(), g.sizeJ()), g.sizeK()
	if g.off[Tuples] || !g.fits(3*s.n) {
		return false
	}
	name := g.name("t")
	g.line("array[%s] tuple(real, row_vector[%s]) %s;", s.text, k.text, name)
	i := g.name("i")
	x := variable{name: name + "[" + i + "].1", kind: reals, bound: localBound, ready: true, level: g.stage != inData}
	w := variable{name: name + "[" + i + "].2", kind: rows, dims: []size{k}, bound: localBound, ready: true, level: g.stage != inData}
	g.steady(i, "1", s.text, 1, s.n, func() {
		a, _ := g.whole0(&x, 2)
		b, _ := g.whole0(&w, 2)
		if g.chance(0.5) {
			g.line("%s[%s] = (%s, %s);", name, i, a.text, b.text)
		} else {
			g.line("%s = %s;", x.name, a.text)
			g.line("%s = %s;", w.name, b.text)
		}
		g.extras()
		if g.chance(0.4) {
			g.line("%s += 0.5 * %s[%s > 1 ? %s - 1 : 1].1;", x.name, name, i, i)
		}
	})
	i = g.name("i")
	x.name, w.name = name+"["+i+"].1", name+"["+i+"].2"
	g.inLoop(i, "1", s.text, 1, s.n, true, func() {
		g.declare(x)
		g.declare(w)
		g.statements(g.between(1, 3))
	})
	return true
}

// complexState writes a loop that updates a complex number. Later statements can read its real and
// imaginary parts.
func (g *gen) complexState() bool {
	s := among(g, g.sizeN(), g.sizeT(), g.sizeK())
	if g.off[Complex] || !g.fits(s.n) {
		return false
	}
	part := func() string { return g.scaled(g.real(1), 1).text }
	name := g.name("c")
	g.line("complex %s = to_complex(%s, %s);", name, part(), part())
	i := g.name("i")
	update := func() string {
		return fmt.Sprintf("%s = %s * polar(0.5, %s) + to_complex(%s, %s);", name, name, g.real(1).text, part(), part())
	}
	g.inLoop(i, "1", s.text, 1, s.n, true, func() {
		g.withoutJumps(func() {
			g.line("%s", update())
			g.extras()
		})
	})
	if g.chance(0.5) {
		g.line("%s *= %s;", name, among(g, "conj("+name+")", "0.5i", "exp(-"+name+" * conj("+name+"))"))
	}
	g.declareParts(name)
	return true
}

// declareParts declares the real and the imaginary part of a complex number as variables.
func (g *gen) declareParts(name string) {
	for _, f := range []string{"get_real", "get_imag"} {
		g.declare(variable{name: f + "(" + name + ")", kind: reals, bound: 64, level: g.stage != inData, ready: true, fixed: true})
	}
}

// complexVector fills a vector of complex numbers, element by element, and uses it.
func (g *gen) complexVector() bool {
	s := among(g, g.sizeN(), g.sizeT(), g.sizeK())
	if g.off[Complex] || !g.fits(2*s.n) {
		return false
	}
	name, i := g.name("z"), g.name("i")
	g.line("complex_vector[%s] %s;", s.text, name)
	g.steady(i, "1", s.text, 1, s.n, func() {
		g.line("%s[%s] = to_complex(%s, %s);", name, i, g.scaled(g.real(2), 1).text, g.scaled(g.real(1), 1).text)
		g.extras()
		switch g.between(0, 2) {
		case 0:
			g.line("%s[%s] += 0.5 * %s[%s > 2 ? %s - 2 : 1];", name, i, name, i, i)
		case 1:
			g.line("if (%s) %s[%s] *= 0.5i;", g.cond(), name, i)
		}
	})
	bound := 3.0 * float64(s.n)
	real := func(text string, bound float64) {
		g.declare(variable{name: text, kind: reals, bound: bound, level: g.stage != inData, ready: true, fixed: true})
	}
	real("get_real(sum("+name+"))", bound)
	real("get_imag(dot_product("+name+", "+name+"))", 3*bound)
	g.declare(variable{name: "get_imag(" + name + ")", kind: vectors, dims: []size{s}, bound: 3, level: g.stage != inData, ready: true, fixed: true})
	return true
}

// complexReal makes a real expression from complex numbers.
func (g *gen) complexReal(depth int, out *expr) bool {
	if g.off[Complex] {
		return false
	}
	var parts [4]expr
	for i := range parts {
		parts[i] = g.scaled(g.real(depth-1), 2)
	}
	z := fmt.Sprintf("to_complex(%s, %s)", parts[0].text, parts[1].text)
	w := fmt.Sprintf("to_complex(%s, %s)", parts[2].text, parts[3].text)
	f := among(g, "get_real", "get_imag")
	switch g.between(0, 3) {
	case 0:
		*out = expr{fmt.Sprintf("%s(%s * %s)", f, z, w), 8}
	case 1:
		*out = expr{fmt.Sprintf("%s(exp(%s) - %s)", f, z, w), 10}
	case 2:
		*out = expr{fmt.Sprintf("%s(%s / (3 + tanh(%s) * 1i))", f, z, parts[2].text), 4}
	case 3:
		*out = expr{fmt.Sprintf("norm(%s - conj(%s))", z, w), 32}
	}
	return true
}
