package proggen

import (
	"fmt"
	"strings"
)

// ---- declarations ----

// drawnShapes are the types of variables with their weights. In sizes, f is a small size, and l is
// a size that may be N or K.
var drawnShapes = []struct {
	prefix string
	kind   kind
	arrays int
	size   string
	weight int
}{
	{"i", ints, 0, "", 3},
	{"r", reals, 0, "", 3},
	{"I", ints, 1, "l", 2},
	{"A", reals, 1, "l", 2},
	{"v", vectors, 0, "l", 3},
	{"R", rows, 0, "l", 1},
	{"M", matrices, 0, "33", 1},
	{"M", matrices, 0, "23", 1},
	{"V", vectors, 1, "l3", 1},
	{"B", reals, 2, "lf", 1},
	{"J", ints, 2, "ff", 1},
	{"c", complexes, 0, "", 1},
	{"C", complexes, 1, "f", 1},
}

// newPlace draws a type from those that the program's taste allows.
func (d *drawing) newPlace() container {
	s := drawnShapes[one(d, d.shapes)]
	p := container{name: d.name(s.prefix), kind: s.kind, arrays: s.arrays}
	for _, c := range s.size {
		switch {
		case c == 'l' && d.has("N") && d.has("K") && d.chance(0.3):
			p.size = append(p.size, among(d, "N", "N", "K"))
		case c == 'l' || c == 'f':
			p.size = append(p.size, one(d, d.sizes))
		default:
			p.size = append(p.size, string(c))
		}
	}
	return p
}

// declared returns the declaration of p.
func (d *drawing) declared(p container) string {
	text := ""
	if p.arrays > 0 {
		text = "array[" + strings.Join(p.size[:p.arrays], ", ") + "] "
	}
	text += drawnKinds[p.kind]
	if own := p.size[p.arrays:]; len(own) > 0 {
		text += "[" + strings.Join(own, ", ") + "]"
	}
	return text + " " + p.name
}

var drawnKinds = [...]string{ints: "int", reals: "real", vectors: "vector", rows: "row_vector", matrices: "matrix", complexes: "complex"}

// declare declares p with a value.
func (d *drawing) declare(p container) {
	d.line("%s = %s;", d.declared(p), d.value(p, 1))
	d.vars = append(d.vars, p)
}

// ---- statements ----

func (d *drawing) statements(n int) {
	for range n {
		d.statement()
	}
}

// body writes a few statements in a new scope, and uses the variables that they declare.
func (d *drawing) body() {
	d.inScope(func() {
		mark := len(d.vars)
		d.statements(d.between(1, d.length))
		d.use(d.vars[mark:])
	})
}

func (d *drawing) statement() {
	deep := 0
	if d.depth < maxDepth && d.cost*3 <= maxTrips && len(d.lines) < maxLines {
		deep = 1
	}
	d.pick(
		option{d.often.branch * deep, func() bool { d.branch(); return true }},
		option{d.often.short * deep, func() bool { d.short(); return true }},
		option{d.often.while * deep, func() bool { d.while(); return true }},
		option{d.often.jump, d.jump},
		option{d.often.leave, d.leave},
		option{30, d.assign},
		option{d.often.declare, func() bool { d.declare(d.newPlace()); return true }},
		option{d.often.term, func() bool {
			d.term()
			return d.sink != ""
		}},
		option{1, func() bool {
			if d.wild {
				d.line("if (%s && %s && %s) reject(\"r\");", d.anyCondition(), d.anyCondition(), d.anyCondition())
			}
			return d.wild
		}},
		option{1, func() bool { d.line(";"); return true }},
	)
}

func (d *drawing) branch() {
	d.open("if (%s) {", d.anyCondition())
	d.body()
	if d.chance(0.2) {
		d.otherwise("else if (" + d.anyCondition() + ") {")
		d.body()
	}
	if d.chance(0.45) {
		d.otherwise("else {")
		d.body()
	}
	d.close()
}

// inLoop writes the body of a loop whose head has been written.
func (d *drawing) inLoop(trips int, body func()) {
	cost := d.cost
	d.cost *= trips
	d.loops++
	body()
	d.loops--
	d.cost = cost
	d.close()
}

