package formula

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/ppl-lang/ppl/compile/data"
)

// block has the columns of the design matrix for a term.
type block struct {
	name    string      // name in the names of coefficients
	labels  []string    // names of the columns, as in R
	cols    [][]float64 // values of the columns in the rows of the table
	vector  string      // name of the column in the program, if there is only one
	matrix  string      // name of the columns in the program, if there are several
	divisor float64     // product of the numbers by which its variables were divided
	scale   float64     // standard deviation of the numeric part; 1 without one
	of      string      // what the coefficients belong to, for comments; "": levels
	whole   bool        // a column for each level of a factor
}

// column returns the expression for a column in the program.
func (b *block) column(i int) string {
	if b.matrix == "" {
		return b.vector
	}
	return fmt.Sprintf("%s[, %d]", b.matrix, i+1)
}

// contrast reports whether a factor in a term has one column less than levels. That is so if the
// model has the term without the factor, because the other columns then imply the missing one. As
// in R, the first factor of a model without intercept has all columns.
func (w *writer) contrast(of *terms, t term, v int) bool {
	rest := t.without(v)
	if len(rest) > 0 {
		return of.has(rest)
	}
	if of.intercept {
		return true
	}
	for _, u := range of.list {
		for _, x := range u {
			if w.vars[x].factor != nil {
				return x != v || !u.equal(t)
			}
		}
	}
	return true
}

// centred reports whether a numeric variable may be centred without changing the set of models.
// That is so if each term with the variable also occurs without it.
func (w *writer) centred(of *terms, v int) bool {
	for _, t := range of.list {
		if slices.Contains(t, v) && !of.has(t.without(v)) {
			return false
		}
	}
	return true
}

// centre returns the number to subtract from values: their mean, rounded to a tenth of the
// magnitude of the standard deviation. It is 0 for columns of 0 and 1, and if the mean is close to
// 0.
func centre(values []float64) float64 {
	mean, sd := moments(values)
	if !slices.ContainsFunc(values, func(x float64) bool { return x != 0 && x != 1 }) || math.Abs(mean) < sd/20 {
		return 0
	}
	unit := math.Pow(10, math.Floor(math.Log10(sd))-1)
	return parsed(short(math.Round(mean/unit) * unit))
}

// centres returns the numbers that are subtracted from the numeric variables of a set of terms.
func (w *writer) centres(of *terms) map[string]float64 {
	out := map[string]float64{}
	for _, t := range of.list {
		for _, i := range t {
			if v := w.vars[i]; v.factor == nil && w.centred(of, i) {
				out[v.key] = centre(v.values)
			}
		}
	}
	return out
}

// divisor returns the number by which a numeric variable is divided: its standard deviation,
// rounded, if it is to be standardised, else 1.
func (w *writer) divisor(v *variable) float64 {
	c := v.arith.column
	if c == nil || !slices.Contains(w.divided, c.name) && !slices.Contains(w.divided, "all") {
		return 1
	}
	_, sd := moments(v.values)
	if !(sd > 0) || !slices.ContainsFunc(v.values, func(x float64) bool { return x != 0 && x != 1 }) {
		return 1
	}
	return parsed(digits(sd, 3))
}

// checkDivided returns an error if a column cannot be standardised. It sets Scales.
func (w *writer) checkDivided() *Error {
	w.Scales = map[string]float64{}
	for _, v := range w.vars {
		if v.factor == nil {
			if d := w.divisor(v); d != 1 {
				w.Scales[v.key] = d
			}
		}
	}
	for _, name := range w.divided {
		var e *Error
		switch c := w.table.columns[name]; {
		case name == "all":
		case c == nil:
			e = errorf(place{}, "", "%s has no column %s to standardise", w.table.set.File(), name)
			e.Fix = "name a column of the formula"
		case c.levels != nil:
			e = errorf(place{}, "leave it out: factors have their own contrasts", "%s is a column of texts and cannot be standardised", name)
		case !slices.ContainsFunc(w.vars, func(v *variable) bool { return v.factor == nil && v.arith.column == c }):
			e = errorf(place{}, "name a column that is a term of the formula", "%s is no numeric term of the formula, so it cannot be standardised", name)
		}
		if e != nil {
			return e
		}
	}
	return nil
}

// parsed parses a number as the program will.
func parsed(text string) float64 {
	var x float64
	fmt.Sscan(text, &x)
	return x
}

// numbers returns the expression for a numeric variable in the program, centred or not, and its
// values. They are divided by d, which is 1 unless the variable is to be standardised.
func (w *writer) numbers(v *variable, centred bool, d float64) (text string, values []float64) {
	c := 0.0
	if centred {
		c = centre(v.values)
	}
	values = slices.Clone(v.values)
	for i := range values {
		values[i] = (values[i] - c) / d
	}
	if c == 0 && d == 1 && v.arith.column != nil && !v.arith.column.asInt {
		return v.arith.column.name, values
	}
	key := fmt.Sprint(v.key, c != 0, d != 1)
	if w.vectors[key] == "" {
		name, init := v.name, v.arith.text()
		if c != 0 {
			name += "_c"
			if v.arith.strength() < 1 {
				init = "(" + init + ")"
			}
			if c > 0 {
				init += " - " + short(c)
			} else {
				init += " + " + short(-c)
			}
		}
		if d != 1 {
			if name = v.name + "_s"; c != 0 || v.arith.strength() < 2 {
				init = "(" + init + ")"
			}
			init += " / " + decimal(short(d))
		}
		w.vectors[key] = w.fresh(name)
		w.td("vector[@N] %s = %s;", w.vectors[key], init)
	}
	return w.vectors[key], values
}

