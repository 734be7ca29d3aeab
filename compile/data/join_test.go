package data_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/ppl-lang/ppl/compile/data"
)

// joined reads two tables as one.
func joined(first, second string, o data.Options) (*data.Set, error) {
	return data.ParseJoined(data.Text{File: "a.csv", Text: first}, []data.Text{{File: "b.csv", Text: second}}, o)
}

// TestJoin checks that rows get the columns of the rows with the same keys.
func TestJoin(t *testing.T) {
	for _, c := range []struct {
		name, first, second string
		want                map[string][]float64
	}{
		{"texts", "g,x\nb,1\na,2\nb,3\n", "g,z\na,10\nb,20.5\nc,30\n", map[string][]float64{"g": {2, 1, 2}, "x": {1, 2, 3}, "z": {20.5, 10, 20.5}, "N": {3}}},
		{"integers", "g\n7\n3\n", "z,g\n10,3\n20,7\n", map[string][]float64{"z": {20, 10}}},
		{"two keys", "g,year\na,1\nb,1\na,2\n", "year;g;z\n1;a;1\n2;a;2\n1;b;3\n", map[string][]float64{"z": {1, 3, 2}}},
		{"no rows", "g,x\n", "g,z\na,10\n", map[string][]float64{"z": {}, "N": {0}}},
		{"one row", "g,x\na,1\n", "g,z\na,10\n", map[string][]float64{"z": {10}, "N": {1}}},
		{"factors", "g\na\nb\n", "g,z\na,yes\nb,no\n", map[string][]float64{"z": {2, 1}}},
	} {
		set, err := joined(c.first, c.second, data.Options{Counts: []data.Count{{Name: "N"}}})
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		for name, want := range c.want {
			if v, ok := set.Get(name); !ok || !slices.Equal(v.Reals, want) {
				t.Errorf("%s: %s is %v, want %v", c.name, name, v.Reals, want)
			}
		}
	}
}

// TestJoinByKey checks columns with a value for each level of the key, and counts of levels.
func TestJoinByKey(t *testing.T) {
	byKey := func(column, key string) bool { return column == "z" && key == "g" }
	set, err := joined("g,x\nb,1\na,2\nb,3\n", "g,z,w\nb,20,1\nc,30,2\na,10,3\n", data.Options{ByKey: byKey, Counts: []data.Count{{Name: "J", Of: "g"}}})
	if err != nil {
		t.Fatal(err)
	}
	z, _ := set.Get("z")
	w, _ := set.Get("w")
	j, _ := set.Get("J")
	if !slices.Equal(z.Reals, []float64{10, 20}) || !slices.Equal(w.Reals, []float64{1, 3, 1}) || j.Ints[0] != 2 {
		t.Errorf("z is %v, w %v, J %v", z.Reals, w.Reals, j.Ints)
	}
	set, err = joined("g\n2\n1\n", "g,z\n1,10\n2,20\n3,30\n", data.Options{ByKey: byKey})
	if err != nil {
		t.Fatal(err)
	}
	if z, _ = set.Get("z"); !slices.Equal(z.Reals, []float64{10, 20}) {
		t.Errorf("z is %v for integers", z.Reals)
	}
	if _, err = joined("g\n3\n1\n", "g,z\n1,10\n3,30\n", data.Options{ByKey: byKey}); err == nil || !strings.Contains(err.Error(), `no row for g "2"`) {
		t.Errorf("a level without a row: %v", err)
	}
}

// TestJoinHoles checks rows whose partner was left out, and dates that share an origin.
func TestJoinHoles(t *testing.T) {
	drop := func(column string) data.Holes {
		if column == "z" {
			return data.HolesDrop
		}
		return data.HolesFault
	}
	set, err := joined("g,x\na,1\nb,2\na,3\n", "g,z\na,NA\nb,5\n", data.Options{Holes: drop, Counts: []data.Count{{Name: "N"}}})
	if err != nil {
		t.Fatal(err)
	}
	x, _ := set.Get("x")
	n, _ := set.Get("N")
	if !slices.Equal(x.Reals, []float64{2}) || set.Dropped() != 2 || n.Ints[0] != 1 {
		t.Errorf("x is %v, %d rows left out, N is %v", x.Reals, set.Dropped(), n.Ints)
	}
	days := data.How{As: "days"}
	set, err = joined("g,from\na,2024-01-10\n", "g,to\na,2024-01-05\n", data.Options{How: map[string]data.How{"from": days, "to": days}})
	if err != nil {
		t.Fatal(err)
	}
	if to, _ := set.Get("to"); to.Reals[0] != -5 {
		t.Errorf("to is %v days after the first of from, want -5", to.Reals)
	}
}

// TestJoinFaults checks the messages about tables that cannot be matched.
func TestJoinFaults(t *testing.T) {
	for _, c := range []struct{ file, first, second, want string }{
		{"b.csv", "g\na\n", "h\na\n", "no column in common"},
		{"b.csv", "g\na\nx\n", "g,z\na,1\n", `row 2 has g "x", which is in no row of b.csv`},
		{"b.csv", "g\na\n", "g,z\na,1\na,2\n", `rows 1 and 2 both have g "a"`},
		{"b.csv", "g\n1.5\n", "g,z\n1.5,1\n", "real numbers"},
		{"b.csv", "g,x\na,1\n,2\n", "g,z\na,1\n", "has no value in row 2"},
		{"b.json", "g\na\n", `{"z": 1}`, "this is another kind of file"},
	} {
		_, err := data.ParseJoined(data.Text{File: "a.csv", Text: c.first}, []data.Text{{File: c.file, Text: c.second}}, data.Options{})
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%q and %q: %v, want %q", c.first, c.second, err, c.want)
		}
	}
}

// TestJoinLater checks later data: further keys in the other table are allowed, unknown keys in the
// rows are not.
func TestJoinLater(t *testing.T) {
	old, err := joined("g,x\na,1\nb,2\n", "g,z\na,yes\nb,no\n", data.Options{})
	if err != nil {
		t.Fatal(err)
	}
	set, err := joined("g,x\nb,5\n", "g,z\na,yes\nb,no\nc,yes\n", data.Options{As: old})
	if err != nil {
		t.Fatal(err)
	}
	g, _ := set.Get("g")
	if z, _ := set.Get("z"); !slices.Equal(g.Ints, []int64{2}) || !slices.Equal(z.Ints, []int64{1}) {
		t.Errorf("g is %v and z %v, want 2 and 1", g.Ints, z.Ints)
	}
	if _, err = joined("g,x\nc,5\n", "g,z\na,yes\nb,no\nc,yes\n", data.Options{As: old}); err == nil {
		t.Error("an unknown key is no error")
	}
	set, err = joined("g,x\nc,5\n", "g,z\na,yes\nb,no\nc,yes\n", data.Options{As: old, NewLevels: true})
	if err != nil {
		t.Fatal(err)
	}
	if g, _ = set.Get("g"); !slices.Equal(g.Ints, []int64{3}) {
		t.Errorf("a new key is %v, want 3", g.Ints)
	}
}
