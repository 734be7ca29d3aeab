package proggen

import (
	"fmt"
	"strings"
)

// ---- regions: variables, loops, uses of the final values ----

func (d *rowing) part(sink string, sampling bool) []string {
	d.lines, d.state, d.sink, d.sampling, d.row = nil, nil, sink, sampling, ""
	d.indent = 1
	for range d.between(1, 3) {
		d.declare()
	}
	loops := among(d, 1, 2, 2, 2, 3, 3, 4)
	if loops > 1 {
		d.used["several loops"] = true
	}
	for range loops {
		if d.chance(0.15) {
			d.whole0()
		}
		d.loop()
		if d.chance(0.2) {
			d.declare()
		}
	}
	for _, v := range d.state {
		if d.chance(0.7) {
			d.add(d.reduced(v))
		}
	}
	return d.lines
}

func (d *rowing) declare() {
	v := rowState{kind: among(d, reals, reals, reals, ints, vectors, vectors, vectors)}
	switch v.kind {
	case reals:
		v.name = d.name("m")
		d.line("real %s = %s;", v.name, among(d, "0.5", "0", "a", "tanh(a * f)"))
	case ints:
		v.name = d.name("i")
		d.line("int %s = 1;", v.name)
	default:
		v.name, v.size = d.name("v"), among(d, "N", "N", "K", "K", "J", "3")
		d.line("vector[%s] %s = rep_vector(%s, %s);", v.size, v.name, among(d, "0", "0.1", "a", "f"), v.size)
	}
	d.state = append(d.state, v)
}

// reduced makes a number that depends on every element of v.
func (d *rowing) reduced(v rowState) string {
	switch {
	case v.kind == ints:
		return "0.1 * " + v.name
	case v.kind == reals:
		return v.name
	case v.size == "N" && d.size["N"] == 0:
		return "sum(" + v.name + ")"
	}
	return filled(among(d, "sum(%[1]s)", "0.1 * dot_self(%[1]s)", "log_sum_exp(%[1]s)", "%[1]s[%[2]s]", "max(%[1]s)", "sum(%[1]s[1:%[2]s])", "mean(tanh(%[1]s))", "sum(cumulative_sum(%[1]s)[1:1])"), v.name, v.size)
}

// whole0 writes a statement about whole variables, without a loop.
func (d *rowing) whole0() {
	d.used["vectorised"] = true
	for _, v := range d.state {
		if v.kind == vectors && d.chance(0.5) {
			other := map[string]string{"N": among(d, "x", "e", "u[g]", "z[h1]", "X * b"), "K": "u", "J": "z", "3": "t[1]"}[v.size]
			d.line("%s", filled(among(d, "%[1]s = 0.5 * %[1]s + %[2]s;", "%[1]s = tanh(%[2]s);", "%[1]s += %[2]s;", "%[1]s = reverse(%[1]s);"), v.name, other))
			return
		}
	}
	mean := among(d, "u[g]", "u[g] + X * b", "e", "a + u[g] .* x", "z[h1] + f * x", "rows_dot_product(X, B[g])", "X * b")
	d.add(filled(among(d, "normal_lpdf(y | %s, 0.5 + s)", "poisson_log_lpmf(c | tanh(%s))", "bernoulli_logit_lpmf(o | %s)", "student_t_lpdf(r | 4, %s, 1)"), mean))
}

func (d *rowing) add(e string) { d.line("%s += %s;", d.sink, e) }

// loop writes one loop over the rows.
func (d *rowing) loop() {
	n, closing := d.name("n"), 1
	cost := d.cost
	d.cost *= max(1, d.size["N"])
	d.row = n
	lo, hi := "1", "N"
	switch d.below(20) {
	case 0:
		lo = "2"
	case 1:
		hi = "(N - 1)"
	case 2:
		k := d.name("k")
		d.used["ragged groups"] = true
		d.line("for (%s in 1:K) {", k)
		d.indent++
		closing++
		lo, hi = "from["+k+"]", "(from["+k+"] + len["+k+"] - 1)"
	case 3:
		d.used["foreach"] = true
		d.line("for (%s in q) {", n)
		lo = ""
	case 4:
		d.used["backwards"] = true
		d.line("for (%s0 in 1:N) {", n)
		d.line("  int %s = N + 1 - %s0;", n, n)
		lo = ""
	}
	if lo != "" {
		d.line("for (%s in %s:%s) {", n, lo, hi)
	}
	d.indent++
	d.body(d.between(1, 3), 0)
	for range closing {
		d.indent--
		d.line("}")
	}
	d.cost, d.row = cost, ""
}

