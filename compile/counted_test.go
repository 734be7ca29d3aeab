package compile_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/ppl-lang/ppl/compile"
	"github.com/ppl-lang/ppl/compile/data"
	"github.com/ppl-lang/ppl/lang/source"
)

// TestCounted checks that the number of rows and the numbers of levels of factors are counted if
// the declarations of the columns determine them. The bound of a column of integers, and values
// that the data contain, must not be changed.
func TestCounted(t *testing.T) {
	for _, c := range []struct {
		name, text, table string
		want              []data.Count
	}{
		{"rows and levels", "data { int N; int<lower=1> J; array[N] int<lower=1, upper=J> g; vector[N] x; }", "g,x\nb,1\na,2\nb,3\n", []data.Count{{Name: "N"}, {Name: "J", Of: "g"}}},
		{"integers", "data { int N; int<lower=1> J; array[N] int<lower=1, upper=J> g; }", "g\n1\n3\n", []data.Count{{Name: "N"}}},
		{"given", "data { int N; vector[N] x; }", "N,x\n2,1\n2,2\n", nil},
		{"not the size", "data { int N; vector[N + 1] x; }", "x\n1\n2\n", nil},
		{"no scalar", "data { array[2] int N; vector[2] x; }", "x\n1\n2\n", nil},
	} {
		p, list := compile.Compile(source.NewFile("m.stan", c.text))
		if list.HasErrors() {
			t.Fatal(c.name, list)
		}
		set, err := data.ParseTable("t.csv", c.table, data.Options{})
		if err != nil {
			t.Fatal(c.name, err)
		}
		coded, _, err := p.Coded(set)
		if err != nil {
			t.Fatal(c.name, err)
		}
		if got := coded.Reading().Counts; !slices.Equal(got, c.want) {
			t.Errorf("%s: counts %v, want %v", c.name, got, c.want)
		}
		for _, count := range c.want {
			want := int64(strings.Count(c.table, "\n") - 1)
			if count.Of != "" {
				want = 2
			}
			if v, ok := coded.Get(count.Name); !ok || v.Ints[0] != want {
				t.Errorf("%s: %v is %v, want %d", c.name, count, v.Ints, want)
			}
		}
	}
}

// TestFaultyLevels checks that the number of levels of a column that has a hole is not asked for:
// the hole is reported.
func TestFaultyLevels(t *testing.T) {
	p, list := compile.Compile(source.NewFile("m.stan", "data { int N; int<lower=1> J; array[N] int<lower=1, upper=J> g; vector[N] x; } parameters { real a; }"))
	if list.HasErrors() {
		t.Fatal(list)
	}
	set, err := data.ParseTable("t.csv", "g,x\nb,1\n,2\na,3\n", data.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if set, _, err = p.Coded(set); err != nil {
		t.Fatal(err)
	}
	if _, err = p.Bind(set, compile.BindOptions{}); err == nil || !strings.Contains(err.Error(), "g has no value in row 2") || strings.Contains(err.Error(), "`J`") {
		t.Errorf("%v", err)
	}
}
