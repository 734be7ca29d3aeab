package proggen

import (
	"encoding/json"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strings"
)

// Sizes are what the sizes of NewRows's programs are drawn from: small ones, and both sides of
// those at which the compiler's passes begin to act or act otherwise. A test compares them with
// the constants in the files tuning.go.
var Sizes = []int{
	0, 1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 18, 19, 20, 23, 24, 25, 26, 31, 32, 33, 63, 64, 65,
	127, 128, 129, 255, 256, 257, 499, 500, 501, 511, 512, 513, 999, 1000, 1001, 1023, 1024, 1025,
}

// maxRowWork bounds the statements that a program of NewRows executes.
const maxRowWork = 6000

// rowing is the state of one NewRows.
type rowing struct {
	page
	size     map[string]int // N, K, J, P
	sink     string         // what terms are added to
	sampling bool           // ~ may be written
	row      string         // position in 1..N of the loop under way; "": outside
	state    []rowState     // in scope
	locals   []string       // real variables of the iteration
	ints     []string       // int variables of the iteration, in 1..N
	helper   bool           // the function h is used
	cost     int            // executions of the present statement
	work     int            // executions of all statements
	used     map[string]bool
}

// rowState is a variable that loops over rows change and that is read afterwards.
type rowState struct {
	name string
	kind kind   // reals, ints, vectors
	size string // of a vector: N, K, J or 3
}

// NewRows makes the program of a seed out of several loops over one set of rows: their index
// arrays are shared, constant, sorted, in blocks or random, and later loops read what earlier ones
// leave. The statements are few and short, so that the passes on lanes, tables and scans apply.
// Program.Patterns has the kinds of its statements.
func NewRows(seed uint64) Program {
	d := &rowing{page: newPage(seed, 0xbb67ae8584caa73b), size: map[string]int{}, used: map[string]bool{}}
	weight := func(limits ...int) int { // of sizes up to one of the limits
		most := one(d, limits)
		n, _ := slices.BinarySearch(Sizes, most+1)
		return Sizes[d.below(n)]
	}
	d.size["N"] = weight(9, 33, 129, 129, 129, 129, 257, 257, 513, 1025)
	d.size["K"] = max(1, weight(3, 3, 5, 9, 17, 65, 129, 257))
	d.size["J"] = max(1, weight(2, 5, 9, 33))
	d.size["P"] = among(d, 1, 1, 2, 2, 3, 4, 5, 8, 9)
	d.cost = 1
	var functions, transformed, model, generated []string
	for range among(d, 1, 1, 1, 2) {
		switch d.below(10) {
		case 0, 1:
			name := d.name("f")
			d.used["function"] = true
			body := d.part("lp", false)
			var formal, actual []string
			for _, f := range rowFamilies {
				if mentions(body, f.name) {
					formal, actual = append(formal, f.arg+" "+f.name), append(actual, f.name)
				}
			}
			functions = append(functions, fmt.Sprintf("real %s(%s) {", name, strings.Join(formal, ", ")))
			functions = append(functions, "  real lp = 0;")
			functions = append(functions, body...)
			functions = append(functions, "  return lp;", "}")
			model = append(model, fmt.Sprintf("  target += %s(%s);", name, strings.Join(actual, ", ")))
		case 2:
			name := d.name("tp")
			d.used["transformed parameters"] = true
			transformed = append(transformed, "  real "+name+" = 0;", "  {")
			transformed = append(append(transformed, d.part(name, false)...), "  }")
			model = append(model, "  target += "+name+";")
		case 3:
			name := d.name("gq")
			d.used["generated quantities"] = true
			generated = append(generated, "  real "+name+" = 0;", "  {")
			generated = append(append(generated, d.part(name, false)...), "  }")
		default:
			model = append(append(append(model, "  {"), d.part("target", true)...), "  }")
		}
	}
	if d.helper {
		functions = append([]string{"real h(real p, real q) {", "  " + among(d, "return p > q ? tanh(p) : 0.5 * tanh(q);", "return inv_logit(p) * tanh(q);", "if (p > 0.5) return 0.3 * tanh(q);\n  return tanh(p - q);"), "}"}, functions...)
	}
	return d.program(seed, functions, transformed, model, generated)
}

