package report

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/ppl-lang/ppl/assess"
	"github.com/ppl-lang/ppl/infer/diagnose"
	"github.com/ppl-lang/ppl/internal/sorting"
)

// The limits of plots of intervals.
const (
	maxVariables = 40
	listed       = 40 // maximum number of elements shown by name
	maxWhiskers  = 2000
	ownScale     = 12 // maximum range of a plot of scalars, in widths of its narrowest interval
)

// variableOf returns the name of the variable that contains a quantity.
func variableOf(name string) string {
	base, _, _ := strings.Cut(name, "[")
	return base
}

// auxiliary reports whether a variable only serves to make others, by its place in the model or by
// its name: z_…, …_raw, …_tilde, log_lik.
func (w *work) auxiliary(variable string) bool {
	return w.roles.Auxiliary[variable] || variable == "log_lik" || strings.HasPrefix(variable, "z_") || strings.HasSuffix(variable, "_raw") || strings.HasSuffix(variable, "_tilde")
}

// aside reports which quantities are shown after the others: constants and auxiliary variables. It
// is nil if all or none are.
func (w *work) aside() []bool {
	out := make([]bool, len(w.names))
	n := 0
	for i, name := range w.names {
		if out[i] = w.rows[i].SD == 0 || w.roles.Missing[variableOf(name)] || w.auxiliary(variableOf(name)) || w.mirrored(name); out[i] {
			n++
		}
	}
	if n == 0 || n == len(w.names) {
		return nil
	}
	return out
}

// levels names the elements of variables that a factor of the data chooses, as those of alpha in
// alpha[arm].
func (w *work) levels() {
	s := &w.report.Summary
	s.Label = slices.Clone(s.Label)
	if s.Label != nil {
		s.Grouped = make([]bool, len(w.names))
		for i, l := range s.Label {
			s.Grouped[i] = l != "" && w.rank(variableOf(w.names[i])) > 0
		}
	}
	values, err := w.fit.Data()
	if err != nil || values == nil {
		return
	}
	elements := map[string]int{}
	for _, name := range w.names {
		elements[variableOf(name)]++
	}
	for i, name := range w.names {
		by := w.roles.Levels[variableOf(name)]
		at := indicesOf(name)
		levels, first := values.Factor(by)
		if first != 1 || by == "" || len(at) != 1 || len(levels) != elements[variableOf(name)] || at[0] > len(levels) {
			continue
		}
		if s.Label == nil {
			s.Label = make([]string, len(w.names))
		}
		if s.Label[i] == "" {
			s.Label[i] = levels[at[0]-1]
		}
	}
}

// panel is a set of quantities with one plot of intervals.
type panel struct {
	title   string
	of      string // what the quantities are about; "": not known
	members []int
}

// rank orders variables: population quantities, then group-level terms and missing values, then
// auxiliary variables.
func (w *work) rank(variable string) int {
	switch {
	case w.auxiliary(variable):
		return 2
	case w.roles.Groups[variable] || w.roles.Missing[variable]:
		return 1
	}
	return 0
}

// intervals shows each variable with several elements, and groups column by column. Scalars of a
// similar scale share a plot. Constants and functions, which have plots as curves, are left out.
// Group-level terms come after population quantities, and auxiliary variables last.
func intervals(w *work) []Figure {
	var order []string
	members := map[string][]int{}
	for i, name := range w.names {
		v := variableOf(name)
		if w.rows[i].SD == 0 || w.mirrored(name) || w.curved[v] {
			continue
		}
		if v == name && !w.auxiliary(name) {
			v = ""
		}
		if members[v] == nil {
			order = append(order, v)
		}
		members[v] = append(members[v], i)
	}
	sorting.Stable(order, func(a, b string) int { return w.rank(a) - w.rank(b) })
	var panels []panel
	for _, v := range order {
		if v == "" {
			panels = append(panels, w.scalars(members[v])...)
		} else {
			panels = append(panels, w.columnsOf(v, members[v])...)
		}
	}
	correlated := w.correlations()
	var out []Figure
	for _, p := range panels {
		if w.rank(variableOf(w.names[p.members[0]])) > 0 { // correlations are the last population quantities
			out, correlated = append(out, correlated...), nil
		}
		if len(out) == maxVariables {
			w.note("Intervals are shown in %d of %d plots.", maxVariables, len(panels))
			break
		}
		var f Figure
		if len(p.members) > listed && !w.labelled(p.members) {
			f = w.whiskers(p)
		} else {
			f = w.list(p)
		}
		f.Kind, f.Of = "intervals", []string{p.title}
		if p.of != "" {
			f.Of = append(f.Of, p.of)
		}
		if !f.Empty() {
			out = append(out, f)
		}
	}
	return append(out, correlated...)
}

// scalars divides scalars into plots in which every interval is wide enough to be read.
func (w *work) scalars(members []int) []panel {
	type group struct {
		panel
		low, high, narrowest float64
	}
	var groups []*group
	for _, i := range members {
		low, high := w.rows[i].Q5, w.rows[i].Q95
		var to *group
		for _, g := range groups {
			if max(g.high, high)-min(g.low, low) <= ownScale*min(g.narrowest, high-low) {
				to = g
				break
			}
		}
		if to == nil {
			to = &group{low: low, high: high, narrowest: high - low}
			groups = append(groups, to)
		}
		to.members = append(to.members, i)
		to.low, to.high, to.narrowest = min(to.low, low), max(to.high, high), min(to.narrowest, high-low)
	}
	out := make([]panel, len(groups))
	for k, g := range groups {
		out[k] = g.panel
		out[k].title = "scalars"
		if len(g.members) == 1 {
			out[k].title = w.names[g.members[0]]
		}
	}
	return out
}

