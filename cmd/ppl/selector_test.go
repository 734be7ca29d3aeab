package main

import (
	"slices"
	"testing"

	"github.com/ppl-lang/ppl/fit/arrays"
)

// TestSelectors checks that --vars finds elements by the levels of their indices, whatever
// characters these have.
func TestSelectors(t *testing.T) {
	levels := []string{"Paris", "Rome, IT", `say "hi"`, "a[1]", "", "7", "São Paulo", "10:30", `back\slash`}
	factors := func() map[string][]arrays.Factor {
		return map[string][]arrays.Factor{"b": {{Name: "city", Levels: levels}}, "c": {{}, {Name: "city", Levels: levels}}, "t.1": {{Name: "city", Levels: levels}}}
	}
	for _, c := range []struct{ vars, want, wrong string }{
		{"b[Paris]", "b[1]", ""},
		{"b[ Paris ]", "b[1]", ""},
		{`b["Paris"]`, "b[1]", ""},
		{`b["Rome, IT"]`, "b[2]", ""},
		{`b["Rome, IT"],b[Paris],mu`, "b[2],b[1],mu", ""},
		{`b["say \"hi\""]`, "b[3]", ""},
		{`b[say "hi"]`, "b[3]", ""},
		{`b["a[1]"]`, "b[4]", ""},
		{"b[a[1]]", "b[4]", ""},
		{`b[""]`, "b[5]", ""},
		{`b["7"]`, "b[6]", ""},
		{"b[7]", "b[7]", ""},
		{"b[São Paulo]", "b[7]", ""},
		{`b["10:30"]`, "b[8]", ""},
		{"b[2:3]", "b[2:3]", ""},
		{"b[2:]", "b[2:]", ""},
		{`b[back\slash]`, "b[9]", ""},
		{`b["back\slash"]`, "b[9]", ""},
		{`c[2, "Rome, IT"]`, "c[2,2]", ""},
		{"c[:,Paris]", "c[1:,1]", ""},
		{"t.1[Paris]", "t.1[1]", ""},
		{"mu", "mu", ""},
		{"", "", ""},
		{"b[Pariss]", "", `--vars: b[Pariss]: city has no level "Pariss"; did you mean "Paris"?`},
		{"b[Rome]", "", `--vars: b[Rome]: city has no level "Rome"; the levels are "Paris", "Rome, IT", "say \"hi\"", "a[1]", "", "7", "São Paulo", "10:30", "back\\slash"`},
		{"b[Rome, IT]", "", `--vars: b[Rome, IT]: write the level in quotes, since it has a comma: b["Rome, IT"]`},
		{"c[Paris]", "", "--vars: c[Paris]: index 1 of c has no levels with names; write a number or a range, such as c[1:5]"},
		{"mu[Paris]", "", "--vars: mu[Paris]: index 1 of mu has no levels with names; write a number or a range, such as mu[1:5]"},
		{`b["Paris" x]`, "", `--vars: "b[\"Paris\" x]" has a level whose quotes do not end, or which holds quotes: write them as in theta["a \"b\" c"]`},
	} {
		if _, err := selectorsOf(c.vars, factors); c.wrong != "" {
			if err == nil || err.Error() != c.wrong {
				t.Errorf("%s: the error is %v, want %s", c.vars, err, c.wrong)
			}
			continue
		} else if err != nil {
			t.Errorf("%s: %v", c.vars, err)
			continue
		}
		if got := withNumbers(c.vars, factors); got != c.want {
			t.Errorf("%s: %s, want %s", c.vars, got, c.want)
		}
	}
	_, err := chosenNames("b[1],c[1,7]", []string{"b.1", "c.1.1"}, factors)
	if want := `--vars: c[1,7]: city has no element 7; to select its level "7", write it in quotes`; err == nil || err.Error() != want {
		t.Errorf("a level that looks like a number: the error is %v, want %s", err, want)
	}
	chosen, err := chosenNames(`b["Rome, IT"]`, []string{"b.1", "b.2", "b.3"}, factors)
	if err != nil || !slices.Equal([]bool{chosen("b.1"), chosen("b.2"), chosen("b.3")}, []bool{false, true, false}) {
		t.Errorf("chosen by a level: %v", err)
	}
}