// body writes the statements of an iteration. The last one mostly adds a term.
func (d *rowing) body(count, depth int) {
	locals, ints := len(d.locals), len(d.ints)
	for range count {
		d.statement(depth)
	}
	if d.chance(0.5) {
		d.term()
	}
	d.locals, d.ints = d.locals[:locals], d.ints[:ints]
}

// rowStatement is a kind of statement. write returns false if the statement is not possible here.
type rowStatement struct {
	name   string
	weight int
	write  func(d *rowing, depth int) bool
}

// rowStatements returns all kinds of statements, with their weights.
func rowStatements() []rowStatement {
	return []rowStatement{
		{"last value", 6, func(d *rowing, _ int) bool {
			v := d.real0()
			if v == "" {
				return false
			}
			d.line("%s = %s;", v, d.expr(1))
			if d.chance(0.3) {
				d.line("%s *= 0.5;", v)
			}
			return true
		}},
		{"last value by condition", 3, func(d *rowing, _ int) bool {
			v := d.real0()
			if v == "" {
				return false
			}
			d.line("if (%s) %s = %s;", d.cond(), v, d.expr(1))
			return true
		}},
		{"scan", 4, func(d *rowing, _ int) bool {
			v := d.real0()
			if v == "" {
				return false
			}
			d.line("%s", filled(among(d, "%[1]s = 0.5 * %[1]s + %[2]s;", "%[1]s = f * %[1]s + %[2]s;", "%[1]s = tanh(%[1]s + %[2]s);", "%[1]s = 0.3 * %[1]s * %[2]s + 0.1;"), v, d.small(1)))
			return true
		}},
		{"running sum, product, maximum", 4, func(d *rowing, _ int) bool {
			v := d.real0()
			if v == "" {
				return false
			}
			d.line("%s", filled(among(d, "%[1]s += 0.1 * %[2]s;", "%[1]s *= 0.9 + 0.1 * %[2]s;", "%[1]s = fmax(%[1]s, %[2]s);", "%[1]s = log_sum_exp(%[1]s, %[2]s);", "%[1]s -= %[2]s * x[%[3]s];"), v, d.small(1), d.row))
			return true
		}},
		{"int of the last row", 3, func(d *rowing, _ int) bool {
			v := d.int0()
			if v == "" {
				return false
			}
			d.line("%s", filled(among(d, "%[1]s = %[2]s;", "%[1]s = g[%[2]s];", "%[1]s = q[%[2]s];", "if (o[%[2]s] == 1) %[1]s = %[2]s;", "%[1]s = 1 + (%[1]s + c[%[2]s]) %% N;"), v, d.row))
			return true
		}},
		{"elements", 6, func(d *rowing, _ int) bool {
			v := d.vector0("N")
			if v == "" {
				return false
			}
			at := among(d, d.row, d.row, d.row, "q["+d.row+"]", d.at("N"))
			d.line("%s", filled(among(d, "%[1]s[%[2]s] = %[3]s;", "%[1]s[%[2]s] = %[3]s;", "%[1]s[%[2]s] += %[3]s;", "%[1]s[%[2]s] = 0.5 * %[1]s[%[2]s] + %[3]s;"), v, at, d.small(1)))
			return true
		}},
		{"recurrence of elements", 3, func(d *rowing, _ int) bool {
			v := d.vector0("N")
			if v == "" {
				return false
			}
			back := among(d, 1, 1, 2)
			d.line("%s", filled(among(d, "if (%[2]s > %[3]d) %[1]s[%[2]s] = 0.5 * %[1]s[%[2]s - %[3]d] + %[4]s;", "%[1]s[%[2]s] = (%[2]s > %[3]d ? f * %[1]s[%[2]s - %[3]d] : 0.2) + %[4]s;",
				"if (%[2]s + %[3]d <= N) %[1]s[%[2]s] = 0.5 * %[1]s[%[2]s + %[3]d] - %[4]s;"), v, d.row, back, d.small(1)))
			return true
		}},
		{"sums by group", 5, func(d *rowing, _ int) bool {
			v, at := d.grouped()
			if v == "" {
				return false
			}
			d.line("%s[%s] %s= %s;", v, at, among(d, "+", "+", "-"), d.small(1))
			return true
		}},
		{"overwritten by group", 4, func(d *rowing, _ int) bool {
			v, at := d.grouped()
			if v == "" {
				return false
			}
			d.line("%s", filled(among(d, "%[1]s[%[2]s] = %[3]s;", "%[1]s[%[2]s] = 0.5 * %[1]s[%[2]s] + %[3]s;", "if (o[%[4]s] == 0) %[1]s[%[2]s] = %[3]s;"), v, at, d.small(1), d.row))
			return true
		}},
		{"state vector", 3, func(d *rowing, _ int) bool {
			v := d.vector0("3")
			if v == "" {
				return false
			}
			d.line("%s", filled(among(d, "%[1]s = 0.5 * %[1]s + t[g[%[2]s]];", "%[1]s[1] = %[3]s;", "%[1]s[1 + c[%[2]s] %% 3] += %[3]s;", "%[1]s[2:3] = 0.8 * %[1]s[1:2];", "%[1]s = t[g[%[2]s]];", "%[1]s = log_softmax(%[1]s + %[3]s * t[1]);"), v, d.row, d.small(1)))
			return true
		}},
		{"local", 4, func(d *rowing, _ int) bool {
			name := d.name("l")
			d.line("real %s = %s;", name, d.expr(2))
			d.locals = append(d.locals, name)
			return true
		}},
		{"int local", 3, func(d *rowing, _ int) bool {
			name := d.name("j")
			d.line("%s", filled(among(d, "int %[1]s = nb[%[2]s, 1 + c[%[2]s] %% 3];", "int %[1]s = q[%[2]s];", "int %[1]s = min(N, %[2]s + deg[%[2]s]);", "int %[1]s = max(1, %[2]s - o[%[2]s]);"), name, d.row))
			d.ints = append(d.ints, name)
			return true
		}},
		{"term", 8, func(d *rowing, _ int) bool { d.term(); return true }},
		{"truncated", 1, func(d *rowing, _ int) bool {
			if !d.sampling {
				return false
			}
			d.line("%s", filled(among(d, "y[%[1]s] ~ normal(%[2]s, 1 + s) T[-3, 3];", "c[%[1]s] ~ poisson(0.5 + s) T[, 9];", "y[%[1]s] ~ normal(%[2]s, 1.5) T[-4, ];", "exp(y[%[1]s]) ~ lognormal(%[2]s, 1 + s) T[0.01, ];"), d.row, d.small(1)))
			return true
		}},
		{"if", 4, func(d *rowing, depth int) bool {
			if depth > 1 {
				return false
			}
			d.block("if ("+d.cond()+") {", depth)
			if d.chance(0.4) {
				d.lines = d.lines[:len(d.lines)-1]
				d.block("} else {", depth)
			}
			return true
		}},
		{"first or last row", 2, func(d *rowing, depth int) bool {
			if depth > 1 {
				return false
			}
			d.block(filled(among(d, "if (%s == 1) {", "if (%s == N) {", "if (%[1]s > 1 && g[%[1]s] != g[%[1]s - 1]) {", "if (%s < N) {"), d.row), depth)
			return true
		}},
		{"nested loop", 3, func(d *rowing, depth int) bool { return d.nested(depth, among(d, "1:P", "1:3", "1:2", "1:1")) }},
		{"ragged loop", 2, func(d *rowing, depth int) bool {
			return d.nested(depth, filled(among(d, "1:deg[%s]", "1:min(3, %s)", "1:(1 + o[%s])"), d.row))
		}},
		{"while", 1, func(d *rowing, depth int) bool {
			if depth > 1 || d.cost*4 > maxRowWork {
				return false
			}
			w, cost := d.name("w"), d.cost
			d.line("int %s = 0;", w)
			d.cost *= 4
			d.line("%s", filled(among(d, "while (%[1]s < deg[%[2]s]) {", "while (%[1]s < 4 && %[3]s > 0.3 * %[1]s) {"), w, d.row, d.small(1)))
			d.indent++
			d.line("%s += 1;%s", w, step)
			d.body(d.between(1, 2), depth+1)
			d.indent--
			d.line("}")
			d.cost = cost
			return true
		}},
		{"jump", 1, func(d *rowing, _ int) bool {
			d.line("if (%s) %s;", d.cond(), among(d, "continue", "continue", "break"))
			return true
		}},
	}
}

