package proggen

import (
	"fmt"
	"strings"
)

// maxCost is the maximum number of iterations of nested loops. maxWork is the maximum number of
// statements that a program executes, and maxFunctionWork the maximum for a call of a function.
const (
	maxCost         = 420
	maxWork         = 1500
	maxFunctionWork = 60
)

// fits reports whether the limits allow a loop of n iterations here.
func (g *gen) fits(n int) bool { return g.cost*n <= maxCost && g.affordable(2*n) }

// affordable reports whether the limits allow something here that executes n statements.
func (g *gen) affordable(n int) bool {
	if g.fn != nil {
		return g.work+g.cost*n <= maxFunctionWork
	}
	return g.work+g.cost*n <= maxWork
}

func (g *gen) statements(n int) {
	for range n {
		g.statement()
	}
}

// adds reports whether statements here may add to the log density.
func (g *gen) adds() bool {
	return g.stage == inModel || g.fn != nil && g.fn.kind == lpFunc
}

// statement writes one statement, or several that belong together.
func (g *gen) statement() {
	deep := 0
	if g.depth < 5 && g.affordable(20) {
		deep = 1
	}
	g.pick(
		option{3, g.local},
		option{7, g.assign},
		option{2, g.composite},
		option{5 * deep, g.loop},
		option{3 * deep, g.branch},
		option{4 * deep, g.pattern},
		option{5, func() bool {
			if !g.adds() {
				return false
			}
			g.addTarget()
			return true
		}},
		option{1 * deep, func() bool { return g.on(ForEach) && g.foreach() }},
		option{1 * deep, func() bool { return g.on(Whiles) && g.while() }},
		option{2, func() bool { return g.on(Jumps) && g.jump() }},
		option{1 * deep, func() bool {
			g.open("{")
			m := g.mark()
			g.statements(g.between(1, 2))
			g.release(m, true)
			g.close()
			return true
		}},
		option{1, func() bool {
			if g.off[Prints] {
				return false
			}
			g.line("print(\"p\", %s);", g.real(1).text)
			return true
		}},
		option{1, func() bool {
			if g.off[Rejections] {
				return false
			}
			x := g.real(1)
			g.line("if (%s > %s) reject(\"too high: \", %s);", x.text, literal(x.bound*0.8), x.text)
			return true
		}},
		option{2, func() bool {
			f := g.callable(func(f *function) bool { return f.kind == lpFunc })
			if f == nil || !g.adds() {
				return false
			}
			args, _ := g.arguments(f, 2)
			g.line("%s(%s);", f.name, args)
			return true
		}},
	)
}

// intsHere reports whether int variables may be declared here: transformed parameters must not be
// ints.
func (g *gen) intsHere() bool { return g.stage != inTransformed || g.depth > 1 }

// ---- declarations ----

const localBound = 4

// newVariable chooses a type and a name for a variable.
func (g *gen) newVariable() *variable {
	n, t, k, j := g.sizeN(), g.sizeT(), g.sizeK(), g.sizeJ()
	any := func() size { return among(g, n, n, t, k, k, j, lit(3)) }
	v := &variable{bound: localBound, level: g.stage != inData}
	switch g.between(0, 13) {
	case 0, 1, 2, 3:
		v.kind, v.name = reals, g.name("r")
	case 4, 5, 6, 7:
		v.kind, v.name, v.dims = vectors, g.name("v"), []size{any()}
	case 8:
		v.kind, v.name, v.dims = rows, g.name("w"), []size{among(g, k, t)}
	case 9, 10:
		v.kind, v.name, v.dims = matrices, g.name("m"), among(g, []size{k, k}, []size{t, k}, []size{n, k}, []size{k, t})
	case 11:
		v.kind, v.name, v.array = reals, g.name("q"), among(g, []size{any()}, []size{t, k}, []size{lit(2), j})
	case 12:
		v.kind, v.name, v.array, v.dims = vectors, g.name("c"), []size{among(g, t, k, n)}, []size{k}
	case 13:
		v.kind, v.name, v.array, v.dims = rows, g.name("d"), []size{t}, []size{k}
	}
	return v
}

// local declares a local variable with an initial value.
func (g *gen) local() bool {
	if g.intsHere() && g.on(IntLocals) && g.chance(0.25) {
		s := among(g, g.sizeN(), g.sizeK(), g.sizeT(), g.sizeJ())
		name := g.name("n")
		g.line("int %s = %s;", name, g.index(s, 2).text)
		g.declare(variable{name: name, kind: ints, lo: 1, hi: s.n, ready: true})
		return true
	}
	v := g.newVariable()
	if g.chance(0.15) { // without a value, which it gets later
		g.line("%s;", declaration(v, ""))
		g.declare(*v)
		return true
	}
	e, ok := g.whole0(v, 2)
	if !ok {
		return false
	}
	g.line("%s = %s;", declaration(v, ""), e.text)
	v.ready = true
	g.declare(*v)
	return true
}