// short writes a for loop with few iterations, possibly none.
func (d *drawing) short() {
	j := d.name("j")
	trips := 4
	bounds := among(d,
		func() string { return fmt.Sprintf("1:%d", d.between(2, 4)) },
		func() string { return fmt.Sprintf("1:min(4, %s)", d.int(1)) },
		func() string { low := d.int(0); return fmt.Sprintf("max(-3, %s):min(3, %s)", low, d.int(1)) },
	)()
	elements := d.some(func(p *container) bool {
		return p.arrays == 1 && len(p.size) == 1 && p.kind != complexes && d.number(p.size[0]) <= 7
	})
	row := ""
	switch {
	case d.chance(0.15) && elements != nil:
		d.open("for (%s in %s) {", j, elements.name)
		pinned := elements.fixed
		elements.fixed = true
		name := elements.name
		trips = 7
		defer func() { // search by name, since declarations may have reallocated d.vars
			for i := range d.vars {
				if d.vars[i].name == name {
					d.vars[i].fixed = pinned
				}
			}
		}()
		kind := elements.kind
		d.inScope(func() {
			d.vars = append(d.vars, container{name: j, kind: kind, fixed: true})
			d.inLoop(trips, d.body)
		})
		return
	case d.has("N") && len(d.rows) > 0 && d.chance(0.3):
		n := d.rows[0]
		bounds = fmt.Sprintf(among(d, "%[1]s:min(N, %[1]s + 2)", "max(1, %[1]s - 2):%[1]s", "max(1, %[1]s - 3):(%[1]s - 1)", "1:min(%[1]s, 4)"), n)
		row = j
	case d.has("K") && d.has("k") && d.chance(0.1):
		bounds = "1:" + among(d, "K", "k["+d.index("N", 0)+"]")
	}
	d.open("for (%s in %s) {", j, bounds)
	d.inScope(func() {
		d.vars = append(d.vars, container{name: j, fixed: true, known: true})
		if row != "" {
			d.rows = append(d.rows, row)
		}
		d.inLoop(trips, d.body)
	})
}

// while writes a while loop that is certain to end: a counter limits its trips, it follows indices
// that decrease, or it halves a number.
func (d *drawing) while() {
	d.open("{")
	d.inScope(func() {
		switch d.below(6) {
		case 0:
			d.descent()
		case 1:
			x := d.name("x")
			d.line("real %s = %s;", x, d.value(container{kind: reals}, 1))
			d.vars = append(d.vars, container{name: x, kind: reals, fixed: true})
			d.open("while (%s > %s) {", x, among(d, "0.3", "0.1", "0.02"))
			d.line("%s *= %s;%s", x, among(d, "0.5", "0.3", "0.8"), step)
		default:
			d.counted()
		}
		d.inLoop(6, d.body)
	})
	d.close()
}

// descent writes the head of a loop that follows links stored in an array, as long as the indices
// decrease.
func (d *drawing) descent() {
	r := d.name("p")
	links := container{name: "L", size: []string{"N"}}
	next := "%s[%s]"
	if p := d.some(func(p *container) bool { return p.kind == ints && p.arrays == 1 && len(p.size) == 1 }); p != nil && (!d.has("L") || d.chance(0.5)) {
		links, next = *p, "max(1, %s[%s])"
	} else if !d.has("L") {
		d.counted()
		return
	}
	next = fmt.Sprintf(next, links.name, r)
	d.line("int %s = %s;", r, d.index(links.size[0], 1))
	d.open("while (%s < %s) {", next, r)
	d.line("%s = %s;%s", r, next, step)
	d.vars = append(d.vars, container{name: r, fixed: true})
}

