package formula

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/ppl-lang/ppl/compile/data"
)

// Part is a term of a formula, with its columns of the design. An intercept is not among the terms
// of the population; a group's intercept and each of its slopes are separate terms.
type Part struct {
	Label   string      // as in the formula: x, a:b, (1 | g), (x | g), s(x)
	Labels  []string    // names of the columns, as in R
	Columns [][]float64 // columns, each with a value per row
	// Needs are the terms that a smaller formula with this one must have: those that it interacts,
	// and for a slope of a group the intercept of the group and the slope of the population.
	Needs []int

	Group      []int // group of each row, from 0; nil for terms of the population and for curves
	Groups     int   // number of groups
	Set        int   // number of the bar expression in the formula, from 1; 0 for others
	Correlated bool  // effects of the set are correlated
	Curves     bool  // the columns are curves of a smooth function, with one standard deviation

	slope string // the term that varies by group; 1 for its intercept
	by    string // the columns of the group
}

// Split is a formula in parts.
type Split struct {
	Family    string
	Variable  string    // name of the outcome in the program
	Outcome   []float64 // two levels are 0 and 1
	Trials    []float64 // nil: none
	Offset    []float64 // sum of the offsets; nil: none
	Censored  bool
	Intercept bool
	Parts     []Part

	left    string // left side of the formula
	offsets []string
}

// SplitOf reads a formula as [New] does and returns its terms with their columns. The set is that
// of a fit with the given number of rows; it need not be a table. The error is an [*Error].
func SplitOf(text string, set *data.Set, rows int, o Options) (*Split, error) {
	w, blocks, err := design(text, set, o, rows)
	if err != nil {
		err.text = text
		return nil, err
	}
	s := w.spec
	left, _, _ := strings.Cut(text, "~")
	out := &Split{Family: w.family.name, Variable: s.outcome.name, Outcome: slices.Clone(s.outcome.values), Censored: s.censored != nil, Intercept: s.terms.intercept, left: strings.TrimSpace(left)}
	if w.family.kind == binary && slices.Max(out.Outcome) == 2 {
		for i := range out.Outcome {
			out.Outcome[i]--
		}
	}
	if s.trials != nil {
		out.Trials = make([]float64, len(out.Outcome))
		for i := range out.Trials {
			out.Trials[i] = s.trials.value(i)
		}
	}
	for _, x := range s.offsets {
		if out.Offset == nil {
			out.Offset = make([]float64, len(out.Outcome))
		}
		for i := range out.Offset {
			out.Offset[i] += x.value(i)
		}
		out.offsets = append(out.offsets, "offset("+x.text()+")")
	}
	index := map[string]int{} // of the terms of the population
	for i, t := range s.terms.list {
		p := Part{Label: w.termLabel(t), Labels: blocks[i].labels, Columns: blocks[i].cols}
		for _, v := range t {
			if rest := t.without(v); len(rest) > 0 && s.terms.has(rest) {
				p.Needs = append(p.Needs, index[w.termLabel(rest)])
			}
		}
		index[p.Label] = len(out.Parts)
		out.Parts = append(out.Parts, p)
	}
	for i := range s.smooths {
		out.Parts = append(out.Parts, w.curves(&s.smooths[i], index))
	}
	for i, g := range s.groups {
		out.groups(w, g, i+1, index)
	}
	return out, nil
}

// termLabel returns a term as in the formula.
func (w *writer) termLabel(t term) string {
	var names []string
	for _, v := range t {
		names = append(names, w.spelled(w.vars[v]))
	}
	return strings.Join(names, ":")
}

// spelled returns a variable as in the formula: with its blanks if the name is in quotes.
func (w *writer) spelled(v *variable) string {
	if text := strings.TrimSpace(w.text[v.at.start:v.at.end]); strings.HasPrefix(text, "`") {
		return text
	}
	return v.key
}