// level returns the part of a name for a level of a factor.
func level(label string) string {
	if name := data.ColumnName("x" + label); len(name) > 1 {
		return name[1:]
	}
	return "level"
}

// indicators returns the columns of a factor: 1 in rows with a level, 0 in others.
func (w *writer) indicators(v *variable, contrast bool) *block {
	key := fmt.Sprint(v.key, "|", contrast)
	if b := w.factors[key]; b != nil {
		return b
	}
	first := 0
	if contrast {
		first = 1
	}
	b := &block{name: v.name, scale: 1, divisor: 1, whole: !contrast}
	for k := first; k < len(v.labels); k++ {
		col := make([]float64, len(v.codes))
		for i, c := range v.codes {
			if int(c) == k+1 {
				col[i] = 1
			}
		}
		b.cols, b.labels = append(b.cols, col), append(b.labels, v.key+v.labels[k])
	}
	code := func(k int) string {
		if v.factor.levels == nil {
			return v.labels[k]
		}
		return fmt.Sprint(k + 1)
	}
	c := v.factor.name
	if len(b.cols) == 1 {
		b.name += "_" + level(v.labels[1])
		b.vector = w.fresh(b.name)
		w.td("vector[@N] %s; // 1 for %s, 0 for %s", b.vector, plain(v.labels[1]), plain(v.labels[0]))
		w.td("for (@n in 1:@N) {\n%s[@n] = %s[@n] == %s;\n}", b.vector, c, code(1))
	} else {
		suffix, what := "_x", listed(plains(v.labels[first:]))+" against "+plain(v.labels[0])
		if !contrast {
			suffix, what = "_all", listed(plains(v.labels))
		}
		b.matrix = w.fresh(v.name + suffix)
		w.td("matrix[@N, %d] %s; // columns: %s", len(b.cols), b.matrix, what)
		if v.factor.levels == nil {
			var lines []string
			for k := range b.cols {
				lines = append(lines, fmt.Sprintf("%s[@n, %d] = %s[@n] == %s;", b.matrix, k+1, c, code(first+k)))
			}
			w.td("for (@n in 1:@N) {\n%s\n}", strings.Join(lines, "\n"))
		} else {
			plus := map[int]string{0: "@k", 1: "@k + 1"}[first]
			w.td("for (@n in 1:@N) {\nfor (@k in 1:%d) {\n%s[@n, @k] = %s[@n] == %s;\n}\n}", len(b.cols), b.matrix, c, plus)
		}
	}
	w.factors[key] = b
	return b
}

func plains(labels []string) (out []string) {
	for _, l := range labels {
		out = append(out, plain(l))
	}
	return out
}

// block returns the columns of a term in a set of terms.
func (w *writer) block(of *terms, t term) *block {
	var out *block
	for _, i := range t {
		v := w.vars[i]
		var b *block
		if v.factor != nil {
			b = w.indicators(v, w.contrast(of, t, i))
		} else {
			text, values := w.numbers(v, w.centred(of, i), w.divisor(v))
			_, sd := moments(values)
			b = &block{name: v.name, labels: []string{v.key}, cols: [][]float64{values}, vector: text, scale: sd, of: v.key, divisor: w.divisor(v)}
		}
		if out == nil {
			out = b
		} else {
			out = w.product(out, b)
		}
	}
	return out
}

// product returns the columns of an interaction: each of a times each of b, a's running faster.
func (w *writer) product(a, b *block) *block {
	out := &block{name: a.name + "_" + b.name, scale: 1, divisor: a.divisor * b.divisor}
	for j, y := range b.cols {
		for i, x := range a.cols {
			col := make([]float64, len(x))
			for n := range col {
				col[n] = x[n] * y[n]
			}
			out.cols, out.labels = append(out.cols, col), append(out.labels, a.labels[i]+":"+b.labels[j])
		}
	}
	switch {
	case a.of != "" && b.of != "":
		out.of = a.of + ":" + b.of
		_, out.scale = moments(out.cols[0])
	case a.of != "":
		out.of, out.scale = a.of, a.scale
	case b.of != "":
		out.of, out.scale = b.of, b.scale
	}
	if a.matrix == "" && b.matrix == "" {
		out.vector = a.vector + " .* " + b.vector
		return out
	}
	key := "|" + text(a) + "|" + text(b)
	if out.matrix = w.vectors[key]; out.matrix != "" {
		return out
	}
	out.matrix = w.fresh(out.name)
	w.vectors[key] = out.matrix
	size := fmt.Sprintf("matrix[@N, %d] %s", len(out.cols), out.matrix)
	switch {
	case a.matrix == "":
		w.td("%s = diag_pre_multiply(%s, %s);", size, a.vector, b.matrix)
	case b.matrix == "":
		w.td("%s = diag_pre_multiply(%s, %s);", size, b.vector, a.matrix)
	default:
		w.td("%s; // each column of %s times each of %s", size, a.matrix, b.matrix)
		w.td("for (@j in 1:%d) {\nfor (@i in 1:%d) {\n%s[, (@j - 1) * %d + @i] = %s[, @i] .* %s[, @j];\n}\n}",
			len(b.cols), len(a.cols), out.matrix, len(a.cols), a.matrix, b.matrix)
	}
	return out
}

func text(b *block) string { return b.vector + b.matrix }