// counted writes the head of a loop that a counter ends.
func (d *drawing) counted() {
	f := d.name("f")
	d.line("int %s = 0;", f)
	most := among(d, "3", "5", "9", "2 + abs("+d.int(0)+") % 9", "abs("+d.int(1)+") % 6")
	if d.cost < 70 && d.chance(0.2) {
		most = among(d, "12", "20")
	}
	cond := d.condition(1, d.chance(0.5))
	d.vars = append(d.vars, container{name: f, fixed: true})
	switch d.below(3) {
	case 0:
		d.open("while (%s < %s && (%s)) {", f, most, cond)
		d.line("%s += 1;%s", f, step)
	case 1:
		d.open("while (%s) {", cond)
		d.line("%s += 1;%s", f, step)
		d.line("if (%s > %s) break;%s", f, most, step)
	case 2:
		d.open("while (%s < min(9, %s)) {", f, most)
		d.line("%s += 1;%s", f, step)
	}
}

func (d *drawing) jump() bool {
	if d.loops == 0 {
		return false
	}
	how := among(d, "break", "continue")
	if d.chance(0.3) {
		d.open("if (%s) {", d.anyCondition())
		d.inScope(func() {
			d.assign()
			d.line("%s;", how)
		})
		d.close()
		return true
	}
	d.line("if (%s) %s;", d.anyCondition(), how)
	return true
}

// leave writes a return from the function.
func (d *drawing) leave() bool {
	if d.result == nil {
		return false
	}
	d.line("if (%s) return %s;", d.anyCondition(), d.value(*d.result, 2))
	return true
}

// ---- assignments ----

// assign changes a variable or a part of it.
func (d *drawing) assign() bool {
	p := d.some(func(p *container) bool { return !p.fixed })
	if p == nil {
		return false
	}
	v := *p // a copy, since the expressions below may declare variables and so reallocate d.vars
	elem := v
	elem.arrays, elem.size = 0, nil
	if len(v.size) == 0 {
		d.assignScalar(v)
		return true
	}
	if v.kind == matrices || v.kind == vectors || v.kind == rows {
		elem.kind = reals
	}
	n := len(v.size)
	last := v.size[n-1]
	at := d.element(&v, 1)
	within := v.name // the variable, or an element of it, that has a single dimension
	if n == 2 && v.arrays > 0 {
		within = fmt.Sprintf("%s[%s]", v.name, d.index(v.size[0], 1))
	}
	line := v // its type
	line.size, line.arrays = v.size[n-1:], max(0, v.arrays-(n-1))
	count := d.number(last)
	many := last == "N" && d.cost > 100 // copying whole vectors would take too long
	return d.pick(
		option{6, func() bool { d.line("%s = %s;", at, d.value(elem, 2)); return true }},
		option{3, func() bool {
			if v.kind == ints {
				d.line("%s = (%s %s) %% 20;", at, at, among(d, "+ 1", "* 2", "- 3"))
			} else if v.kind == complexes {
				d.line("%s *= %s;", at, among(d, "0.7", "to_complex(0.5, 0.3)"))
			} else {
				d.line("%s %s;", at, among(d, "+= 0.1 * "+d.value(elem, 1), "*= 0.9", "-= 0.2"))
			}
			return true
		}},
		option{2, func() bool { d.line("%s = %s;", at, d.element(&v, 1)); return true }},
		option{1, func() bool { // the index reads the variable that is assigned
			if v.kind != ints || n > 1 {
				return false
			}
			d.line("%s[1 + abs(%s) %% %s] = %s;", v.name, at, last, d.value(elem, 1))
			return true
		}},
		option{2, func() bool { // swap two elements
			if v.kind == complexes {
				return false
			}
			other, t := d.element(&v, 1), d.name("t")
			d.open("{")
			d.line("%s %s = %s;", drawnKinds[elem.kind], t, at)
			d.line("%s = %s;", at, other)
			d.line("%s = %s;", other, t)
			d.close()
			return true
		}},
		option{2, func() bool { // shift all elements by one
			if many || v.kind == matrices {
				return false
			}
			d.line(among(d, "%[1]s[2:%[2]s] = %[1]s[1:(%[2]s - 1)];", "%[1]s[1:(%[2]s - 1)] = %[1]s[2:%[2]s];"), within, last)
			return true
		}},
		option{2, func() bool {
			if many || v.kind == matrices || v.kind == complexes || count == 0 {
				return false
			}
			i := d.index(last, 1)
			d.line(among(d, "%[1]s = reverse(%[1]s);", "%[1]s[{1, %[2]s}] = %[1]s[{%[2]s, 1}];", "%[1]s[%[3]s:] = %[1]s[%[3]s:];", "%[1]s[:%[3]s] = %[1]s[:%[3]s];"), within, last, i)
			return true
		}},
		option{3, func() bool { // assign all elements
			if many || v.kind == matrices {
				return false
			}
			d.line("%s = %s;", within, d.value(line, 2))
			return true
		}},
		option{2, func() bool {
			if many || v.kind != vectors {
				return false
			}
			d.line(among(d, "%[1]s += 0.1 * %[2]s;", "%[1]s *= 0.8;", "%[1]s .*= %[2]s;", "%[1]s = 0.5 * %[1]s + 0.2 * %[2]s;"), within, d.value(line, 1))
			return true
		}},
		option{1, func() bool { // assign several elements of a vector
			if v.kind != vectors || count < 3 {
				return false
			}
			d.line("%s[{%s, %s}] = %s;", within, d.index(last, 1), d.index(last, 1), d.value(container{kind: vectors, size: []string{"2"}}, 1))
			return true
		}},
		option{8, func() bool { return v.kind == matrices && d.assignMatrix(v) }},
		option{3, func() bool { // assign an element of an array of arrays or vectors
			if v.arrays == 0 || n < 2 {
				return false
			}
			first := v.size[0]
			if d.chance(0.5) {
				d.line("%s = %s[%s];", within, v.name, d.index(first, 1))
			} else if first == "N" && d.cost > 100 {
				return false
			} else {
				d.line(among(d, "%[1]s[2:%[2]s] = %[1]s[1:(%[2]s - 1)];", "%[1]s = reverse(%[1]s);", "%[1]s[{1, %[2]s}] = %[1]s[{%[2]s, 1}];"), v.name, first)
			}
			return true
		}},
	)
}

