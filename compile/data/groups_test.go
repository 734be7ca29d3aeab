package data

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// TestGroups checks the values and faults of groups of rows. The values of a group without faults
// must be those of a table with its rows alone, except that the whole table decides types and
// levels.
func TestGroups(t *testing.T) {
	for _, c := range []struct {
		name, text string
		by         []string
		o          Options
		want       []string // for each group: its name, its values or the error, its faults
	}{
		{name: "no faults", text: "g,x,y\na,1,2.5\nb,2,3\na,3,4\n", by: []string{"g"}, o: Options{Counts: []Count{{Name: "N"}, {Name: "G", Of: "g"}}},
			want: []string{"g=a: g [1 1] x [1 3] y r[2.5 4] N 2 G 2", "g=b: g [2] x [2] y r[3] N 1 G 2"}},
		{name: "rows", text: "x,s\n1,no\n2,yes\n", want: []string{"row 1: x 1 s 1", "row 2: x 2 s 2"}},
		{name: "one row", text: "x\n7\n", want: []string{"row 1: x 7"}},
		{name: "a text among numbers", text: "g,y\na,1\nb,oops\nb,2\na,3\n", by: []string{"g"},
			want: []string{"g=a: g [1 1] y [1 3]", "g=b: g [2 2]; y: line 3, row 2"}},
		{name: "missing", text: "g,y,s\na,1,u\nb,,v\nb,2,\na,3,u\n", by: []string{"g"},
			want: []string{"g=a: g [1 1] y [1 3] s [1 1]", "g=b: g [2 2]; s: line 4, row 3; y: line 3, row 2"}},
		{name: "missing levels", text: "g,s\na,u\nb,NA\n", by: []string{"g"}, want: []string{"g=a: g [1] s [1]", "g=b: g [2]; s: line 3, row 2"}},
		{name: "a fraction elsewhere", text: "g,y\na,1\nb,x\nb,2.5\na,3\n", by: []string{"g"},
			want: []string{"g=a: g [1 1] y r[1 3]", "g=b: g [2 2]; y: line 3, row 2"}},
		{name: "broken rows", text: "g,y\na,1\nb,1,2\nc\n\"b\"x,3\na,2\n", by: []string{"g"},
			want: []string{"g=a: g [1 1] y [1 2]", "g=b: error in line 3", "g=c: error in line 4", "line 5: error in line 5"}},
		{name: "broken rows without quotes", text: "g,y\nc\na,1\nb,1,2\na,2\n", by: []string{"g"},
			want: []string{"g=c: error in line 2", "g=a: g [1 1] y [1 2]", "g=b: error in line 4"}},
		{name: "broken rows of texts", text: "y,g\nu,a\nv\nw,a\n", by: []string{"g"}, want: []string{"g=a: y [1 2] g [1 1]", "line 3: error in line 3"}},
		{name: "dropped", text: "g,y\na,1\nb,\nb,2\n", by: []string{"g"}, o: Options{Holes: func(string) Holes { return HolesDrop }},
			want: []string{"g=a: g [1] y [1]", "g=b: g [2] y [2]"}},
		{name: "kept", text: "g,y\na,1\nb,\n", by: []string{"g"}, o: Options{Holes: func(string) Holes { return HolesKeep }},
			want: []string{"g=a: g [1] y [1]", "g=b: g [2] y r[NaN]"}},
		{name: "declared", text: "g,y\na,\"1,200\"\nb,many\nb,5\nc,\n", by: []string{"g"}, o: Options{How: map[string]How{"y": {As: "number"}}},
			want: []string{"g=a: g [1] y [1200]", "g=b: g [2 2]; y: line 3, row 2", "g=c: g [3]; y: line 5, row 4"}},
		{name: "too large", text: "g,y\na,1\nb,1e999\n", by: []string{"g"}, want: []string{"g=a: g [1] y r[1]", "g=b: g [2]; y: line 3, row 2"}},
		{name: "by the header", text: "my group,y\n1,1\n1,2\n", by: []string{"my group"}, want: []string{"my group=1: my_group [1 1] y [1 2]"}},
		{name: "by the name", text: "my group,y\n1,1\n", by: []string{"my_group"}, want: []string{"my group=1: my_group [1] y [1]"}},
		{name: "two columns", text: "g,h,y\na,1,1\na,2,2\n", by: []string{"h", "g"}, want: []string{"h=1, g=a: g [1] h [1] y [1]", "h=2, g=a: g [1] h [2] y [2]"}},
	} {
		g, err := ParseGroups("t.csv", c.text, c.by, c.o)
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		var got []string
		for i := range g.Len() {
			got = append(got, groupText(g, i))
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: got\n%s\nwant\n%s", c.name, strings.Join(got, "\n"), strings.Join(c.want, "\n"))
		}
	}
	for _, c := range []struct{ text, by, want string }{
		{"g,y\na,1\n", "h", "no column h to group by"},
		{"g,y\n", "g", "no rows"},
		{`{"y": [1]}`, "g", "only a table"},
	} {
		if _, err := ParseGroups("t", c.text, []string{c.by}, Options{}); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%q by %s: the error is %v; it must have %q", c.text, c.by, err, c.want)
		}
	}
}

// groupText describes a group of rows.
func groupText(g *Groups, i int) string {
	s, err := g.Set(i)
	if err != nil {
		var line int
		_, after, _ := strings.Cut(err.Error(), "t.csv:")
		fmt.Sscanf(after, "%d", &line)
		return fmt.Sprintf("%s: error in line %d", g.Name(i), line)
	}
	var values, faults []string
	for _, name := range s.Names() {
		v, ok := s.Get(name)
		switch {
		case !ok:
			e := s.Fault(name)
			var row int
			fmt.Sscanf(e.Path, name+"[%d]", &row)
			faults = append(faults, fmt.Sprintf("; %s: line %d, row %d", name, e.Line, row))
		case v.Shape == nil:
			values = append(values, fmt.Sprintf("%s %v", name, v.Reals[0]))
		case v.IsInt:
			values = append(values, fmt.Sprintf("%s %v", name, v.Ints))
		default:
			values = append(values, fmt.Sprintf("%s r%v", name, v.Reals))
		}
	}
	slices.Sort(faults)
	return g.Name(i) + ": " + strings.Join(values, " ") + strings.Join(faults, "")
}

// TestHolesOfCountedColumns checks that rows are left out if they lack the level of a column that
// is counted, also if the program does not declare it.
func TestHolesOfCountedColumns(t *testing.T) {
	const text = "who,y,z\na,1,1\n,2,2\nb,3,NA\n"
	for _, c := range []struct {
		counts []Count
		rows   int64
	}{{nil, 3}, {[]Count{{Name: "J", Of: "who"}}, 2}} {
		o := Options{Counts: append(c.counts, Count{Name: "N"})}
		s, err := Declarations{NA: []string{"drop"}}.Parse(o, func(column string) bool { return column == "y" }, func(o Options) (*Set, error) { return Parse("d.csv", text, o) })
		if err != nil {
			t.Fatal(err)
		}
		if n, _ := s.Get("N"); n.Ints[0] != c.rows {
			t.Errorf("%v: %d rows, not %d", c.counts, n.Ints[0], c.rows)
		}
	}
}