// declareAll declares variables at the top of a block.
func (g *gen) declareAll(n int) {
	for range n {
		v := g.newVariable()
		constraint := ""
		if g.stage != inModel && g.chance(0.15) {
			constraint = among(g, "<lower=-300>", "<upper=300>", "<lower=-300, upper=300>")
		}
		if e, ok := g.whole0(v, 2); ok && g.chance(0.3) {
			g.line("%s = %s;", declaration(v, constraint), e.text)
			v.ready = true
		} else {
			g.line("%s;", declaration(v, constraint))
		}
		g.declare(*v)
	}
}

// finish assigns the variables of a block that have no value yet.
func (g *gen) finish() {
	for _, v := range append([]*variable{}, g.vars...) {
		if !v.ready {
			g.fillVariable(v)
		}
	}
}

// useLocals adds the variables declared since m in the model block to the target, so that their
// values affect the result.
func (g *gen) useLocals(m mark) {
	for _, v := range g.vars[m.vars:] {
		if !v.ready || v.kind == ints {
			continue
		}
		switch {
		case v.is(reals, 0):
			g.line("target += 0.3 * %s;", v.name)
		case len(v.array) <= 1 && v.kind == reals, len(v.array) == 0:
			g.line("target += -0.1 * sum(%s);", v.name)
		default:
			g.line("for (el in %s) target += -0.1 * sum(el);", v.name)
		}
	}
}

// whole0 makes an expression for a whole variable: it has the type of v.
func (g *gen) whole0(v *variable, depth int) (expr, bool) {
	switch {
	case v.is(reals, 0):
		return g.scaled(g.real(depth), v.bound), true
	case v.is(vectors, 0):
		return g.scaled(g.vector(v.dims[0], depth), v.bound), true
	case v.is(rows, 0):
		return g.scaled(g.row(v.dims[0], depth), v.bound), true
	case v.is(matrices, 0):
		return g.scaled(g.matrix(v.dims[0], v.dims[1], depth), v.bound), true
	case v.is(ints, 0):
		return expr{g.index(lit(v.hi), 2).text, 0}, true
	case v.kind != ints && len(v.array) == 1:
		elem := *v
		elem.array = nil
		n := v.array[0]
		if n.n <= 3 && n.n > 0 && g.chance(0.4) {
			var xs []string
			for range n.n {
				x, _ := g.whole0(&elem, depth-1)
				xs = append(xs, x.text)
			}
			return expr{"{" + strings.Join(xs, ", ") + "}", v.bound}, true
		}
		if v.kind == reals && g.chance(0.5) {
			return expr{"to_array_1d(" + g.scaled(g.vector(n, depth-1), v.bound).text + ")", v.bound}, true
		}
		x, _ := g.whole0(&elem, depth-1)
		return expr{"rep_array(" + x.text + ", " + n.text + ")", v.bound}, true
	case v.kind == reals && len(v.array) == 2:
		x := g.scaled(g.real(depth), v.bound)
		return expr{"rep_array(" + x.text + ", " + v.array[0].text + ", " + v.array[1].text + ")", v.bound}, true
	}
	return expr{}, false
}

// ---- assignments ----

// assign writes an assignment to a variable in scope, or to a part of one.
func (g *gen) assign() bool {
	var list []*variable
	for _, v := range g.vars {
		if !v.fixed && v.pinned == 0 && (v.kind != ints || g.on(IntLocals)) && nonempty(v) {
			list = append(list, v, v)
			if v.ready {
				list = append(list, v)
			}
		}
	}
	if len(list) == 0 {
		return false
	}
	v := one(g, list)
	if !v.ready && g.chance(0.85) {
		g.fillVariable(v)
		return true
	}
	if v.kind == ints {
		if len(v.array) == 1 {
			g.line("%s[%s] = %s;", v.name, g.unlike(v, func() string { return g.index(v.array[0], 2).text }), g.index(lit(v.hi), 2).text)
			return true
		}
		g.line("%s = %s;", v.name, g.index(lit(v.hi), 2).text)
		v.ready = true
		return true
	}
	if len(v.all()) == 0 || g.chance(0.15) {
		g.assignWhole(v)
		return true
	}
	g.assignPart(v)
	return true
}

