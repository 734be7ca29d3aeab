package report

import (
	"fmt"
	"slices"
	"strings"

	"github.com/ppl-lang/ppl/infer/diagnose"
)

// The limits of plots of intervals.
const (
	maxVariables = 40
	listed       = 40 // maximum number of elements shown by name
	maxRibbon    = 2000
)

// variableOf returns the name of the variable that contains a quantity.
func variableOf(name string) string {
	base, _, _ := strings.Cut(name, "[")
	return base
}

// intervals shows each variable with several elements; scalars share a plot.
func intervals(w *work) []Figure {
	var order []string
	members := map[string][]int{}
	for i, name := range w.names {
		v := variableOf(name)
		if v == name {
			v = ""
		}
		if members[v] == nil {
			order = append(order, v)
		}
		members[v] = append(members[v], i)
	}
	var out []Figure
	for _, v := range order {
		if len(out) == maxVariables {
			w.note("Intervals are shown of %d of %d variables.", maxVariables, len(order))
			break
		}
		f := w.list(members[v])
		if len(members[v]) > listed {
			f = w.ribbon(v, members[v])
		}
		f.Kind, f.Of = "intervals", []string{v}
		if v == "" {
			f.Of = []string{"scalars"}
		}
		if !f.Empty() {
			out = append(out, f)
		}
	}
	return out
}

// list shows elements by name, with the first on top.
func (w *work) list(members []int) Figure {
	f := Figure{X: Axis{Label: "value"}, Y: Axis{}}
	outer := Layer{Mark: Range, Role: First, Label: "90 %"}
	inner := Layer{Mark: Range, Role: Inner, Label: "50 %"}
	median := Layer{Mark: Points, Role: Inner, Label: "median"}
	n := len(members)
	f.Y.Names = make([]string, n)
	named := w.report.Summary.Label
	if named != nil && slices.ContainsFunc(members, func(i int) bool { return named[i] == "" }) {
		named = nil // use numbers for all elements if some have no names
	}
	var draws []float64
	for k, i := range members {
		at := float64(n - 1 - k)
		f.Y.Names[n-1-k] = w.names[i]
		if named != nil {
			f.Y.Names[n-1-k] = named[i]
		}
		r := w.rows[i]
		draws = draws[:0]
		for _, chain := range w.level {
			draws = append(draws, w.fit.Draws.Column(nil, chain, i)[:w.length]...)
		}
		outer.Y, outer.Low, outer.High = append(outer.Y, at), append(outer.Low, r.Q5), append(outer.High, r.Q95)
		inner.Y = append(inner.Y, at)
		inner.Low = append(inner.Low, diagnose.Quantile(draws, 0.25))
		inner.High = append(inner.High, diagnose.Quantile(draws, 0.75))
		median.X, median.Y = append(median.X, r.Q50), append(median.Y, at)
	}
	f.Layers = []Layer{outer, inner, median}
	f.Alt = fmt.Sprintf("Intervals of %s.", w.names[members[0]])
	if n > 1 {
		f.Alt = fmt.Sprintf("Intervals of %s to %s.", w.names[members[0]], w.names[members[n-1]])
	}
	return f
}

// ribbon shows many elements by their index.
func (w *work) ribbon(name string, members []int) Figure {
	f := Figure{X: Axis{Label: "element of " + name}, Y: Axis{Label: name}}
	if name == "" {
		f.X.Label, f.Y.Label = "scalar", "value"
	}
	outer := Layer{Mark: Band, Role: First, Label: "90 %"}
	median := Layer{Mark: Line, Role: First, Label: "median"}
	step := (len(members) + maxRibbon - 1) / maxRibbon
	for k := 0; k < len(members); k += step {
		r := w.rows[members[k]]
		x := float64(k + 1)
		outer.X, outer.Low, outer.High = append(outer.X, x), append(outer.Low, r.Q5), append(outer.High, r.Q95)
		median.X, median.Y = append(median.X, x), append(median.Y, r.Q50)
	}
	f.Layers = []Layer{outer, median}
	f.Alt = fmt.Sprintf("Median and 90 %% interval of the %d elements of %s.", len(members), name)
	if step > 1 {
		f.Note = fmt.Sprintf("Every %s of %d elements is shown.", ordinal(step), len(members))
	}
	return f
}