func (d *drawing) assignScalar(p container) {
	switch p.kind {
	case ints:
		d.line(among(d, "%[1]s = %[2]s;", "%[1]s = (%[1]s + %[2]s) %% 11;", "%[1]s = %[1]s %% 13 + 1;"), p.name, d.value(p, 2))
	case complexes:
		d.line(among(d, "%[1]s = %[2]s;", "%[1]s = 0.5 * %[1]s * %[2]s;", "%[1]s += 0.1 * %[2]s;"), p.name, d.value(p, 1))
	default:
		d.line(among(d, "%[1]s = %[2]s;", "%[1]s = %[2]s;", "%[1]s += 0.1 * %[2]s;", "%[1]s *= 0.9;"), p.name, d.value(p, 2))
	}
}

// assignMatrix changes rows, columns, parts or all of a matrix.
func (d *drawing) assignMatrix(p container) bool {
	r, c := p.size[0], p.size[1]
	i, j, k := d.index(r, 1), d.index(c, 1), d.index(r, 1)
	row, column := container{kind: rows, size: []string{c}}, container{kind: vectors, size: []string{r}}
	switch d.below(9) {
	case 0:
		d.line("%s[%s] = %s;", p.name, i, d.value(row, 1))
	case 1:
		d.line("%s[, %s] = %s;", p.name, j, d.value(column, 1))
	case 2:
		d.line("%s[%s] = 0.5 * %s[%s];", p.name, i, p.name, k)
	case 3:
		d.line("%s[, %s] = %s[, %s];", p.name, j, p.name, d.index(c, 1))
	case 4:
		d.line("%s[{1, 2}, %s] = 0.8 * %s[{2, 1}, %s];", p.name, j, p.name, d.index(c, 1))
	case 5:
		d.line("%s[%s, 1:2] = 0.5 * %s[%s, %s];", p.name, i, p.name, k, among(d, "1:2", fmt.Sprintf("(%s - 1):%s", c, c)))
	case 6:
		d.line("%s[2:%s] = %s[1:(%s - 1)];", p.name, r, p.name, r)
	case 7:
		d.line("%s[%s, %s] += 0.1 * %s;", p.name, i, j, d.value(container{kind: reals}, 1))
	default:
		d.line("%s = %s;", p.name, d.value(p, 1))
	}
	return true
}