// rowFamilies are the data and parameters by name: those that a program mentions are declared.
var rowFamilies = []struct {
	name, text, arg string
	param           bool
	value           func(d *rowing) any
}{
	{"N", "int N", "int", false, func(d *rowing) any { return d.size["N"] }},
	{"K", "int K", "int", false, func(d *rowing) any { return d.size["K"] }},
	{"J", "int J", "int", false, func(d *rowing) any { return d.size["J"] }},
	{"P", "int P", "int", false, func(d *rowing) any { return d.size["P"] }},
	{"g", "array[N] int g", "array[] int", false, func(d *rowing) any { return d.positions(d.size["K"]) }},
	{"h1", "array[N] int h1", "array[] int", false, func(d *rowing) any { return d.positions(d.size["J"]) }},
	{"q", "array[N] int q", "array[] int", false, func(d *rowing) any {
		if d.chance(0.4) {
			order := d.rng.Perm(d.size["N"])
			for i := range order {
				order[i]++
			}
			return order
		}
		return d.positions(d.size["N"])
	}},
	{"c", "array[N] int c", "array[] int", false, func(d *rowing) any { return d.whole(0, 5) }},
	{"o", "array[N] int o", "array[] int", false, func(d *rowing) any { return d.whole(0, 1) }},
	{"deg", "array[N] int deg", "array[] int", false, func(d *rowing) any { return d.whole(0, 3) }},
	{"nb", "array[N, 3] int nb", "array[,] int", false, func(d *rowing) any {
		out := make([][3]int, d.size["N"])
		for j := range 3 {
			for i, v := range d.positions(d.size["N"]) {
				out[i][j] = v
			}
		}
		return out
	}},
	{"from", "array[K] int from", "array[] int", false, func(d *rowing) any {
		from, at := make([]int, d.size["K"]), 1
		for i, l := range d.lengths() {
			from[i], at = at, at+l
		}
		return from
	}},
	{"len", "array[K] int len", "array[] int", false, func(d *rowing) any { return d.lengths() }},
	{"y", "vector[N] y", "vector", false, func(d *rowing) any { return d.reals(d.size["N"]) }},
	{"x", "vector[N] x", "vector", false, func(d *rowing) any { return d.reals(d.size["N"]) }},
	{"r", "array[N] real r", "array[] real", false, func(d *rowing) any { return d.reals(d.size["N"]) }},
	{"X", "matrix[N, P] X", "matrix", false, func(d *rowing) any {
		out := make([][]float64, d.size["N"])
		same := d.chance(0.2)
		for i := range out {
			if out[i] = d.reals(d.size["P"]); same {
				out[i] = out[0]
			}
		}
		return out
	}},
	{"a", "real a", "real", true, nil},
	{"s", "real<lower=0> s", "real", true, nil},
	{"f", "real<lower=-1, upper=1> f", "real", true, nil},
	{"u", "vector[K] u", "vector", true, nil},
	{"z", "vector[J] z", "vector", true, nil},
	{"b", "vector[P] b", "vector", true, nil},
	{"e", "vector[N] e", "vector", true, nil},
	{"B", "matrix[K, P] B", "matrix", true, nil},
	{"t", "array[K] vector[3] t", "array[] vector", true, nil},
	{"cut", "ordered[2] cut", "vector", true, nil},
	{"pi1", "simplex[3] pi1", "vector", true, nil},
}

// filled is a text with its arguments, not all of which it must mention.
func filled(text, first string, more ...any) string {
	return fmt.Sprintf(text+"%.0[1]s", append([]any{first}, more...)...)
}

func mentions(lines []string, name string) bool {
	word := regexp.MustCompile(`\b` + name + `\b`)
	return slices.ContainsFunc(lines, word.MatchString)
}