// curves returns the curves of a smooth function: those of the program that New writes.
func (w *writer) curves(s *smooth, index map[string]int) Part {
	name := w.spelled(s.of)
	if s.k != defaultCurves {
		name += fmt.Sprintf(", k = %d", s.k)
	}
	p := Part{Label: "s(" + name + ")", Curves: true, Needs: []int{index[w.spelled(s.of)]}}
	low, width := s.interval()
	for j := range s.k - 2 {
		col := make([]float64, len(s.of.values))
		for i, x := range s.of.values {
			u := (x - low) / width
			if j == 0 {
				col[i] = 3.5*(u-0.5)*(u-0.5) - 0.29
			} else {
				col[i] = math.Cos(float64(j)*math.Pi*u) / float64(j*j)
			}
		}
		p.Labels, p.Columns = append(p.Labels, p.Label), append(p.Columns, col)
	}
	return p
}

// groups adds the terms that vary by a group.
func (s *Split) groups(w *writer, g *group, set int, index map[string]int) {
	var names []string
	for _, c := range g.by {
		names = append(names, c.name)
	}
	codes, n := codesOf(g.by)
	by := strings.Join(names, ":")
	intercept := -1
	add := func(slope string, labels []string, columns [][]float64, needs []int) int {
		s.Parts = append(s.Parts, Part{Label: "(" + slope + " | " + by + ")", Labels: labels, Columns: columns, Needs: needs,
			Group: codes, Groups: n, Set: set, Correlated: g.correlated, slope: slope, by: by})
		return len(s.Parts) - 1
	}
	if g.terms.intercept {
		one := make([]float64, len(codes))
		for i := range one {
			one[i] = 1
		}
		intercept = add("1", []string{"(Intercept)"}, [][]float64{one}, nil)
	}
	own := map[string]int{}
	for _, t := range g.terms.list {
		b := w.block(&g.terms, t)
		var needs []int
		if intercept >= 0 {
			needs = append(needs, intercept)
		}
		label := w.termLabel(t)
		if i, ok := index[label]; ok {
			needs = append(needs, i)
		}
		for _, v := range t {
			if i, ok := own[w.termLabel(t.without(v))]; ok {
				needs = append(needs, i)
			}
		}
		own[label] = add(label, b.labels, b.cols, needs)
	}
}

// codesOf numbers the combinations of columns that occur, from 0.
func codesOf(by []*column) (codes []int, n int) {
	number := map[string]int{}
	for i := range by[0].values {
		var key strings.Builder
		for _, c := range by {
			key.WriteString(short(c.values[i]) + "|")
		}
		if _, ok := number[key.String()]; !ok {
			number[key.String()] = len(number)
		}
		codes = append(codes, number[key.String()])
	}
	return codes, len(number)
}

// Formula writes the formula with some of the terms, by their indices.
func (s *Split) Formula(parts []int) string {
	sorted := slices.Clone(parts)
	slices.Sort(sorted)
	var terms []string
	slopes := map[int][]string{}
	for _, i := range sorted {
		p := s.Parts[i]
		if p.Set == 0 {
			if p.Curves { // s(x) has the line too
				terms = slices.DeleteFunc(terms, func(t string) bool { return t == s.Parts[p.Needs[0]].Label })
			}
			terms = append(terms, p.Label)
			continue
		}
		slopes[p.Set] = append(slopes[p.Set], p.slope)
	}
	for set := 1; set <= len(s.Parts); set++ {
		list := slopes[set]
		if list == nil {
			continue
		}
		p := s.Parts[slices.IndexFunc(s.Parts, func(p Part) bool { return p.Set == set })]
		bar := " || "
		if p.Correlated || len(list) == 1 {
			bar = " | "
		}
		if list[0] != "1" {
			list = append([]string{"0"}, list...)
		}
		terms = append(terms, "("+strings.Join(list, " + ")+bar+p.by+")")
	}
	terms = append(terms, s.offsets...)
	if len(terms) == 0 {
		terms = []string{"1"}
	}
	return s.left + " ~ " + strings.Join(terms, " + ")
}

// Written returns the formula and the family of a program that New wrote. ok is false for other
// programs.
func Written(program string) (text, family string, ok bool) {
	first, rest, _ := strings.Cut(program, "\n")
	second, _, _ := strings.Cut(rest, "\n")
	text, ok = strings.CutPrefix(first, "// ")
	family, named := strings.CutPrefix(second, "// Family: ")
	family, _, _ = strings.Cut(family, ",")
	return text, family, ok && named && strings.Contains(text, "~")
}