// ---- terms ----

// add adds a number to the log density, or to the variable that collects terms here.
func (d *drawing) add(e string) {
	if d.sink != "" {
		d.line("%s += %s;", d.sink, e)
	}
}

// scale makes a positive number.
func (d *drawing) scale() string {
	if d.has("s") && d.chance(0.7) {
		return among(d, "s", "(0.3 + s)", "(s + 0.1)")
	}
	return among(d, "1.5", "exp(0.3 * "+d.bounded(d.real(0))+")")
}

// term adds a density or a number.
func (d *drawing) term() {
	if d.sink == "" {
		return
	}
	e, w, s := d.bounded(d.real(2)), d.bounded(d.real(1)), d.scale()
	y, count := d.real(0), "abs("+d.int(1)+") % 7"
	if d.has("y") && d.chance(0.7) {
		y = "y[" + d.index("N", 1) + "]"
	}
	if d.has("k") && d.chance(0.7) {
		count = "k[" + d.index("N", 1) + "]"
	}
	what := d.pickTerm(e, w, s, y, count)
	d.add(among(d, "", "", "0.5 * ", "(("+d.int(1)+") % 2 + 1) * ") + what)
}

func (d *drawing) pickTerm(e, w, s, y, count string) string {
	if d.plain || d.chance(0.3) {
		return among(d, e, "sin(3 * "+e+")", "-square("+e+" - "+w+")")
	}
	return fmt.Sprintf(among(d,
		"normal_lpdf(%[4]s | %[1]s, %[3]s)",
		"normal_lpdf(%[4]s | %[1]s, %[3]s)",
		"normal_lpdf(%[1]s | %[2]s, 1 + %[3]s)",
		"poisson_log_lpmf(%[5]s | %[1]s)",
		"bernoulli_logit_lpmf(%[5]s > 2 | %[1]s)",
		"student_t_lpdf(%[4]s | 4, %[1]s, %[3]s)",
		"neg_binomial_2_log_lpmf(%[5]s | %[1]s, %[3]s)",
		"binomial_logit_lpmf(%[5]s | 6, %[1]s)",
		"exponential_lpdf(0.1 + %[4]s ^ 2 | exp(%[1]s))",
		"log_mix(inv_logit(%[2]s), normal_lpdf(%[4]s | %[1]s, %[3]s), normal_lpdf(%[4]s | 0.3, 1))",
		"gamma_lpdf(0.1 + %[4]s ^ 2 | 2, exp(%[1]s))",
		"log_sum_exp(%[1]s, %[2]s)",
		"categorical_logit_lpmf(1 + %[5]s %% 3 | [0, %[1]s, %[2]s]')",
		"ordered_logistic_lpmf(1 + %[5]s %% 3 | %[1]s, [-1, 0.5]')",
		"double_exponential_lpdf(%[4]s | %[1]s, %[3]s)",
	), e, w, s, y, count)
}

// vectorised writes a statement about whole variables, without a loop.
func (d *drawing) vectorised() {
	v, w := d.vector("N", 2), d.vector("N", 1)
	if p := d.some(func(p *container) bool { return !p.fixed && p.kind == vectors && p.arrays == 0 && p.size[0] == "N" }); p != nil && d.chance(0.4) {
		d.line(among(d, "%[1]s = 0.5 * %[2]s + 0.1 * %[1]s;", "%[1]s[L] = %[2]s;", "%[1]s[2:N] = %[1]s[1:(N - 1)];", "%[1]s = %[1]s[L];", "%[1]s += 0.1 * %[2]s;", "%[1]s[g] = tanh(%[2]s);"), p.name, "tanh("+v+")")
		return
	}
	d.add(fmt.Sprintf(among(d, "normal_lpdf(y | %s, 1 + abs(%s))", "poisson_log_lpmf(k | tanh(%s + %s))", "bernoulli_logit_lpmf(b | %s .* %s)", "0.1 * dot_product(%s, %s)", "normal_lpdf(tanh(%s) | tanh(%s), 1.3)", "log_sum_exp(%s - %s)"), v, w))
}
