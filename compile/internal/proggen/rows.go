package proggen

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"
	"unicode"
)

// Sizes lists the sizes that NewRows draws from: small ones, and numbers just below and above the
// thresholds of the compiler's passes. A test compares them with the constants in the files
// tuning.go.
var Sizes = []int{
	0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 15, 16, 17, 18, 19, 20, 23, 24, 25, 26, 27, 28, 29, 31, 32, 33,
	47, 48, 49, 50, 51, 63, 64, 65, 95, 96, 97, 99, 100, 101, 127, 128, 129, 199, 200, 201, 255, 256, 257,
	499, 500, 501, 511, 512, 513, 999, 1000, 1001, 1023, 1024, 1025,
}

// maxRowWork is the maximum number of statements that a program of NewRows executes.
const maxRowWork = 6000

// rowing is the state of NewRows while it makes one program.
type rowing struct {
	page
	size     map[string]int // the values of N, K, J and P
	sink     string         // variable that terms are added to
	sampling bool           // statements with ~ are allowed
	row      string         // index of the current row, an expression in 1..N; "": outside loops
	state    []rowState     // variables in scope that loops change
	locals   []string       // real variables declared in the current iteration
	ints     []string       // int variables declared in the current iteration, with values in 1..N
	helper   bool           // the program calls the function h
	cost     int            // number of executions of the statement being written
	work     int            // total number of executions of all statements so far
	used     map[string]bool
}

// rowState is a variable that loops over rows change and that later statements read.
type rowState struct {
	name string
	kind kind   // reals, ints, vectors
	size string // of a vector: N, K, J or 3
}

// NewRows makes the program of a seed from several loops over one set of rows. The loops share
// index arrays, which are constant, sorted, in blocks or random, and later loops read results of
// earlier ones. There are few statements and they are short, so that the compiler's passes on
// lanes, tables and scans apply. Program.Patterns lists the kinds of statements.
func NewRows(seed uint64) Program {
	d := &rowing{page: newPage(seed, 0xbb67ae8584caa73b), size: map[string]int{}, used: map[string]bool{}}
	// weight draws one of the sizes up to a limit, which is itself drawn from limits.
	weight := func(limits ...int) int {
		most := one(d, limits)
		n, _ := slices.BinarySearch(Sizes, most+1)
		return Sizes[d.below(n)]
	}
	d.size["N"] = weight(9, 33, 129, 129, 129, 129, 257, 257, 513, 1025)
	d.size["K"] = max(1, weight(3, 3, 5, 9, 17, 65, 129, 257))
	d.size["J"] = max(1, weight(2, 5, 9, 33))
	d.size["P"] = among(d, 1, 1, 2, 2, 3, 4, 5, 7, 8, 9)
	d.cost = 1
	var functions, transformed, model, generated []string
	for range among(d, 1, 1, 1, 2) {
		switch d.below(10) {
		case 0, 1:
			name := d.name("f")
			d.used["function"] = true
			body := d.part("lp", false)
			var formal, actual []string
			mentioned := words(body)
			for _, f := range rowFamilies {
				if mentioned[f.name] {
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
	return d.program(seed, functions, nil, transformed, model, generated)
}

// rowFamilies are the data and parameters of programs of NewRows, by name. A program declares those
// that it mentions.
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

// filled formats a text. Unlike Sprintf, it allows arguments that the text does not use.
func filled(text, first string, more ...any) string {
	return fmt.Sprintf(text+"%.0[1]s", append([]any{first}, more...)...)
}

// words returns the set of words in a text.
func words(lines []string) map[string]bool {
	found := map[string]bool{}
	for _, l := range lines {
		for _, w := range strings.FieldsFunc(l, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) && r != '_' }) {
			found[w] = true
		}
	}
	return found
}

// program makes the program from the lines of its blocks. It adds the data and parameters blocks.
func (d *rowing) program(seed uint64, functions, known, transformed, model, generated []string) Program {
	mentioned := words(slices.Concat(known, transformed, model, generated, []string{"a"}))
	// A variable comes after its sizes in the table, so the way back finds sizes that it mentions.
	for _, f := range slices.Backward(rowFamilies) {
		if mentioned[f.name] {
			for w := range words([]string{f.text}) {
				mentioned[w] = true
			}
		}
	}
	var data, params []string
	values := map[string]any{}
	for _, f := range rowFamilies {
		switch {
		case !mentioned[f.name]:
		case f.param:
			params = append(params, "  "+f.text+";")
		default:
			data = append(data, "  "+f.text+";")
			values[f.name] = f.value(d)
		}
	}
	divided(values)
	d.lines = nil
	for _, b := range []struct {
		head  string
		lines []string
	}{{"functions", functions}, {"data", data}, {"transformed data", known}, {"parameters", params}, {"transformed parameters", transformed}, {"model", model}, {"generated quantities", generated}} {
		if len(b.lines) > 0 {
			d.line("%s {", b.head)
			d.lines = append(d.lines, b.lines...)
			d.line("}")
		}
	}
	b, err := json.Marshal(values)
	if err != nil {
		panic(err) // cannot fail: values are numbers
	}
	var kinds []string
	for k := range d.used {
		kinds = append(kinds, k)
	}
	slices.Sort(kinds)
	return Program{Seed: seed, Text: d.text(), Data: string(b), Patterns: kinds}
}

// ---- values ----

// divided makes the arrays from and len consistent: they divide the rows among groups.
func divided(values map[string]any) {
	if from, ok := values["from"].([]int); ok && values["len"] != nil {
		at := 1
		for i, l := range values["len"].([]int) {
			from[i], at = at, at+l
		}
	}
}

// whole returns N ints in a range: constant, sorted, in blocks, cyclic, all but one equal, or
// random.
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

// lengths returns the number of rows of each group. The rows that remain belong to no group.
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

// reals returns n numbers: constant, sorted, in blocks, all 0 except one, or random.
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