func (d *rowing) statement(depth int) {
	if d.work += d.cost; d.work > maxRowWork && len(d.lines) > 4 {
		return
	}
	var options []option
	for _, s := range rowStatements() {
		options = append(options, option{s.weight, func() bool {
			if !s.write(d, depth) {
				return false
			}
			d.used[s.name] = true
			return true
		}})
	}
	d.pick(options...)
}

// block writes a block of statements after the given head.
func (d *rowing) block(head string, depth int) {
	d.line("%s", head)
	d.indent++
	d.body(d.between(1, 2), depth+1)
	d.indent--
	d.line("}")
}

// nested writes an inner loop over the given bounds.
func (d *rowing) nested(depth int, bounds string) bool {
	if depth > 1 || d.cost*3 > maxRowWork {
		return false
	}
	j, cost := d.name("d"), d.cost
	d.cost *= 3
	d.line("for (%s in %s) {", j, bounds)
	d.indent++
	locals := len(d.locals)
	if !strings.Contains(bounds, "P") {
		d.locals = append(d.locals, fmt.Sprintf("t[g[%s], min(3, %s)]", d.row, j), fmt.Sprintf("e[nb[%s, min(3, %s)]]", d.row, j))
	} else {
		d.locals = append(d.locals, fmt.Sprintf("(X[%s, %s] * b[%s])", d.row, j, j), fmt.Sprintf("B[g[%s], %s]", d.row, j))
	}
	d.body(d.between(1, 2), depth+1)
	d.locals = d.locals[:locals]
	d.indent--
	d.line("}")
	d.cost = cost
	return true
}