// assignWhole writes v = …, v += … and so on.
func (g *gen) assignWhole(v *variable) {
	if len(v.array) == 0 && v.ready && g.chance(0.5) {
		switch g.between(0, 3) {
		case 0, 1:
			e, _ := g.whole0(v, 2)
			g.line("%s %s= %s;", v.name, among(g, "+", "-"), g.scaled(e, 1.5/float64(g.cost)).text)
			v.bound += 1.5
		case 2:
			g.line("%s *= %s;", v.name, g.scaled(g.real(2), 1).text)
		case 3:
			g.line("%s /= 1.0 + square(%s);", v.name, g.real(1).text)
		}
		return
	}
	if e, ok := g.whole0(v, 2); ok {
		g.line("%s = %s;", v.name, e.text)
		v.ready = true
	}
}

// unlike returns what f makes, without v in it: the indices on the left side of an assignment must
// not mention the variable that is assigned.
func (g *gen) unlike(v *variable, f func() string) string {
	ready := v.ready
	v.ready = false
	s := f()
	v.ready = ready
	return s
}

// assignPart writes v[…] = … and so on.
func (g *gen) assignPart(v *variable) {
	rest := *v // the part of v that the indices chosen so far select
	repeated := false
	indices := g.unlike(v, func() string { return g.places(&rest, &repeated) })
	place := v.name + "[" + indices + "]"
	e, ok := g.whole0(&rest, 2)
	if !ok {
		return
	}
	if v.ready && g.chance(0.4) && !(repeated && g.off[RepeatedSlices]) {
		if g.chance(0.8) {
			g.line("%s %s= %s;", place, among(g, "+", "+", "-"), g.scaled(e, 1.5/float64(g.cost)).text)
			v.bound += 1.5
		} else {
			g.line("%s *= %s;", place, g.scaled(g.real(2), 1).text)
		}
		return
	}
	g.line("%s = %s;", place, e.text)
}

// places chooses indices into the variable rest, and replaces rest by the part that they select. It
// sets repeated if an index is an int array that may contain the same number twice.
func (g *gen) places(rest *variable, repeated *bool) string {
	var at []string
	for len(rest.array) > 0 {
		at = append(at, g.index(rest.array[0], 2).text)
		rest.array = rest.array[1:]
	}
	// slice returns an index that selects several elements, and their number.
	slice := func(s size) (string, size) {
		if by := g.some(func(x *variable) bool { return x.is(ints, 1) && x.array[0].n > 0 && x.lo >= 1 && x.hi <= s.n }); by != nil && g.chance(0.4) {
			*repeated = true
			return by.name, by.array[0]
		}
		lo := g.between(1, s.n)
		hi := g.between(lo, s.n)
		switch g.between(0, 3) {
		case 0:
			return fmt.Sprintf("%d:", lo), lit(s.n - lo + 1)
		case 1:
			return fmt.Sprintf(":%d", hi), lit(hi)
		case 2:
			return ":", s
		}
		return fmt.Sprintf("%d:%d", lo, hi), lit(hi - lo + 1)
	}
	switch rest.kind {
	case vectors, rows:
		switch {
		case g.chance(0.65):
			at = append(at, g.index(rest.dims[0], 2).text)
			rest.kind, rest.dims = reals, nil
		case g.chance(0.7) || len(at) == 0:
			text, s := slice(rest.dims[0])
			at, rest.dims = append(at, text), []size{s}
		}
	case matrices:
		switch {
		case g.chance(0.5):
			at = append(at, g.index(rest.dims[0], 2).text, g.index(rest.dims[1], 2).text)
			rest.kind, rest.dims = reals, nil
		case g.chance(0.4):
			at = append(at, g.index(rest.dims[0], 2).text)
			rest.kind, rest.dims = rows, rest.dims[1:]
		case g.chance(0.5):
			at = append(at, ":", g.index(rest.dims[1], 2).text)
			rest.kind, rest.dims = vectors, rest.dims[:1]
		default:
			text, s := slice(rest.dims[0])
			at, rest.dims = append(at, text), []size{s, rest.dims[1]}
			if g.chance(0.3) {
				at = append(at, g.index(rest.dims[1], 2).text)
				rest.kind, rest.dims = vectors, rest.dims[:1]
			}
		}
	}
	return strings.Join(at, ", ")
}

