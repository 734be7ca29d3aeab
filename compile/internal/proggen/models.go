package proggen

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"regexp"
	"strings"
)

// maxModelWork bounds the number of statements that a program of NewModel executes.
const maxModelWork = 1500

// NewModel makes the program of a seed from the templates of all tables, nested and combined at
// random.
func NewModel(seed uint64) Program { return newModel(seed, nil) }

// Thresholds are sizes just below and above the thresholds of the compiler's passes.
var Thresholds = []int{63, 64, 65, 127, 128, 129, 255, 256, 257, 499, 500, 501, 511, 512, 513, 999, 1000, 1001}

// NewLarge makes the program of a seed, as NewModel or NewStatements do, with one of its sizes from
// Thresholds.
func NewLarge(seed uint64) Program {
	// NewStatements takes ten times as long for so many rows, so it is used for one seed in eight.
	if seed%8 > 0 {
		return newModel(seed, Thresholds)
	}
	return newStatements(seed, Thresholds)
}

// newModel is NewModel with one of its sizes drawn from sizes; nil: small ones.
func newModel(seed uint64, sizes []int) Program {
	w := newWriter(seed)
	w.limit = pickOne(w, maxModelWork/5, maxModelWork, maxModelWork, 4*maxModelWork)
	w.drawSizes()
	if sizes != nil {
		n := sizes[w.rng.IntN(len(sizes))]
		// Only one size is large: the interpreter takes minutes if a matrix is large in both
		// dimensions.
		w.sizes[sizeNames[w.rng.IntN(len(sizeNames))]], w.limit = n, 4*n
	}
	var model, transformed, generated, known []string
	for range pickOne(w, 1, 1, 1, 2, 3) {
		switch k := w.rng.IntN(20); {
		case k < 10: // in the model block
			model = append(model, w.region("target", false, false)...)
		case k < 14:
			name := w.fresh("f")
			call := w.function(name, "lp")
			model = append(model, pickOne(w, "target += "+call+";", "target += 0.5 * "+call+";"))
		case k < 16:
			name := w.fresh("f") + "_lp"
			model = append(model, w.function(name, "target")+";")
		case k < 18:
			name := w.fresh("tp")
			transformed = append(transformed, "real "+name+" = 0;")
			transformed = append(transformed, w.region(name, false, false)...)
			model = append(model, "target += "+name+";")
		case k < 19:
			name := w.fresh("gq")
			generated = append(generated, "real "+name+" = 0;")
			generated = append(generated, w.region(name, false, false)...)
		default:
			name := w.fresh("td")
			known = append(known, "real "+name+" = 0;")
			known = append(known, w.region(name, true, false)...)
			model = append(model, "target += a * "+name+";")
		}
	}
	return w.program(seed, [][]string{known, transformed, model, generated})
}

// NewFunctions makes a program that evaluates count random functions at once, for comparison with
// real Stan. Its transformed parameter f contains their values, each multiplied by an element of
// the data array on. The log density is the sum of f, so one gradient is the sum of the gradients
// of all functions.
func NewFunctions(seed uint64, count int) Program {
	w := newWriter(seed)
	w.only, w.rejects = true, false
	for _, s := range sizeNames {
		w.sizes[s] = pickOne(w, 1, 2, 3, 5, 8, 17)
	}
	transformed := []string{fmt.Sprintf("vector[%d] f = rep_vector(0, %d);", count, count)}
	for i := range count {
		w.limit, w.work, w.patterns = maxModelWork/2, 0, nil
		w.busy = w.chance(0.4)
		name := fmt.Sprint("fn", i+1)
		transformed = append(transformed, fmt.Sprintf("if (on[%d] != 0) f[%d] = on[%d] * %s;", i+1, i+1, i+1, w.function(name, "lp")))
	}
	p := w.program(seed, [][]string{nil, transformed, {"target += sum(f);"}, nil})
	// The gradients of these distributions in real Stan are wrong by 1e-6.
	p.Text = approximate.ReplaceAllString(p.Text, "logistic_$1(")
	p.Text = strings.Replace(p.Text, "data {\n", fmt.Sprintf("data {\n  array[%d] real on;\n", count), 1)
	return p
}

// OtherData returns data with other sizes and values for a program of NewFunctions, determined by
// the seed, without the array on.
func OtherData(p Program, seed uint64) string {
	w := newWriter(seed)
	for _, s := range sizeNames {
		w.sizes[s] = pickOne(w, 1, 2, 3, 4, 5, 8, 17, 24)
	}
	return w.values(p, seed)
}

