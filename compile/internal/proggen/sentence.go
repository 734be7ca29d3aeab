package proggen

import (
	"fmt"
	"strings"
)

// This file fills the holes of templates: expressions, conditions, terms of the log density, and
// statements between those of the template.

// ---- expressions ----

// atom makes a number from the variables in scope. If data is set, it does not depend on
// parameters.
func (w *writer) atom(data bool) string {
	if w.bare { // only arguments and local variables exist here
		if e := w.readable(realEntry); e != nil && w.chance(0.8) {
			return pickOne(w, e.name, "tanh("+e.name+")")
		}
		return literal(float64(w.between(-12, 12)) / 10)
	}
	for range 6 {
		switch w.rng.IntN(10) {
		case 0:
			return literal(float64(w.between(-12, 12)) / 10)
		case 1, 2, 3: // an element of data or of a parameter, at an index in scope
			if i := w.index(); i != nil {
				if s := w.element(i, data); s != "" {
					return s
				}
			}
		case 4, 5: // a local variable
			if data && !w.data {
				continue
			}
			if e := w.readable(realEntry); e != nil {
				if w.chance(0.5) {
					return "tanh(" + e.name + ")"
				}
				return e.name
			}
		case 6:
			if data && !w.data {
				continue
			}
			if e := w.readable(vectorEntry); e != nil {
				for k := len(w.scope) - 1; k >= 0; k-- {
					if i := &w.scope[k]; i.kind == indexEntry && i.size == e.size {
						return e.name + "[" + w.at(i) + "]"
					}
				}
			}
		case 7:
			if !data && !w.data {
				return pickOne(w, "a", "a", "ph", "pr", "b[1]", "b[2]", "b[3]", "sg")
			}
		case 8:
			if i := w.readable(indexEntry); i != nil {
				return "0.1 * " + i.name
			}
		case 9:
			if data {
				return pickOne(w, "1.5", "-0.7", "0.3")
			}
			if !w.data {
				s := pickOne(w, "N", "T", "J", "K")
				return fmt.Sprintf("0.1 * sum(z%s)", s)
			}
		}
	}
	if data || w.data {
		return "0.4"
	}
	return pickOne(w, "a", "ph", "b[1]")
}

// index draws an index variable in scope, most often the nearest; nil if there is none.
func (w *writer) index() *entry { return w.readable(indexEntry) }

// readable draws a variable of a kind that has a value, most often the nearest; nil if there is
// none.
func (w *writer) readable(kind entryKind) *entry {
	var last *entry
	for k := len(w.scope) - 1; k >= 0; k-- {
		if e := &w.scope[k]; e.kind == kind && e.ready > 0 {
			last = e
			if w.chance(0.5) {
				break
			}
		}
	}
	return last
}

// at writes an expression of the index i whose value is between 1 and the size.
func (w *writer) at(i *entry) string {
	switch {
	case i.lo > 1 && w.chance(0.3):
		return fmt.Sprintf("%s - %d", i.name, w.between(1, i.lo-1))
	case i.below > 0 && w.chance(0.3):
		return fmt.Sprintf("%s + %d", i.name, w.between(1, i.below))
	case w.chance(0.04):
		return fmt.Sprintf("%s + 1 - %s", i.size, i.name)
	}
	return i.name
}

// element makes an element of a family at an index.
func (w *writer) element(i *entry, data bool) string {
	at, s := w.at(i), i.size
	other := pickOne(w, "N", "T", "J", "K")
	for _, e := range w.scope { // a second index variable selects a column of a matrix
		if e.kind == indexEntry && e.size != s {
			if w.chance(0.3) {
				letter := "X"
				if !data && !w.data && w.chance(0.4) {
					letter = "Z"
				}
				return fmt.Sprintf("%s%s%s[%s, %s]", letter, s, e.size, at, w.at(&e))
			}
			break
		}
	}
	if data || w.data {
		return pickOne(w, fmt.Sprintf("y%s[%s]", s, at), fmt.Sprintf("x%s[%s]", s, at), fmt.Sprintf("0.2 * c%s[%s]", s, at),
			fmt.Sprintf("o%s[%s]", s, at), fmt.Sprintf("y%s[g%s%s[%s]]", other, s, other, at))
	}
	return pickOne(w, fmt.Sprintf("y%s[%s]", s, at), fmt.Sprintf("z%s[%s]", s, at), fmt.Sprintf("z%s[%s]", s, at),
		fmt.Sprintf("z%s[g%s%s[%s]]", other, s, other, at), fmt.Sprintf("b[2] * x%s[%s]", s, at), fmt.Sprintf("o%s[%s] * ph", s, at))
}