// fillVariable assigns every element of a variable in a nest of loops.
func (g *gen) fillVariable(v *variable) {
	all := v.all()
	n := 1
	for _, s := range all {
		n *= max(s.n, 1)
	}
	if len(all) == 0 || !g.fits(n) || g.chance(0.25) {
		if e, ok := g.whole0(v, 2); ok {
			g.line("%s = %s;", v.name, e.text)
			v.ready = true
			return
		}
	}
	// There is a loop over each array dimension and, mostly, over each dimension of the element.
	rest := *v
	m := g.mark()
	var at []string
	over := func(s size) {
		i := g.name("i")
		g.forHead(i, "1", s.text, 1, s.n)
		if g.chance(0.15) && len(at) == 0 {
			i = "(" + s.text + " + 1 - " + i + ")"
		}
		at = append(at, i)
	}
	for _, s := range v.array {
		over(s)
		rest.array = rest.array[1:]
	}
	inside := len(v.array) == 0 || g.chance(0.6)
	switch {
	case inside && v.kind == matrices && g.chance(0.3): // row by row
		over(v.dims[0])
		rest.kind, rest.dims = rows, v.dims[1:]
	case inside && v.kind != reals:
		for _, s := range v.dims {
			over(s)
		}
		rest.kind, rest.dims = reals, nil
	}
	g.withoutJumps(func() {
		if g.chance(0.25) {
			g.statement()
		}
		e, _ := g.whole0(&rest, 2)
		g.line("%s[%s] = %s;", v.name, strings.Join(at, ", "), e.text)
		if g.chance(0.25) {
			g.statement()
		}
	})
	for range at {
		g.forEnd()
	}
	g.release(m, true)
	v.ready = true
}

// fill declares a vector and writes a loop that assigns its elements.
func (g *gen) fill(s size) *variable {
	v := g.declare(variable{name: g.name("v"), kind: vectors, dims: []size{s}, bound: localBound, level: g.stage != inData})
	g.line("%s;", declaration(v, ""))
	g.fillVariable(v)
	return v
}

// ---- control ----

// forHead opens a for loop; forEnd closes it. The caller marks and releases the scope.
func (g *gen) forHead(i, from, to string, lo, hi int) {
	g.open("for (%s in %s:%s) {", i, from, to)
	g.declare(variable{name: i, kind: ints, lo: lo, hi: hi, ready: true, fixed: true, loop: true})
	g.costs = append(g.costs, g.cost)
	g.cost *= max(hi-lo+1, 1)
	g.loops++
}

func (g *gen) forEnd() {
	g.loops--
	g.cost = g.costs[len(g.costs)-1]
	g.costs = g.costs[:len(g.costs)-1]
	g.close()
}

// inLoop writes a loop with the given body. certain means that the loop runs at least once.
// complete reports whether every iteration runs the whole body.
func (g *gen) inLoop(i, from, to string, lo, hi int, certain bool, body func()) (complete bool) {
	m := g.mark()
	jumped := g.jumped
	g.jumped = false
	g.forHead(i, from, to, lo, hi)
	body()
	g.forEnd()
	complete = certain && !g.jumped
	g.release(m, complete)
	g.jumped = jumped
	return complete
}

// withoutJumps runs f, which must not write break or continue.
func (g *gen) withoutJumps(f func()) {
	outer := g.noJumps
	g.noJumps = true
	f()
	g.noJumps = outer
}

// bounds chooses the range of a loop.
func (g *gen) bounds() (from, to string, lo, hi int) {
	s := among(g, g.sizeN(), g.sizeN(), g.sizeT(), g.sizeT(), g.sizeK(), g.sizeJ())
	switch g.between(0, 7) {
	case 0:
		d := g.between(2, 3)
		if s.n < d+1 {
			break
		}
		return fmt.Sprint(d), s.text, d, s.n
	case 1:
		return "1", "(" + s.text + " - 1)", 1, s.n - 1
	case 2:
		lo, hi := g.between(1, 3), g.between(2, 6)
		if lo <= hi {
			return fmt.Sprint(lo), fmt.Sprint(hi), lo, hi
		}
	case 3:
		if g.stage != inFunction {
			if n := g.data["L"].(int); n > 0 {
				return "1", "L", 1, n
			}
		}
	}
	return "1", s.text, 1, s.n
}

// loop writes a for loop.
func (g *gen) loop() bool {
	if g.on(Ragged) && g.chance(0.35) && g.raggedLoop() {
		return true
	}
	from, to, lo, hi := g.bounds()
	if hi < lo || !g.fits(hi-lo+1) {
		return false
	}
	i := g.name("i")
	g.inLoop(i, from, to, lo, hi, true, func() { g.statements(g.between(1, 4)) })
	return true
}