// ---- what is in scope ----

func (d *rowing) variable(ok func(v rowState) bool) (v rowState, found bool) {
	var list []rowState
	for _, v := range d.state {
		if ok(v) {
			list = append(list, v)
		}
	}
	if len(list) == 0 {
		return v, false
	}
	return one(d, list), true
}

func (d *rowing) real0() string {
	v, _ := d.variable(func(v rowState) bool { return v.kind == reals })
	return v.name
}

func (d *rowing) int0() string {
	v, _ := d.variable(func(v rowState) bool { return v.kind == ints })
	return v.name
}

func (d *rowing) vector0(size string) string {
	v, _ := d.variable(func(v rowState) bool { return v.kind == vectors && v.size == size })
	return v.name
}

// grouped returns a vector with an element for each group, and the index of the current row's
// group.
func (d *rowing) grouped() (name, at string) {
	v, _ := d.variable(func(v rowState) bool { return v.size == "K" || v.size == "J" })
	return v.name, d.at(v.size)
}

// at returns an index into a vector of the given size that belongs to the current row.
func (d *rowing) at(size string) string {
	switch size {
	case "K":
		return among(d, "g["+d.row+"]", "g["+d.row+"]", "g["+d.row+"]", "1 + c["+d.row+"] % K")
	case "J":
		return "h1[" + d.row + "]"
	case "3":
		return among(d, "1", "3", "1 + c["+d.row+"] % 3")
	}
	if len(d.ints) > 0 && d.chance(0.5) {
		return one(d, d.ints)
	}
	if i := d.int0(); i != "" && d.chance(0.2) {
		d.used["int state as index"] = true
		return "1 + " + i + " % N"
	}
	return among(d, d.row, d.row, d.row, d.row, "q["+d.row+"]", "max(1, "+d.row+" - 1)")
}

// ---- expressions ----

// leaf makes a simple number that depends on the row.
func (d *rowing) leaf() string {
	if len(d.locals) > 0 && d.chance(0.3) {
		return one(d, d.locals)
	}
	if d.chance(0.3) {
		if v, ok := d.variable(func(rowState) bool { return true }); ok {
			switch v.kind {
			case reals:
				return v.name
			case ints:
				return "(0.01 * " + v.name + ")"
			}
			return v.name + "[" + d.at(v.size) + "]"
		}
	}
	n := d.at("N")
	return filled(among(d, "a", "f", "s", "y[%[1]s]", "x[%[1]s]", "r[%[1]s]", "u[g[%[1]s]]", "u[g[%[1]s]]", "u[g[%[1]s]]", "z[h1[%[1]s]]", "e[%[1]s]", "(X[%[1]s] * b)", "dot_product(X[%[1]s], B[g[%[1]s]])",
		"t[g[%[1]s], 2]", "(0.3 * c[%[1]s])", "o[%[1]s]", "0.3071", "-0.7219", "pi1[1 + c[%[1]s] %% 3]", "log_sum_exp(t[g[%[1]s]])", "sum(u[1:g[%[1]s]])"), n)
}