// expr makes a real expression.
func (w *writer) expr(depth int, data bool) string {
	if depth == 0 || w.chance(0.3) {
		return w.atom(data)
	}
	x := func() string { return w.expr(depth-1, data) }
	switch w.rng.IntN(16) {
	case 14, 15:
		if len(w.helpers) > 0 && !w.bare {
			h := pickOne(w, w.helpers...)
			args := make([]string, h.args)
			for i := range args {
				args[i] = w.atom(data)
			}
			return fmt.Sprintf("tanh(%s(%s))", h.name, strings.Join(args, ", "))
		}
	case 0, 1:
		return x() + " + " + x()
	case 2:
		return x() + " - " + product(x())
	case 3, 4:
		return literal(float64(w.between(1, 9))/10) + " * " + product(x())
	case 5:
		return "tanh(" + x() + ") * " + product(w.atom(data))
	case 6:
		return "inv_logit(" + x() + ")"
	case 7:
		return "exp(-square(" + x() + "))"
	case 8:
		return "fmax(" + x() + ", " + literal(float64(w.between(-5, 5))/10) + ")"
	case 9:
		return "sqrt(1 + square(" + x() + "))"
	case 10:
		return "log_sum_exp(" + x() + ", " + x() + ")"
	case 11:
		return "((" + w.cond(1, data || !w.busy) + ") ? " + x() + " : " + x() + ")"
	case 12:
		return "log1p_exp(" + x() + ")"
	}
	return w.atom(data)
}

// product puts parentheses around s if it is a sum, so that s can be used as a factor.
func product(s string) string {
	if strings.ContainsAny(s, " -?") {
		return "(" + s + ")"
	}
	return s
}

// scale makes a positive expression.
func (w *writer) scale() string {
	if w.data || w.bare {
		return pickOne(w, "1.5", "0.7", "2")
	}
	switch w.rng.IntN(5) {
	case 0:
		return "1.3"
	case 1, 2:
		return "sg"
	case 3:
		return "exp(0.3 * tanh(" + w.atom(false) + "))"
	}
	return "(0.5 + square(" + w.atom(false) + "))"
}

// share makes an expression with values between 0 and 1.
func (w *writer) share() string {
	if w.data || w.bare || w.chance(0.2) {
		return pickOne(w, "0.3", "0.8")
	}
	return pickOne(w, "pr", "pr", "inv_logit("+w.atom(false)+")", "inv_logit("+w.expr(1, false)+")")
}

// cond makes a condition. If data is set, it does not depend on parameters.
func (w *writer) cond(depth int, data bool) string {
	if depth > 0 && w.chance(0.25) {
		a, b := w.cond(depth-1, data), w.cond(depth-1, data)
		// Guards an index i - 1, which would be out of range in the first iteration.
		if i := w.index(); i != nil && i.lo == 1 && w.chance(0.4) {
			return fmt.Sprintf("%s > 1 && o%s[%s - 1]", i.name, i.size, i.name)
		}
		return "(" + a + ") " + pickOne(w, "&&", "||") + " (" + b + ")"
	}
	if i := w.index(); i != nil && (data || w.chance(0.6)) {
		s, at := i.size, w.at(i)
		switch w.rng.IntN(11) {
		case 0, 1, 2:
			return fmt.Sprintf("o%s[%s]", s, at)
		case 3:
			return fmt.Sprintf("!o%s[%s]", s, at)
		case 4:
			return fmt.Sprintf("o%s[%s] == %d", s, at, w.between(0, 1))
		case 5:
			return fmt.Sprintf("c%s[%s] > %d", s, at, w.between(0, 3))
		case 6:
			return fmt.Sprintf("%s %s %d", i.name, pickOne(w, ">", "<=", "==", "!="), w.between(1, 6))
		case 7:
			return fmt.Sprintf("%s %% %d == %d", i.name, w.between(2, 3), w.between(0, 1))
		case 8:
			return fmt.Sprintf("y%s[%s] > %s", s, at, literal(float64(w.between(-10, 10))/10))
		case 9:
			other := pickOne(w, "N", "T", "J", "K")
			if i.lo > 1 {
				return fmt.Sprintf("g%s%s[%s] != g%s%s[%s - 1]", s, other, i.name, s, other, i.name)
			}
			return fmt.Sprintf("g%s%s[%s] == %d", s, other, at, w.between(1, 3))
		case 10:
			return fmt.Sprintf("%s %s %s", i.name, pickOne(w, "<", "==", ">"), s)
		}
	}
	if w.bare {
		return w.atom(data) + pickOne(w, " > ", " < ") + literal(float64(w.between(-8, 8))/10)
	}
	if data || w.data {
		if e := w.readable(intEntry); e != nil && w.chance(0.5) {
			return fmt.Sprintf("%s %s %d", e.name, pickOne(w, ">", "<", "=="), w.between(0, 5))
		}
		return fmt.Sprintf("%s > %d", pickOne(w, "N", "T", "J", "K"), w.between(0, 9))
	}
	return w.atom(false) + pickOne(w, " > ", " < ") + pickOne(w, "0", "0.3", "-0.4", product(w.atom(false)))
}