// raggedLoop writes a loop whose bounds depend on the iteration of the enclosing loop.
func (g *gen) raggedLoop() bool {
	n := g.sizeN().n
	i := g.name("i")
	j := g.some(func(v *variable) bool { return v.is(ints, 0) && v.loop })
	if j == nil || !g.fits(4) {
		return false
	}
	var from, to string
	var lo, hi int
	if j.lo >= 1 && j.hi <= g.sizeJ().n && g.stage != inFunction && g.chance(0.7) {
		if g.chance(0.5) {
			from, to, lo, hi = "1", fmt.Sprintf("len[%s]", j.name), 1, 4
		} else {
			from, to, lo, hi = fmt.Sprintf("beg[%s]", j.name), fmt.Sprintf("(beg[%s] + len[%s] - 1)", j.name, j.name), 1, n
		}
	} else {
		if !g.fits((j.hi - j.lo + 1) / 2) {
			return false
		}
		if g.chance(0.5) {
			from, to, lo, hi = "1", j.name, 1, j.hi
		} else {
			from, to, lo, hi = j.name, fmt.Sprint(j.hi), j.lo, j.hi
		}
	}
	g.inLoop(i, from, to, lo, hi, false, func() { g.statements(g.between(1, 3)) })
	return true
}

// branch writes a conditional.
func (g *gen) branch() bool {
	cond := g.cond()
	var narrowed *variable
	if i := g.some(func(v *variable) bool { return v.is(ints, 0) && v.loop && v.lo < v.hi }); i != nil && g.chance(0.3) {
		n := *i
		d := g.between(i.lo, i.hi-1)
		if g.chance(0.7) {
			cond, n.lo = fmt.Sprintf("%s > %d", i.name, d), d+1
		} else {
			cond, n.hi = fmt.Sprintf("%s <= %d", i.name, d), d
		}
		narrowed = &n
	}
	g.open("if (%s) {", cond)
	m := g.mark()
	g.guards++
	if narrowed != nil {
		g.declare(*narrowed)
	}
	g.statements(g.between(1, 2))
	g.release(m, false)
	if g.chance(0.5) {
		g.indent--
		g.line("} else {")
		g.indent++
		g.statements(g.between(1, 2))
		g.release(m, false)
	}
	g.guards--
	g.close()
	return true
}

// jump writes break or continue.
func (g *gen) jump() bool {
	if g.loops == 0 || g.noJumps {
		return false
	}
	cond := g.dataCond()
	if g.on(ParamJumps) && g.chance(0.3) {
		cond = g.realCond()
	}
	g.line("if (%s) %s;", cond, among(g, "break", "continue", "continue"))
	g.jumped = true
	return true
}

// foreach writes a loop over the elements of a container.
func (g *gen) foreach() bool {
	v := g.some(func(v *variable) bool { return len(v.all()) > 0 && nonempty(v) && len(v.all()) <= 2 })
	if v == nil {
		return false
	}
	n := v.all()[0].n
	elem := variable{name: g.name("el"), kind: v.kind, dims: v.dims, bound: v.bound, lo: v.lo, hi: v.hi, ready: true, fixed: true, level: true}
	if len(v.array) > 0 {
		elem.array = v.array[1:]
	} else {
		if v.kind == matrices {
			n *= v.dims[1].n
		}
		elem.kind, elem.dims = reals, nil
	}
	if !g.fits(n) {
		return false
	}
	m := g.mark()
	jumped := g.jumped
	g.jumped = false
	g.open("for (%s in %s) {", elem.name, v.name)
	v.pinned++
	g.declare(elem)
	g.costs = append(g.costs, g.cost)
	g.cost *= n
	g.loops++
	g.statements(g.between(1, 3))
	v.pinned--
	g.forEnd()
	g.release(m, !g.jumped)
	g.jumped = jumped
	return true
}

// while writes a loop whose end depends on data.
func (g *gen) while() bool {
	if g.off[IntLocals] && g.loops > 0 || !g.intsHere() {
		return false
	}
	s := among(g, g.sizeT(), g.sizeK(), g.sizeJ())
	if !g.fits(s.n) {
		return false
	}
	k := g.name("k")
	g.line("int %s = 1;", k)
	cond := k + " <= " + s.text
	if g.on(ParamJumps) && g.chance(0.2) {
		cond += " && (" + g.realCond() + ")"
	} else if g.chance(0.2) {
		cond += " && (" + g.dataCond() + ")"
	}
	m := g.mark()
	g.open("while (%s) {", cond)
	g.declare(variable{name: k, kind: ints, lo: 1, hi: s.n, ready: true, fixed: true})
	g.costs = append(g.costs, g.cost)
	g.cost *= s.n
	g.loops++
	g.withoutJumps(func() { g.statements(g.between(1, 2)) })
	g.line("%s += %d;%s", k, g.between(1, 2), step)
	g.forEnd()
	g.release(m, false)
	return true
}