func (d *rowing) expr(depth int) string {
	if depth <= 0 || d.chance(0.2) {
		return d.leaf()
	}
	x := func() string { return d.expr(depth - 1) }
	switch d.below(14) {
	case 0, 1:
		return "(" + x() + " + " + x() + ")"
	case 2:
		return "(" + x() + " - " + x() + ")"
	case 3, 4:
		return "(" + x() + " * " + x() + ")"
	case 5:
		return "(" + x() + " / (1.5 + square(" + x() + ")))"
	case 6, 7:
		return among(d, "tanh", "inv_logit", "log1p_exp", "sin", "square") + "(" + x() + ")"
	case 8:
		return among(d, "log_sum_exp", "fmax", "fmin") + "(" + x() + ", " + x() + ")"
	case 9:
		return "(" + d.cond() + " ? " + x() + " : " + x() + ")"
	case 10:
		d.helper, d.used["user function"] = true, true
		return "h(" + x() + ", " + x() + ")"
	case 11:
		return "exp(0.3 * " + d.small(depth-1) + ")"
	case 12:
		return "log(0.1 + square(" + x() + "))"
	}
	return "(0.5 * " + x() + ")"
}

// small makes an expression with values between -1 and 1.
func (d *rowing) small(depth int) string { return "tanh(" + d.expr(depth) + ")" }

func (d *rowing) cond() string {
	n := d.row
	return filled(among(d, "o[%[1]s] == 1", "c[%[1]s] > 2", "g[%[1]s] == 1", "%[1]s %% 2 == 0", "%[1]s > 3", "y[%[1]s] > 0.1234", "a > 0.1", "u[g[%[1]s]] > f", "x[%[1]s] < e[%[1]s]", "deg[%[1]s] == 0 || o[%[1]s] == 0", "h1[%[1]s] != g[%[1]s]"), n)
}

// term adds a density, or a number.
func (d *rowing) term() {
	m, n := d.expr(2), d.row
	if d.chance(0.35) {
		d.add(among(d, "0.3 * tanh("+m+")", "-0.1 * square(tanh("+m+"))", "tanh("+m+") * x["+n+"]", "0.1 * c["+n+"] * tanh("+m+")"))
		return
	}
	if d.sampling && d.chance(0.5) {
		d.line("%s", filled(among(d, "y[%[1]s] ~ normal(%[2]s, 0.5 + s);", "c[%[1]s] ~ poisson_log(tanh(%[2]s));", "o[%[1]s] ~ bernoulli_logit(%[2]s);", "r[%[1]s] ~ student_t(4, %[2]s, 1);", "y[%[1]s] ~ normal(u[g[%[1]s]], 0.1 + s);", "0.5 ~ normal(%[2]s, 1);"), n, m))
		return
	}
	d.add(filled(among(d, "normal_lpdf(y[%[1]s] | %[2]s, 0.5 + s)", "normal_lpdf(tanh(%[2]s) | a, 1)", "poisson_log_lpmf(c[%[1]s] | tanh(%[2]s))", "bernoulli_logit_lpmf(o[%[1]s] | %[2]s)", "binomial_logit_lpmf(c[%[1]s] | 6, %[2]s)",
		"neg_binomial_2_log_lpmf(c[%[1]s] | tanh(%[2]s), 0.5 + s)", "log_mix(inv_logit(a), normal_lpdf(y[%[1]s] | %[2]s, 1), normal_lpdf(y[%[1]s] | f, 0.5 + s))", "categorical_logit_lpmf(1 + c[%[1]s] %% 3 | t[g[%[1]s]])",
		"ordered_logistic_lpmf(1 + c[%[1]s] %% 3 | %[2]s, cut)", "log_sum_exp(log(pi1) + %[3]s * t[g[%[1]s]])", "gamma_lpdf(0.1 + square(y[%[1]s]) | 2, exp(tanh(%[2]s)))", "normal_lccdf(y[%[1]s] | %[2]s, 1 + s)", "exponential_lpdf(0.1 + square(r[%[1]s]) | exp(tanh(%[2]s)))"), n, m, d.small(1)))
}
