package report

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/ppl-lang/ppl/assess"
	"github.com/ppl-lang/ppl/infer/diagnose"
)

// indicesOf returns the indices of an element, as 1 and 2 of Omega[1,2].
func indicesOf(name string) (out []int) {
	_, inner, ok := strings.Cut(strings.TrimSuffix(name, "]"), "[")
	if !ok {
		return nil
	}
	for text := range strings.SplitSeq(inner, ",") {
		n, err := strconv.Atoi(text)
		if err != nil {
			return nil
		}
		out = append(out, n)
	}
	return out
}

// simplicesOfTwo returns the simplices whose second element says the same as the first.
func (w *work) simplicesOfTwo() map[string]bool {
	size := map[string]int{}
	for _, name := range w.names {
		if at := indicesOf(name); len(at) > 0 {
			size[variableOf(name)] = max(size[variableOf(name)], at[len(at)-1])
		}
	}
	out := map[string]bool{}
	for v := range w.roles.Simplices {
		out[v] = size[v] == 2
	}
	return out
}

// mirrored reports whether another element says the same: below the diagonal of a symmetric matrix
// the one above it, and of a simplex of two the first.
func (w *work) mirrored(name string) bool {
	at := indicesOf(name)
	if w.pairs[variableOf(name)] {
		return len(at) > 0 && at[len(at)-1] == 2
	}
	if !w.roles.Symmetric[variableOf(name)] {
		return false
	}
	return len(at) >= 2 && at[len(at)-2] > at[len(at)-1]
}

// correlation is an element of a correlation matrix of group-level terms.
type correlation struct {
	name  string // of the quantity, or that of the factor with the indices
	made  bool   // computed from the factor
	i, j  int
	of    string
	draws []float64
}

// correlated lists the correlations of the model's Cholesky factors: elements of the variable that
// is the matrix, or products of the factor's rows.
func (w *work) correlationsOf(factor string) (out []correlation) {
	c := w.roles.Correlations[factor]
	place := map[string]int{}
	size := 0
	for i, name := range w.names {
		place[name] = i
		if at := indicesOf(name); variableOf(name) == factor {
			if len(at) != 2 {
				return nil // an array of matrices
			}
			size = max(size, at[0])
		}
	}
	element := func(v string, i, j int) (int, bool) {
		at, ok := place[fmt.Sprintf("%s[%d,%d]", v, i, j)]
		return at, ok
	}
	for i := 1; i <= size; i++ {
		for j := i + 1; j <= size; j++ {
			next := correlation{i: i, j: j, of: c.Of}
			if at, ok := element(c.Matrix, i, j); ok {
				next.name, next.draws = w.names[at], w.drawsOf(at)
				out = append(out, next)
				continue
			}
			next.made, next.name = true, fmt.Sprintf("%s %s'[%d,%d]", factor, factor, i, j)
			for k := 1; k <= i; k++ {
				a, okA := element(factor, i, k)
				b, okB := element(factor, j, k)
				if !okA || !okB {
					return nil
				}
				x, y := w.drawsOf(a), w.drawsOf(b)
				if next.draws == nil {
					next.draws = make([]float64, len(x))
				}
				for d := range x {
					next.draws[d] += x[d] * y[d]
				}
			}
			out = append(out, next)
		}
	}
	return out
}

// correlations shows the correlation matrices that the model has only as Cholesky factors.
func (w *work) correlations() (out []Figure) {
	for _, factor := range slices.Sorted(maps.Keys(w.roles.Correlations)) {
		list := slices.DeleteFunc(w.correlationsOf(factor), func(c correlation) bool { return !c.made || w.quantityOf(c.draws) })
		if len(list) == 0 || len(list) > listed {
			continue
		}
		f := Figure{Kind: "intervals", Of: []string{"correlations" + w.byOf(w.roles.Correlations[factor].Of)}, X: Axis{Label: "correlation"}}
		outer := Layer{Mark: Range, Role: First, Label: "90 %"}
		inner := Layer{Mark: Range, Role: Inner, Label: "50 %"}
		median := Layer{Mark: Points, Role: Inner, Label: "median"}
		f.Y.Names = make([]string, len(list))
		for k, c := range list {
			at := len(list) - 1 - k
			f.Y.Names[at] = c.name
			if a, b := w.termOf(c.of, c.i), w.termOf(c.of, c.j); a != "" && b != "" {
				f.Y.Names[at] = a + ", " + b
			}
			q := diagnose.Quantiles(c.draws, 0.05, 0.25, 0.5, 0.75, 0.95)
			y := float64(at)
			outer.Y, outer.Low, outer.High = append(outer.Y, y), append(outer.Low, q[0]), append(outer.High, q[4])
			inner.Y, inner.Low, inner.High = append(inner.Y, y), append(inner.Low, q[1]), append(inner.High, q[3])
			median.X, median.Y = append(median.X, q[2]), append(median.Y, y)
		}
		f.Layers = []Layer{outer, inner, median}
		f.Alt = fmt.Sprintf("Intervals of the correlations that belong to the Cholesky factor %s.", factor)
		out = append(out, f)
	}
	return out
}

// quantityOf reports whether a quantity has these draws of a correlation.
func (w *work) quantityOf(draws []float64) bool {
	return slices.ContainsFunc(w.level[:min(1, len(w.level))], func(chain int) bool {
		for i, name := range w.names {
			if w.auxiliary(variableOf(name)) {
				continue
			}
			column := w.fit.Draws.Column(nil, chain, i)[:w.length]
			if slices.EqualFunc(column, draws[:len(column)], func(a, b float64) bool { return math.Abs(a-b) < sameCorrelation }) {
				return true
			}
		}
		return false
	})
}

// termOf returns the term that a column or a row of group-level terms multiplies, such as "effect
// of days"; "" if it is not known.
func (w *work) termOf(variable string, value int) string {
	m, err := w.fit.Model()
	if err != nil || variable == "" {
		return ""
	}
	for index := range 2 {
		switch term := assess.ColumnTerm(m, variable, index, value); term {
		case "":
		case "intercept":
			return term
		default:
			return "effect of " + term
		}
	}
	return ""
}

// byOf returns " by person" for group-level terms with levels of person; "" without levels.
func (w *work) byOf(variable string) string {
	m, err := w.fit.Model()
	if err != nil {
		return ""
	}
	for _, f := range w.fit.IndexFactors(m.Program().IR())[variable] {
		if f.Name != "" {
			return " by " + f.Name
		}
	}
	return ""
}