// columnsOf divides a matrix of group-level terms into its columns: the terms of the same kind. The
// rows are the index that counts levels, see [assess.LevelIndex]. A matrix with few elements is
// left whole if that is only a guess.
func (w *work) columnsOf(name string, members []int) []panel {
	whole := []panel{{title: name, members: members}}
	indices := make([][]string, len(members))
	length := [2]int{}
	for k, i := range members {
		indices[k] = strings.Split(strings.TrimSuffix(strings.TrimPrefix(w.names[i], name+"["), "]"), ",")
		if len(indices[k]) != 2 {
			return whole
		}
		for d, text := range indices[k] {
			if n, err := strconv.Atoi(text); err == nil {
				length[d] = max(length[d], n)
			}
		}
	}
	row, factor, known := assess.LevelIndex(w.fit, name, length)
	if !known && len(members) <= listed {
		return whole
	}
	row = max(row, 0) // columns of a square matrix
	if length[1-row] < 2 {
		return whole
	}
	group := ""
	if factor != "" {
		group = " by " + factor
	}
	m, err := w.fit.Model()
	var out []panel
	at := map[string]int{}
	for k, i := range members {
		column := indices[k][1-row]
		if _, ok := at[column]; !ok {
			at[column] = len(out)
			title := name + "[," + column + "]"
			if row == 1 {
				title = name + "[" + column + ",]"
			}
			next := panel{title: title}
			if n, wrong := strconv.Atoi(column); wrong == nil && err == nil {
				if term := assess.ColumnTerm(m, name, 1-row, n); term != "" {
					next.of = term + group
				}
			}
			out = append(out, next)
		}
		p := &out[at[column]]
		p.members = append(p.members, i)
	}
	return out
}

// labelled reports whether all quantities have names of levels.
func (w *work) labelled(members []int) bool {
	labels := w.report.Summary.Label
	return labels != nil && !slices.ContainsFunc(members, func(i int) bool { return labels[i] == "" })
}

// list shows elements by name: levels sorted by their medians, the largest on top; other elements
// in the order of their indices, the first on top.
func (w *work) list(p panel) Figure {
	f := Figure{X: Axis{Label: "value"}, Y: Axis{}}
	outer := Layer{Mark: Range, Role: First, Label: "90 %"}
	inner := Layer{Mark: Range, Role: Inner, Label: "50 %"}
	median := Layer{Mark: Points, Role: Inner, Label: "median"}
	members, named := p.members, w.labelled(p.members)
	f.Alt = fmt.Sprintf("Intervals of %s.", w.names[members[0]])
	if n := len(members); n > 1 {
		f.Alt = fmt.Sprintf("Intervals of %s to %s.", w.names[members[0]], w.names[members[n-1]])
	}
	if named {
		members = slices.Clone(members)
		sorting.Stable(members, func(a, b int) int { return cmp.Compare(w.rows[b].Q50, w.rows[a].Q50) })
		f.Alt = fmt.Sprintf("Intervals of %s by level, sorted: the largest median is that of %s, the smallest that of %s.", p.title, w.report.Summary.Label[members[0]], w.report.Summary.Label[members[len(members)-1]])
		if all := len(members); all > listed {
			members = slices.Concat(members[:listed/2], members[all-listed/2:])
			f.Note = fmt.Sprintf("%d of %d levels are shown: the %d with the largest and the %d with the smallest medians.", listed, all, listed/2, listed/2)
		}
	}
	n := len(members)
	f.Y.Names = make([]string, n)
	var draws []float64
	for k, i := range members {
		at := float64(n - 1 - k)
		f.Y.Names[n-1-k] = w.names[i]
		if named {
			f.Y.Names[n-1-k] = w.report.Summary.Label[i]
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
	return f
}

// whiskers shows many elements without levels by their index. Nothing joins them, since they may be
// unrelated.
func (w *work) whiskers(p panel) Figure {
	f := Figure{X: Axis{Label: "element of " + p.title}, Y: Axis{Label: p.title}}
	outer := Layer{Mark: Whisker, Role: First, Label: "90 %"}
	median := Layer{Mark: Points, Role: First, Label: "median"}
	step := (len(p.members) + maxWhiskers - 1) / maxWhiskers
	for k := 0; k < len(p.members); k += step {
		r := w.rows[p.members[k]]
		x := float64(k + 1)
		outer.X, outer.Low, outer.High = append(outer.X, x), append(outer.Low, r.Q5), append(outer.High, r.Q95)
		median.X, median.Y = append(median.X, x), append(median.Y, r.Q50)
	}
	f.Layers = []Layer{outer, median}
	f.Alt = fmt.Sprintf("Median and 90 %% interval of the %d elements of %s.", len(p.members), p.title)
	if step > 1 {
		f.Note = fmt.Sprintf("Every %s of %d elements is shown.", ordinal(step), len(p.members))
	}
	return f
}