// values generates values for the data of a program, with w's sizes, determined by the seed.
func (w *writer) values(p Program, seed uint64) string {
	values := map[string]any{}
	for _, name := range mentioned(p.Text) {
		switch f, r, c := familyOf(name); {
		case f.param:
		case f.arg == "int":
			values[name] = w.sizes[name]
		default:
			// A separate generator for each variable, so that its values do not depend on the sizes
			// of others.
			w.rng = rand.New(rand.NewPCG(seed, uint64(len(values))))
			values[name] = f.value(w, w.sizes[r], w.sizes[c])
		}
	}
	b, err := json.Marshal(values)
	if err != nil {
		panic(err) // cannot fail: values are numbers
	}
	return string(b)
}

var approximate = regexp.MustCompile(`\bnormal_(lcdf|lccdf)\(`)

var sizeNames = []string{"N", "T", "J", "K"}

func newWriter(seed uint64) *writer {
	w := &writer{rng: rand.New(rand.NewPCG(seed, 0x9e3779b97f4a7c15)), sizes: map[string]int{"N": 5, "T": 5, "J": 5, "K": 5}, used: map[string]int{}, cost: 1}
	w.busy, w.rejects = w.chance(0.35), w.chance(0.15)
	return w
}

func (w *writer) drawSizes() {
	for _, s := range sizeNames {
		w.sizes[s] = programSizes[w.rng.IntN(len(programSizes))]
	}
}

// region writes a group of templates whose terms are added to sink. known means that there are no
// parameters yet, inner that it is the body of a function.
func (w *writer) region(sink string, known, inner bool) []string {
	outer := *w
	w.lines, w.scope, w.blocks, w.cost = nil, nil, nil, 1
	w.sink, w.data, w.inner = sink, known, inner
	if !inner {
		w.put("{")
	}
	for range pickOne(w, 1, 1, 1, 2) {
		w.pattern(false)
	}
	if !inner {
		w.put("}")
	}
	lines := w.lines
	outer.funcs, outer.names, outer.work, outer.patterns = w.funcs, w.names, w.work, w.patterns
	*w = outer
	return lines
}

// function writes a function that computes a sum of terms, or adds them to the target, and returns
// a call of it.
func (w *writer) function(name, sink string) string {
	body := w.region(sink, false, true)
	var args, params []string
	for _, m := range mentioned(strings.Join(body, "\n")) {
		f, _, _ := familyOf(m)
		args = append(args, m)
		params = append(params, f.arg+" "+m)
	}
	result := "real"
	if sink == "target" {
		result = "void"
	}
	lines := []string{fmt.Sprintf("%s %s(%s) {", result, name, strings.Join(params, ", "))}
	if sink != "target" {
		lines = append(lines, "  real lp = 0;")
	}
	for _, l := range body {
		lines = append(lines, "  "+l)
	}
	if sink != "target" {
		lines = append(lines, "  return lp;")
	}
	w.funcs = append(w.funcs, append(lines, "}")...)
	return name + "(" + strings.Join(args, ", ") + ")"
}

// program combines the blocks transformed data, transformed parameters, model and generated
// quantities, and declares the variables that they mention.
func (w *writer) program(seed uint64, blocks [][]string) Program {
	var all []string
	for _, b := range blocks {
		all = append(all, b...)
	}
	var data, params []string
	values := map[string]any{}
	names := mentioned(strings.Join(append(all, " a"), "\n"))
	for _, name := range names {
		f, r, c := familyOf(name)
		if f.param {
			params = append(params, declareFamily(name))
			if f.prefix == "w" && w.sizes[r] == 0 {
				w.sizes[r] = 1 // a simplex cannot be empty
			}
			continue
		}
		data = append(data, declareFamily(name))
		_ = c
	}
	for _, name := range names {
		switch f, r, c := familyOf(name); {
		case f.param:
		case f.arg == "int":
			values[name] = w.sizes[name]
		default:
			values[name] = f.value(w, w.sizes[r], w.sizes[c])
		}
	}
	var text strings.Builder
	write := func(head string, lines []string) {
		if len(lines) == 0 {
			return
		}
		text.WriteString(head + " {\n")
		for _, l := range lines {
			text.WriteString("  " + l + "\n")
		}
		text.WriteString("}\n")
	}
	write("functions", w.funcs)
	write("data", data)
	write("transformed data", blocks[0])
	write("parameters", params)
	write("transformed parameters", blocks[1])
	write("model", blocks[2])
	write("generated quantities", blocks[3])
	b, err := json.Marshal(values)
	if err != nil {
		panic(err) // cannot fail: values are numbers
	}
	return Program{Seed: seed, Text: text.String(), Data: string(b), Patterns: w.patterns}
}
