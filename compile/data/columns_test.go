package data

import (
	"fmt"
	"math"
	"testing"
)

// TestColumnName: headers become names that a program can declare.
func TestColumnName(t *testing.T) {
	for header, want := range map[string]string{
		"y": "y", "age (years)": "age_years", "Sepal.Length": "Sepal_Length", "a__b": "a__b", " x ": "x", "_x_": "x",
		"2nd try": "x2nd_try", "größe": "gr_e", "%": "", "": "", "a - _b": "a_b", "a\u00a0b": "a_b",
	} {
		if got := ColumnName(header); got != want {
			t.Errorf("%q: %q, want %q", header, got, want)
		}
	}
}

// TestHoles: holes are a fault, leave out their rows, or are NaN, by column; levels are those of
// the rows that are kept.
func TestHoles(t *testing.T) {
	const text = "x,g,n\n1,b,1\nNA,c,2\n3,,3\n4,a,NA\n5,a,5\n"
	by := func(of map[string]Holes) func(string) Holes {
		return func(column string) Holes { return of[column] }
	}
	for _, c := range []struct {
		of      map[string]Holes
		want    string
		dropped int
		faults  string
	}{
		{nil, "", 0, "x g n "},
		{map[string]Holes{"x": HolesDrop}, "x[1 3 4 5]", 1, "g n "},
		{map[string]Holes{"x": HolesDrop, "g": HolesDrop}, "x[1 4 5] g[2 1 1]", 2, "n "},
		{map[string]Holes{"x": HolesDrop, "g": HolesDrop, "n": HolesDrop}, "x[1 5] g[2 1] n[1 5]", 3, ""},
		{map[string]Holes{"x": HolesKeep, "n": HolesKeep}, "x[1 NaN 3 4 5] n[1 2 3 NaN 5]", 0, "g "},
		{map[string]Holes{"g": HolesKeep}, "", 0, "x g n "}, // a level cannot be NaN
	} {
		s, err := ParseTable("d.csv", text, Options{Holes: by(c.of), Counts: []Count{{Name: "N"}, {Name: "J", Of: ""}}})
		if err != nil {
			t.Fatal(err)
		}
		got, faults := "", ""
		for _, name := range []string{"x", "g", "n"} {
			if v, ok := s.Get(name); ok {
				got += fmt.Sprintf(" %s%v", name, v.Reals)
			}
			if s.Fault(name) != nil {
				faults += name + " "
			}
		}
		if n, _ := s.Get("N"); got != "" && got[1:] != c.want || got == "" && c.want != "" || s.Dropped() != c.dropped || faults != c.faults || n.Ints[0] != int64(5-c.dropped) {
			t.Errorf("%v:%s, %d dropped, faults %s, N %v, want %+v", c.of, got, s.Dropped(), faults, n.Ints, c)
		}
		for i, want := range []int{1, 1, 1} {
			if s.Columns()[i].Missing != want {
				t.Errorf("%v: %+v", c.of, s.Columns())
			}
		}
	}
	s, err := ParseTable("d.csv", "x\n2\nNA\n", Options{Holes: by(map[string]Holes{"x": HolesKeep})})
	if v, _ := s.Get("x"); err != nil || v.IsInt || !math.IsNaN(v.Reals[1]) {
		t.Errorf("%+v, %v", v, err)
	}
}