// program puts the blocks together.
func (d *rowing) program(seed uint64, functions, transformed, model, generated []string) Program {
	all := slices.Concat(transformed, model, generated, []string{"a"})
	for again := true; again; { // sizes that declarations mention
		again = false
		for _, f := range rowFamilies {
			if mentions(all, f.name) && !slices.Contains(all, f.text) {
				all, again = append(all, f.text), true
			}
		}
	}
	var data, params []string
	values := map[string]any{}
	for _, f := range rowFamilies {
		switch {
		case !slices.Contains(all, f.text):
		case f.param:
			params = append(params, "  "+f.text+";")
		default:
			data = append(data, "  "+f.text+";")
			values[f.name] = f.value(d)
		}
	}
	if from, ok := values["from"].([]int); ok && values["len"] != nil { // of one division
		at := 1
		for i, l := range values["len"].([]int) {
			from[i], at = at, at+l
		}
	}
	d.lines = nil
	for _, b := range []struct {
		head  string
		lines []string
	}{{"functions", functions}, {"data", data}, {"parameters", params}, {"transformed parameters", transformed}, {"model", model}, {"generated quantities", generated}} {
		if len(b.lines) > 0 {
			d.line("%s {", b.head)
			d.lines = append(d.lines, b.lines...)
			d.line("}")
		}
	}
	b, err := json.Marshal(values)
	if err != nil {
		panic(err) // numbers only
	}
	var kinds []string
	for k := range d.used {
		kinds = append(kinds, k)
	}
	slices.Sort(kinds)
	return Program{Seed: seed, Text: d.text(), Data: string(b), Patterns: kinds}
}

// ---- values ----

// whole are N ints in a range: constant, sorted, in blocks, in turn, all but one the same, random.
func (d *rowing) whole(lo, hi int) []int {
	n := d.size["N"]
	out := make([]int, n)
	level, block := d.between(lo, hi), among(d, 4, 7, 1+n/3, 1+n/2)
	kind := d.below(8)
	for i := range out {
		switch kind {
		case 0, 1:
			out[i] = level
		case 2:
			if i%block == 0 {
				level = d.between(lo, hi)
			}
			out[i] = level
		case 3:
			out[i] = lo + i%(hi-lo+1)
		default:
			out[i] = d.between(lo, hi)
		}
	}
	switch {
	case kind == 1 && n > 0:
		out[among(d, 0, n-1, d.below(n))] = d.between(lo, hi)
	case kind == 2 && n > 0 && d.chance(0.5):
		out[n-1] = d.between(lo, hi)
	case kind == 4:
		slices.Sort(out)
	case kind == 5:
		slices.Sort(out)
		slices.Reverse(out)
	}
	return out
}

func (d *rowing) positions(most int) []int { return d.whole(1, max(1, most)) }

// lengths divide the rows among the groups; the rest belongs to none.
func (d *rowing) lengths() []int {
	out, left := make([]int, d.size["K"]), d.size["N"]
	each, same := left/len(out), d.chance(0.3)
	for i := range out {
		if out[i] = each; !same {
			out[i] = min(left, d.between(0, 2*each+1))
		}
		left -= out[i]
	}
	return out
}

// reals are numbers: constant, sorted, in blocks, all 0 but one, random.
func (d *rowing) reals(n int) []float64 {
	out := make([]float64, n)
	one := func() float64 { return math.Round((2*d.rng.Float64()-1)*200) / 100 }
	kind, level := d.below(7), one()
	for i := range out {
		switch {
		case kind == 1:
			level = 0
		case kind > 2 || kind == 2 && i%4 == 0:
			level = one()
		}
		out[i] = level
	}
	switch {
	case kind == 1 && n > 0:
		out[d.below(n)] = one()
	case kind == 3:
		slices.Sort(out)
	}
	return out
}

// ---- parts: variables, loops, what is read in the end ----

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

// reduced is a number that depends on all of a variable.
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

// whole0 writes a statement about whole variables.
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

// loop writes a loop over rows.
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

// body writes statements, the last of which mostly adds a term.
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

// rowStatement is a kind of statements; write returns false where it is not possible.
type rowStatement struct {
	name   string
	weight int
	write  func(d *rowing, depth int) bool
}

// rowStatements are all kinds.
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

// block writes a block of statements.
func (d *rowing) block(head string, depth int) {
	d.line("%s", head)
	d.indent++
	d.body(d.between(1, 2), depth+1)
	d.indent--
	d.line("}")
}

// nested writes an inner loop.
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

// grouped is a vector over groups with the group of the row.
func (d *rowing) grouped() (name, at string) {
	v, _ := d.variable(func(v rowState) bool { return v.size == "K" || v.size == "J" })
	return v.name, d.at(v.size)
}

// at is a position in a vector of a size, of the row.
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

// leaf is a number of the row.
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

// small is an expression between -1 and 1.
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