// ---- terms ----

// term writes a statement that adds x, or a density of which x is an argument, to the log density.
func (w *writer) term(x string) string {
	text := ""
	i := w.index()
	density := w.sink == "target"
	switch k := w.rng.IntN(10); {
	case k < 4 || i == nil && k > 6:
		text = w.sink + " += " + x + ";"
	case k == 4:
		text = w.sink + " -= " + product(x) + ";"
		if density { // densities are written only where terms go to target
			text = "target += -square(" + x + ");"
		}
	case k == 5:
		text = w.sink + " += -0.5 * square(" + x + ");"
	case k == 6:
		text = w.sampled(literal(float64(w.between(-9, 9))/10), "normal", x, w.scale())
	case k == 7:
		text = w.sampled(fmt.Sprintf("y%s[%s]", i.size, w.at(i)), pickOne(w, "normal", "normal", "cauchy", "logistic"), x, w.scale())
	case k == 8:
		text = w.sampledInt(fmt.Sprintf("c%s[%s]", i.size, w.at(i)), "poisson_log", "fmin("+x+", 3)")
		if w.rejects {
			text = w.sampledInt(fmt.Sprintf("c%s[%s]", i.size, w.at(i)), "poisson", x+" + 4")
		}
	case k == 9:
		text = w.sampledInt(fmt.Sprintf("o%s[%s]", i.size, w.at(i)), "bernoulli_logit", x)
	}
	if w.chance(0.35) {
		text = "if (" + w.cond(1, w.data || !w.busy || w.chance(0.7)) + ") " + text
	}
	return text
}

// sampled writes a distribution statement with ~, or the call of the density that it abbreviates.
func (w *writer) sampled(y, name string, args ...string) string {
	list := strings.Join(args, ", ")
	switch {
	case w.sink != "target":
		return fmt.Sprintf("%s += %s_lpdf(%s | %s);", w.sink, name, y, list)
	case w.chance(0.6):
		return fmt.Sprintf("%s ~ %s(%s);", y, name, list)
	}
	return fmt.Sprintf("target += %s_%s(%s | %s);", name, w.suffix("pdf"), y, list)
}

// suffix returns the suffix of a density: in the model block also _lupdf or _lupmf, which may drop
// constant terms.
func (w *writer) suffix(kind string) string {
	if w.inner || w.chance(0.5) {
		return "l" + kind
	}
	return "lu" + kind
}

func (w *writer) sampledInt(y, name, arg string) string {
	switch {
	case w.sink != "target":
		return fmt.Sprintf("%s += %s_lpmf(%s | %s);", w.sink, name, y, arg)
	case w.chance(0.6):
		return fmt.Sprintf("%s ~ %s(%s);", y, name, arg)
	}
	return fmt.Sprintf("target += %s_%s(%s | %s);", name, w.suffix("pmf"), y, arg)
}

// ---- statements ----

func (w *writer) inLoop() bool {
	for _, b := range w.blocks {
		if b.loop {
			return true
		}
	}
	return false
}

// jumps reports whether continue and break are allowed here.
func (w *writer) jumps() (continues, breaks bool) {
	for k := len(w.blocks) - 1; k >= 0; k-- {
		b := w.blocks[k]
		if b.nojumps {
			return false, false
		}
		if b.loop {
			return !b.while, true
		}
	}
	return false, false
}

// leave makes a statement that returns from the current function.
func (w *writer) leave() string {
	switch {
	case !w.inner:
		return "{ }"
	case w.sink == "target":
		return "return;"
	}
	return "return " + w.sink + ";"
}

// statements fills the hole @S.
func (w *writer) statements() {
	for w.chance(0.45 / float64(1+w.depth/2)) {
		w.statement()
	}
}

