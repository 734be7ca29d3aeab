package formula

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/ppl-lang/ppl/compile/data"
)

// checkSplit checks that the terms of a formula have the columns of its program, and that the
// formula of all terms is equivalent.
func checkSplit(t *testing.T, text string, o Options, p *Program, set *data.Set, rows int) {
	t.Helper()
	s, err := SplitOf(text, set, rows, o)
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	n := slices.IndexFunc(s.Parts, func(p Part) bool { return p.Curves || p.Set > 0 })
	if n < 0 {
		n = len(s.Parts)
	}
	var labels []string
	for _, part := range s.Parts[:n] {
		labels = append(labels, part.Labels...)
		for c, col := range part.Columns {
			for i, x := range col {
				if want := labelled(set, part.Labels[c], p.Centres, p.Scales, i); math.Abs(x-want) > 1e-9*(1+math.Abs(want)) {
					t.Fatalf("%s: row %d of %s is %g, want %g", text, i+1, part.Labels[c], x, want)
				}
			}
		}
	}
	var want []string
	for _, c := range p.Coefficients {
		if c.Label != "(Intercept)" && !slices.Contains(want, c.Label) {
			want = append(want, c.Label)
		}
	}
	if !slices.Equal(labels, want) {
		t.Fatalf("%s: columns %v, want %v", text, labels, want)
	}
	for i, part := range s.Parts {
		for _, u := range part.Needs {
			if u >= i {
				t.Fatalf("%s: %s needs %s, which comes later", text, part.Label, s.Parts[u].Label)
			}
		}
		if part.Set == 0 {
			continue
		}
		g := p.Groups[part.Set-1]
		for c, col := range part.Columns {
			if !slices.Contains(g.Labels, part.Labels[c]) {
				t.Fatalf("%s: %s has the column %s, and the group %v", text, part.Label, part.Labels[c], g.Labels)
			}
			for i, x := range col {
				if want := labelled(set, part.Labels[c], g.Centres, p.Scales, i); math.Abs(x-want) > 1e-9*(1+math.Abs(want)) {
					t.Fatalf("%s: row %d of %s by group is %g, want %g", text, i+1, part.Labels[c], x, want)
				}
			}
		}
		// Rows have equal numbers if they are in the same group.
		for i := range rows {
			same := true
			for _, by := range g.By {
				v, _ := set.Get(by)
				same = same && v.Ints[i] == v.Ints[0]
			}
			if same != (part.Group[i] == part.Group[0]) {
				t.Fatalf("%s: rows 1 and %d have the groups %d and %d", text, i+1, part.Group[0]+1, part.Group[i]+1)
			}
		}
	}
	all := make([]int, len(s.Parts))
	for i := range all {
		all[i] = i
	}
	if !s.Intercept {
		return
	}
	again, err := SplitOf(s.Formula(all), set, rows, o)
	if err != nil {
		t.Fatalf("%s: %s: %v", text, s.Formula(all), err)
	}
	names := func(s *Split) (out []string) {
		for _, p := range s.Parts { // the order of the variables of an interaction is that of the text
			var columns []string
			for _, l := range append([]string{p.Label}, p.Labels...) {
				before, after, _ := strings.Cut(l, " | ")
				words := strings.Split(strings.TrimPrefix(before, "("), ":")
				slices.Sort(words)
				columns = append(columns, strings.Join(words, ":")+after)
			}
			slices.Sort(columns)
			out = append(out, strings.Join(columns, ","))
		}
		slices.Sort(out)
		return out
	}
	if !slices.Equal(names(s), names(again)) {
		t.Fatalf("%s: %s has the terms\n%v, want\n%v", text, s.Formula(all), names(again), names(s))
	}
}

// Formulas of some terms, by the labels of these.
func TestSplitFormula(t *testing.T) {
	set := randomTable(t, rand.New(rand.NewPCG(3, 1)), 40)
	s, err := SplitOf("yt | trials(n) ~ x1*g + s(x3) + offset(x1 / 10) + (1 + x1 || p) + (0 + x3 | q)", set, 40, Options{Family: "binomial"})
	if err != nil {
		t.Fatal(err)
	}
	if s.Trials == nil || s.Offset == nil || s.Variable != "yt" {
		t.Errorf("trials %v, offset %v, variable %s", s.Trials, s.Offset, s.Variable)
	}
	for want, labels := range map[string][]string{
		"yt | trials(n) ~ offset(x1 / 10)":                                  nil,
		"yt | trials(n) ~ x1 + offset(x1 / 10)":                             {"x1"},
		"yt | trials(n) ~ x1 + g + x1:g + (1 + x1 || p) + offset(x1 / 10)":  {"x1:g", "g", "x1", "(x1 | p)", "(1 | p)"},
		"yt | trials(n) ~ s(x3) + (1 | p) + (0 + x3 | q) + offset(x1 / 10)": {"s(x3)", "x3", "(1 | p)", "(x3 | q)"},
		"yt | trials(n) ~ x3 + (0 + x3 | q) + offset(x1 / 10)":              {"x3", "(x3 | q)"},
	} {
		var parts []int
		for _, l := range labels {
			i := slices.IndexFunc(s.Parts, func(p Part) bool { return p.Label == l })
			if i < 0 {
				t.Fatalf("there is no term %s", l)
			}
			parts = append(parts, i)
		}
		if got := s.Formula(parts); got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
	needs := map[string]string{"x1:g": "g x1", "s(x3)": "x3", "(x1 | p)": "(1 | p) x1", "(x3 | q)": "x3", "x1": "", "(1 | p)": ""}
	for _, p := range s.Parts {
		if want, ok := needs[p.Label]; ok {
			var got []string
			for _, u := range p.Needs {
				got = append(got, s.Parts[u].Label)
			}
			slices.Sort(got)
			if strings.Join(got, " ") != want {
				t.Errorf("%s needs %v, want %s", p.Label, got, want)
			}
		}
	}
}

// Two levels are 0 and 1, and the header of a program has the formula.
func TestWritten(t *testing.T) {
	set := randomTable(t, rand.New(rand.NewPCG(3, 1)), 40)
	p, err := New("yb ~ x1 + (1 | g)", set, Options{Family: "bernoulli"})
	if err != nil {
		t.Fatal(err)
	}
	text, family, ok := Written(p.Text)
	if text != "yb ~ x1 + (1 | g)" || family != "bernoulli" || !ok {
		t.Errorf("%q, %q, %v", text, family, ok)
	}
	for _, other := range []string{"", "// a model\n// Family: gaussian, x", "data { int N; }", "// y ~ x\ndata {}"} {
		if _, _, ok := Written(other); ok {
			t.Errorf("%q was read as written from a formula", other)
		}
	}
	s, err := SplitOf(text, set, 40, Options{Family: family})
	if err != nil {
		t.Fatal(err)
	}
	if slices.Min(s.Outcome) != 0 || slices.Max(s.Outcome) != 1 {
		t.Errorf("outcomes are %g to %g", slices.Min(s.Outcome), slices.Max(s.Outcome))
	}
}
