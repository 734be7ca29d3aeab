package proggen

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// family is a kind of data or parameters whose names contain their sizes: yN is a vector[N], gNK an
// array[N] of ints in 1:K. A program declares only those that it mentions.
type family struct {
	prefix string
	sizes  int    // number of letters for sizes in the name
	text   string // declaration, in which R and C are replaced by the sizes
	arg    string // type as an argument of a function
	param  bool
	value  func(w *writer, r, c int) any // generates values for data
}

var families = []family{
	{prefix: "y", sizes: 1, text: "vector[R] ", arg: "vector", value: (*writer).reals},
	{prefix: "x", sizes: 1, text: "vector[R] ", arg: "vector", value: (*writer).reals},
	{prefix: "o", sizes: 1, text: "array[R] int ", arg: "array[] int", value: func(w *writer, r, _ int) any { return w.ints(r, 0, 1) }},
	{prefix: "c", sizes: 1, text: "array[R] int ", arg: "array[] int", value: func(w *writer, r, _ int) any { return w.ints(r, 0, 5) }},
	{prefix: "g", sizes: 2, text: "array[R] int ", arg: "array[] int", value: func(w *writer, r, c int) any { return w.ints(r, 1, max(c, 1)) }},
	{prefix: "l", sizes: 2, text: "array[R] int ", arg: "array[] int", value: (*writer).lengths},
	{prefix: "X", sizes: 2, text: "matrix[R, C] ", arg: "matrix", value: func(w *writer, r, c int) any {
		return rowsOf(r, func() any { return w.reals(c, 0) })
	}},
	{prefix: "O", sizes: 2, text: "array[R, C] int ", arg: "array[,] int", value: func(w *writer, r, c int) any {
		return rowsOf(r, func() any { return w.ints(c, 0, 1) })
	}},
	{prefix: "z", sizes: 1, text: "vector[R] ", arg: "vector", param: true},
	{prefix: "q", sizes: 1, text: "vector<lower=0>[R] ", arg: "vector", param: true},
	{prefix: "w", sizes: 1, text: "simplex[R] ", arg: "vector", param: true},
	{prefix: "Z", sizes: 2, text: "matrix[R, C] ", arg: "matrix", param: true},
	{prefix: "a", text: "real ", arg: "real", param: true},
	{prefix: "b", text: "vector[3] ", arg: "vector", param: true},
	{prefix: "sg", text: "real<lower=0> ", arg: "real", param: true},
	{prefix: "ph", text: "real<lower=-1, upper=1> ", arg: "real", param: true},
	{prefix: "pr", text: "real<lower=0, upper=1> ", arg: "real", param: true},
	{prefix: "N", text: "int ", arg: "int"},
	{prefix: "T", text: "int ", arg: "int"},
	{prefix: "J", text: "int ", arg: "int"},
	{prefix: "K", text: "int ", arg: "int"},
}

func rowsOf(r int, row func() any) any {
	out := make([]any, r)
	for i := range out {
		out[i] = row()
	}
	return out
}

// programSizes lists the sizes to draw from. It repeats small ones, which are more frequent.
var programSizes = []int{0, 0, 1, 1, 2, 2, 2, 3, 3, 3, 3, 5, 5, 5, 5, 5, 8, 8, 8, 8, 8, 17, 17, 17, 17, 40, 40, 100, 300}

// reals returns n numbers: arbitrary, all equal, sorted, or all 0 except one.
func (w *writer) reals(n, _ int) any {
	out := make([]float64, n)
	kind := w.rng.IntN(8)
	level := float64(w.between(-15, 15)) / 10
	for i := range out {
		switch kind {
		case 0:
			out[i] = 0
		case 1:
			out[i] = 1
		case 2:
			out[i] = level
		default:
			out[i] = float64(w.between(-200, 200)) / 100
		}
	}
	switch {
	case kind == 3:
		slices.Sort(out)
	case kind == 0 && n > 0 && w.chance(0.5):
		out[w.rng.IntN(n)] = level
	}
	return out
}

// ints returns n numbers in lo..hi: arbitrary, all lo, all hi, all lo except one, sorted, in
// blocks, cyclic, or with few or many equal to lo.
func (w *writer) ints(n, lo, hi int) any {
	out := make([]int, n)
	kind := w.rng.IntN(10)
	single, level := 0, w.between(lo, hi)
	if n > 0 {
		single = w.rng.IntN(n)
	}
	for i := range out {
		switch kind {
		case 0:
			out[i] = lo
		case 1:
			out[i] = min(lo+1, hi)
		case 2:
			out[i] = lo
			if i == single {
				out[i] = hi
			}
		case 3:
			out[i] = lo + (i % (hi - lo + 1))
		case 4: // blocks of equal numbers
			if i%max(n/3, 1) == 0 {
				level = w.between(lo, hi)
			}
			out[i] = level
		case 5:
			out[i] = hi
			if w.chance(0.2) {
				out[i] = lo
			}
		case 6:
			out[i] = lo
			if w.chance(0.3) {
				out[i] = w.between(lo, hi)
			}
		default:
			out[i] = w.between(lo, hi)
		}
	}
	if kind == 7 {
		slices.Sort(out)
	}
	return out
}

// lengths returns r numbers, some 0, whose sum is at most n.
func (w *writer) lengths(r, n int) any {
	out := make([]int, r)
	left := n
	each := n / max(r, 1)
	same := w.chance(0.2)
	for i := range out {
		l := w.between(0, 2*each+1)
		if same {
			l = each
		}
		out[i] = min(l, left)
		left -= out[i]
	}
	return out
}

var word = regexp.MustCompile(`[A-Za-z][A-Za-z0-9]*`)

// familyOf finds the family of a name and its sizes.
func familyOf(name string) (f *family, r, c string) {
	for i := range families {
		f := &families[i]
		rest, ok := strings.CutPrefix(name, f.prefix)
		if !ok || len(rest) != f.sizes || strings.Trim(rest, "NTJK") != "" {
			continue
		}
		switch f.sizes {
		case 1:
			return f, rest, ""
		case 2:
			return f, rest[:1], rest[1:]
		}
		return f, "", ""
	}
	return nil, "", ""
}

// mentioned returns the names of data and parameters that occur in a text: sizes first, then in the
// order of the table.
func mentioned(text string) []string {
	seen := map[string]bool{}
	for _, name := range word.FindAllString(text, -1) {
		if f, r, c := familyOf(name); f != nil {
			seen[name] = true
			for _, s := range []string{r, c} {
				if s != "" {
					seen[s] = true
				}
			}
		}
	}
	var out []string
	for name := range seen {
		out = append(out, name)
	}
	rank := func(name string) string {
		f, _, _ := familyOf(name)
		for i := range families {
			if &families[i] == f {
				if f.arg == "int" {
					i = -1
				}
				return fmt.Sprintf("%03d%s", i+1, name)
			}
		}
		return name
	}
	slices.SortFunc(out, func(a, b string) int { return strings.Compare(rank(a), rank(b)) })
	return out
}

// declareFamily returns the declaration of a variable of a family, given its name.
func declareFamily(name string) string {
	f, r, c := familyOf(name)
	head, sizes, _ := strings.Cut(f.text, "[")
	if sizes != "" {
		sizes = "[" + strings.NewReplacer("R", r, "C", c).Replace(sizes)
	}
	return head + sizes + name + ";"
}