// statement writes one statement, or all those of a template.
func (w *writer) statement() {
	deep := w.depth < 5 && len(w.lines) < 120
	switch k := w.rng.IntN(20); {
	case k < 4:
		w.put(w.term(w.expr(2, w.data)))
	case k < 6:
		w.put("real " + w.fresh("r") + " = " + w.expr(2, w.data) + ";")
	case k < 7: // declare a variable that is assigned later, or only in some iterations
		name := w.fresh("r")
		w.put("real " + name + ";")
		if w.chance(0.5) {
			w.jump()
		}
		w.put(name + " = " + w.expr(2, w.data) + ";")
	case k < 10:
		w.assignment()
	case k < 12:
		w.jump()
	case k < 14 && deep:
		w.put("if (" + w.cond(2, w.data || !w.busy) + ") {")
		w.statement()
		w.statements()
		if w.chance(0.4) {
			w.put("} else {")
			w.statement()
		}
		w.put("}")
	case k < 15:
		pickOne(w, w.counter, w.vector, w.vector, w.places)()
	case k < 16 && w.rejects:
		w.put(fmt.Sprintf("if (%s > %s) reject(\"too high\");", w.expr(1, w.data), literal(float64(w.between(5, 40))/10)))
	case deep:
		w.pattern(w.depth > 1)
	default:
		w.assignment()
	}
}

// assignment changes a local variable.
func (w *writer) assignment() {
	var list []*entry
	for k := range w.scope {
		if e := &w.scope[k]; !e.fixed && e.ready > 0 && (e.kind == realEntry || e.kind == vectorEntry) {
			list = append(list, e)
		}
	}
	if len(list) == 0 {
		return
	}
	e := list[len(list)-1-w.rng.IntN(min(len(list), 4))]
	guard := ""
	if w.chance(0.4) {
		guard = "if (" + w.cond(1, w.data || !w.busy) + ") "
	}
	place := e.name
	if e.kind == vectorEntry {
		place = ""
		for k := len(w.scope) - 1; k >= 0; k-- {
			if i := &w.scope[k]; i.kind == indexEntry && i.size == e.size {
				place = e.name + "[" + w.at(i) + "]"
				break
			}
		}
		if place == "" {
			return
		}
	}
	switch w.rng.IntN(4) {
	case 0:
		w.put(guard + place + " = " + w.expr(2, w.data) + ";")
	case 1:
		w.put(guard + place + " += 0.1 * " + product(w.expr(2, w.data)) + ";")
	case 2:
		w.put(guard + place + " = " + literal(float64(w.between(-8, 8))/10) + " * " + place + " + " + w.expr(1, w.data) + ";")
	case 3:
		w.put(guard + place + " = " + literal(float64(w.between(-9, 9))/10) + ";")
	}
}

// jump writes a statement that leaves the iteration, the loop or the function.
func (w *writer) jump() {
	continues, breaks := w.jumps()
	var list []string
	if continues {
		list = append(list, "continue;", "continue;")
	}
	if breaks {
		list = append(list, "break;")
	}
	if w.inner && w.chance(0.3) {
		for _, b := range w.blocks {
			if b.nojumps {
				return
			}
		}
		list = append(list, w.leave())
	}
	if len(list) > 0 {
		w.put("if (" + w.cond(1, w.data || !w.busy || w.chance(0.6)) + ") " + pickOne(w, list...))
	}
}

// vectorExpr makes a vector expression of size s.
func (w *writer) vectorExpr(s string) string {
	var list []string
	for _, e := range w.scope {
		if e.kind == vectorEntry && e.ready > 0 && e.size == s {
			list = append(list, e.name, "0.5 * "+e.name, "tanh("+e.name+")")
		}
	}
	list = append(list, "y"+s, "rep_vector("+w.expr(1, w.data)+", "+s+")")
	if !w.data {
		list = append(list, "z"+s, "ph * z"+s+" + x"+s)
	}
	return pickOne(w, list...)
}

