package data

import (
	"fmt"
	"strings"
	"testing"
)

// TestFilled reads missing elements in every format: they are a fault, and NaN for programs that
// allow for them.
func TestFilled(t *testing.T) {
	all := func(string) bool { return true }
	for _, c := range []struct{ file, text, want, fault string }{
		{"d.csv", "x,y\n1,2.5\n2,\n3,NA\n", "[2.5 NaN NaN]", "d.csv:3:3: y has no value in row 2 (2 rows have none)"},
		{"d.csv", "y\n\n", "", ""}, // a table with one column has no empty rows
		{"d.csv", "x,y\n1,NA\n", "[NaN]", "d.csv:2:3: y has no value in row 1"},
		{"d.json", `{"y": [2.5, null, 3]}`, "[2.5 NaN 3]", "d.json:1:13: y[2] is null"},
		{"d.json", `{"y": [[1, null], [null, 4]]}`, "[1 NaN NaN 4]", "d.json:1:12: y[1,2] is null"},
		{"d.json", `{"y": null}`, "[NaN]", "d.json:1:7: y is null"},
		{"d.R", "y <- c(2.5, NA, 3)\n", "[2.5 NaN 3]", "d.R:1:13: y has a missing value"},
		{"d.R", "y <- structure(c(1, NA, 3, 4), .Dim = c(2, 2))\n", "[1 3 NaN 4]", "d.R:1:21: y has a missing value"},
		{"d.csv", "y,z\na,1\n,2\n", "[1 NaN]", "d.csv:3:1: y has no value in row 2"}, // a factor
	} {
		s, err := Parse(c.file, c.text, Options{})
		if err != nil {
			t.Errorf("%q: %v", c.text, err)
			continue
		}
		if f := s.Fault("y"); c.fault != "" && (f == nil || f.Error() != c.fault) || c.fault == "" && f != nil {
			t.Errorf("%q: %v, want %s", c.text, f, c.fault)
		}
		if _, ok := s.Get("y"); ok && c.fault != "" {
			t.Errorf("%q: there is a value in spite of the fault", c.text)
		}
		filled := s.Filled(all)
		v, ok := filled.Get("y")
		if c.want == "" {
			continue
		}
		if got := fmt.Sprint(v.Reals); !ok || got != c.want || v.IsInt || filled.Fault("y") != nil {
			t.Errorf("%q: %v %v, want %s", c.text, v, filled.Fault("y"), c.want)
		}
		if s.Fault("y") == nil {
			t.Errorf("%q: Filled changes the set", c.text)
		}
		if none := s.Filled(func(string) bool { return false }); none.Fault("y") == nil {
			t.Errorf("%q: a variable that does not allow for missing elements has a value", c.text)
		}
	}
}

// TestFactorGaps reads factors with missing elements in every format: a fault, and NaN among the
// numbers of the levels for programs that allow it.
func TestFactorGaps(t *testing.T) {
	all := func(string) bool { return true }
	for _, c := range []struct{ file, text string }{
		{"a.csv", "y\nno\nNA\nyes\n\"\"\nno\n"},
		{"a.csv", "y\nNA\nno\nyes\nno\nNA\n"},
		{"a.csv", "y\nTRUE\nNA\nFALSE\nNA\nTRUE\n"},
		{"a.json", `{"y": ["no", null, "yes", null, "no"]}`},
		{"a.json", `{"y": [null, "no", "yes", "no", null]}`},
		{"a.data.R", `y <- structure(c(1L, NA, 2L, NA, 1L), .Label = c("no", "yes"))`},
	} {
		s, err := Parse(c.file, c.text, Options{})
		if err != nil {
			t.Fatal(err)
		}
		for _, allowed := range []bool{true, false} {
			filled := s.Filled(func(string) bool { return allowed }).Worded(all, func(string) bool { return false }, func(string) bool { return allowed })
			v, ok := filled.Get("y")
			if !allowed {
				if ok || filled.Fault("y") == nil || filled.Levels("y") != nil {
					t.Errorf("%q: %v and levels %v, want a fault", c.text, v, filled.Levels("y"))
				}
				continue
			}
			if got := fmt.Sprint(v.Reals); !ok || v.IsInt || len(filled.Levels("y")) != 2 || strings.Count(got, "NaN") != 2 || strings.Count(got, "1") != 2 || strings.Count(got, "2") != 1 {
				if !strings.HasPrefix(c.text, "y\nTRUE") || strings.Count(got, "2") != 2 {
					t.Errorf("%q: %v, levels %v, fault %v", c.text, v, filled.Levels("y"), filled.Fault("y"))
				}
			}
			if zero := filled.FromZero("y"); strings.Count(fmt.Sprint(zero.values["y"].Reals), "NaN") != 2 {
				t.Errorf("%q: from zero %v", c.text, zero.values["y"])
			}
			again := filled.Read(filled.Reading())
			if len(again.Levels("y")) != 2 {
				t.Errorf("%q: levels are lost when the data are read again", c.text)
			}
		}
	}
}