// vector declares a vector, perhaps as a copy of another, or changes a whole vector.
func (w *writer) vector() {
	if v := w.readable(vectorEntry); v != nil && w.chance(0.6) {
		s, name := v.size, v.name
		guard := ""
		if w.chance(0.4) {
			guard = "if (" + w.cond(1, w.data || !w.busy) + ") "
		}
		switch w.rng.IntN(7) {
		case 0:
			w.put(guard + w.plain("0.1 * sum("+name+")"))
		case 1:
			w.put(guard + w.plain("tanh(dot_product("+name+", "+w.vectorExpr(s)+"))"))
		case 2:
			if !v.fixed {
				w.put(fmt.Sprintf("if (%s > 2) %s[2:%s] = 0.5 * %s[1:(%s - 1)];", s, name, s, name, s))
			}
		case 3:
			if !v.fixed {
				w.put(fmt.Sprintf("if (%s > 2) %s[1:2] += %s[%s] * 0.3;", s, name, name, s))
			}
		case 4:
			if !v.fixed {
				w.put(guard + name + " = 0.5 * " + name + " + 0.5 * " + product(w.vectorExpr(s)) + ";")
			}
		case 5:
			if other := pickOne(w, "N", "T", "J", "K"); !v.fixed {
				w.put(fmt.Sprintf("%s%s[g%s%s] %s;", guard, name, other, s, pickOne(w, "+= 0.1", "= "+w.vectorExpr(other))))
			}
		case 6:
			w.put(guard + w.plain("log_sum_exp("+name+")"))
		}
		return
	}
	s := pickOne(w, "N", "T", "J", "K")
	if 2*w.cost*w.sizes[s] > w.limit {
		return
	}
	value := w.vectorExpr(s)
	w.put(fmt.Sprintf("vector[%s] %s = %s;", s, w.fresh("v"), value))
}

// places writes two loops: one fills an array of ints depending on data, and the other reads the
// elements of a vector at these indices.
func (w *writer) places() {
	s, to := pickOne(w, "N", "T", "J", "K"), pickOne(w, "N", "T", "J", "K")
	if 4*w.cost*w.sizes[s] > w.limit-w.work || w.sizes[to] == 0 {
		return
	}
	name, i := w.fresh("at"), w.fresh("i")
	w.put(fmt.Sprintf("array[%s] int %s;", s, name))
	w.put(fmt.Sprintf("for (%s in 1:%s) {", i, s))
	w.blocks[len(w.blocks)-1].nojumps = true
	value := pickOne(w, fmt.Sprintf("1 + %s %% %s", i, to), fmt.Sprintf("g%s%s[%s]", s, to, i), fmt.Sprintf("min(%s, 1 + c%s[%s])", to, s, i))
	w.put(fmt.Sprintf("%s[%s] = %s;", name, i, value))
	if w.chance(0.3) {
		w.put(fmt.Sprintf("if (%s > 1 && o%s[%s]) %s[%s] = %s[%s - 1];", i, s, i, name, i, name, i))
	}
	w.put("}")
	letter := "z"
	if w.data {
		letter = "y"
	}
	i = w.fresh("i")
	w.put(fmt.Sprintf("for (%s in 1:%s) {", i, s))
	w.statements()
	w.put(w.term(fmt.Sprintf("%s%s[%s[%s]]", letter, to, name, i)))
	w.put("}")
}

// counter declares an int that serves as a running position, or advances one and reads the element
// at that position.
func (w *writer) counter() {
	for k := len(w.scope) - 1; k >= 0; k-- {
		if e := &w.scope[k]; e.kind == intEntry && strings.HasPrefix(e.name, "at") && w.inLoop() {
			s := pickOne(w, "N", "T", "J", "K")
			switch w.rng.IntN(4) {
			case 0:
				w.put(e.name + " += 1;")
			case 1:
				w.put("if (" + w.cond(1, w.data || !w.busy) + ") " + e.name + " += " + pickOne(w, "1", "1", "2") + ";")
			case 2:
				w.put("if (" + w.cond(1, w.data || !w.busy) + ") " + e.name + " = " + pickOne(w, "0", "1") + ";")
			}
			x := fmt.Sprintf("y%s[%s]", s, e.name)
			if !w.data && w.chance(0.6) {
				x = fmt.Sprintf("z%s[%s]", s, e.name)
			}
			w.put(fmt.Sprintf("if (%s >= 1 && %s <= %s) %s", e.name, e.name, s, w.plain(x)))
			return
		}
	}
	w.put(fmt.Sprintf("int %s = %d;", w.fresh("at"), w.between(0, 1)))
}

// plain returns a statement that adds x to the log density.
func (w *writer) plain(x string) string { return w.sink + " += " + x + ";" }

// pattern writes a copy of a random template.
func (w *writer) pattern(short bool) {
	for range 5 {
		t := &templates[w.rng.IntN(len(templates))]
		if short && w.chance(0.5) && !strings.Contains(t.kinds, "s") {
			continue
		}
		if w.insert(t) {
			return
		}
	}
}
