package data_test

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/ppl-lang/ppl/compile/data"
)

// readColumn reads a column x of a table in a declared way.
func readColumn(t *testing.T, how, text string) (data.Value, *data.Error) {
	t.Helper()
	h, err := data.ParseHow(how)
	if err != nil {
		t.Fatal(err)
	}
	set, err := data.Parse("t.csv", text, data.Options{How: map[string]data.How{"x": h}})
	if err != nil {
		t.Fatal(err)
	}
	v, _ := set.Get("x")
	return v, set.Fault("x")
}

// TestHow checks columns that are read in a declared way against values that were worked out by
// hand.
func TestHow(t *testing.T) {
	for _, c := range []struct {
		how, fields string
		want        []float64
		integers    bool
	}{
		{"number", `1|"2,168"|"$1,234,567"|-5`, []float64{1, 2168, 1234567, -5}, true},
		{"number", `"1,5"|2|"1.234,25"|1.500`, []float64{1.5, 2, 1234.25, 1500}, false},
		{"number", "20%|5 %|7.5%", []float64{20, 5, 7.5}, false},
		{"number", "72 kg|80.5kg", []float64{72, 80.5}, false},
		{"number", "1'000|12 500", []float64{1000, 12500}, true},
		{"number", "\u22123|4e2", []float64{-3, 400}, true},
		{"number", "7", []float64{7}, true},
		{"days", "2024-03-01|2024-01-01|2023-12-31", []float64{61, 1, 0}, true},
		{"days since 2024-01-01", "2024-03-01|2024-01-01|2023-12-31|2024-01-01T12:00:00Z", []float64{60, 0, -1, 0.5}, false},
		{"weeks since 2024-01-01", "08.01.2024|22.01.24", []float64{1, 3}, true},
		{"days since 2024-01-01", "3/4/2024|13/4/2024", []float64{93, 103}, true},   // day first
		{"days since 2024-01-01", "3/4/2024|3/14/2024", []float64{63, 73}, true},    // month first
		{"days since 2024-01-01 mdy", "3/4/2024|4/3/2024", []float64{63, 93}, true}, // declared
		{"months since 2020-01-01", "2020-02-01|2021-01-16|2019-12-01", []float64{1, 12 + 15./31, -1}, false},
		{"months since 2020-01-01", "2020-02|2021-01", []float64{1, 12}, true},
		{"years since 2000-01-01", "2024-01-01|2024-07-01", []float64{24, 24.5}, false},
		{"hours", "08:30|00:00|11:15 pm", []float64{8.5, 0, 23.25}, false},
		{"minutes since 2024-01-01 08:00", "2024-01-01 08:30:30|2024-01-01T09:00+01:00", []float64{30.5, 0}, false},
		{"days since 2024-01-01", "2 Jan 2024|Mar 1 2024|15-Feb-24", []float64{1, 60, 45}, true},
		{"days since 2024-01-01", "20240102|20241231", []float64{1, 365}, true},
		{"levels", "3|10|3", []float64{2, 1, 2}, true},
		{"lowercase", "Yes|no|yes |NO", []float64{2, 1, 2, 1}, true},
	} {
		v, fault := readColumn(t, c.how, "x\n"+strings.ReplaceAll(c.fields, "|", "\n")+"\n")
		if fault != nil {
			t.Errorf("%s of %s: %v", c.how, c.fields, fault)
			continue
		}
		close := func(a, b float64) bool { return math.Abs(a-b) <= 1e-12*math.Max(1, math.Abs(b)) }
		if v.IsInt != c.integers || !slices.EqualFunc(v.Reals, c.want, close) {
			t.Errorf("%s of %s is %v (integers: %v), want %v", c.how, c.fields, v.Reals, v.IsInt, c.want)
		}
	}
	// In a table with semicolons, commas are decimal.
	if v, fault := readColumn(t, "number", "x;y\n1,234;0\n2,5;0\n"); fault != nil || v.Reals[0] != 1.234 || v.Reals[1] != 2.5 {
		t.Errorf("decimal commas are %v, %v", v.Reals, fault)
	}
	for _, rows := range []int{0, 1, 2} {
		text := "x\n" + strings.Repeat("2024-01-02\n", rows)
		if v, fault := readColumn(t, "days", text); fault != nil || len(v.Reals) != rows {
			t.Errorf("%d rows: %v, %v", rows, v.Reals, fault)
		}
	}
}

// TestHowFaults checks the messages about columns that cannot be read in the declared way.
func TestHowFaults(t *testing.T) {
	for _, c := range []struct{ how, fields, want string }{
		{"number", "1|n/a", "missing=n/a"},
		{"number", "72 kg|160 lb", `other rows have the unit "kg"`},
		{"days", "3/4/2024|4/5/2024", "may begin with the day or the month"},
		{"days", "2024-02-30", "no date or time"},
		{"days", "2024-01-30|08:30", "a time without a date"},
		{"days", "13/4/2024|4/13/2024", "no date or time"},
		{"days", "2024-01-30|", "has no value in row 2"},
	} {
		_, fault := readColumn(t, c.how, "x,y\n"+strings.ReplaceAll(c.fields, "|", ",0\n")+",0\n")
		if fault == nil || !strings.Contains(fault.Message+fault.Fix+fmt.Sprint(fault.Settings), c.want) {
			t.Errorf("%s of %s: the fault is %v, want %q", c.how, c.fields, fault, c.want)
		}
	}
	for _, how := range []string{"", "day", "days since", "days since x", "days 2024-01-01", "number x"} {
		if h, err := data.ParseHow(how); err == nil {
			t.Errorf("%q is %+v, want an error", how, h)
		}
	}
}

// TestUndeclared checks that columns whose texts are dates or numbers in another notation are not
// factors unless they are declared so.
func TestUndeclared(t *testing.T) {
	for _, c := range []struct{ fields, want string }{
		{"2024-01-01|2024-01-08|2024-01-15", "read=x=days"},
		{"n/a|1/2/2024|3/2/2024|5/2/2024", "read=x=days"},
		{"08:30|09:30|10:30", "read=x=hours"},
		{`n/a|"1,234"|"2,345"|"4,567"`, "read=x=number"},
		{`"1,234"|"2,345"`, "read=x=number"},
		{`"1.250,00"|"310,50"|"2.075,25"`, "read=x=number"},
		{"5 %|7.5 %|8 %", "read=x=number"},
		{"P001|P002|P003", ""},
		{"1.2.3|1.2.4|2.0.0", ""},
		{"1-2|3-4|5-6", ""},
		{"a|b|c", ""},
		{"2024-01-01|b|c", ""},
	} {
		set, err := data.Parse("t.csv", "x\n"+strings.ReplaceAll(c.fields, "|", "\n")+"\n", data.Options{})
		if err != nil {
			t.Fatal(err)
		}
		fault := set.Fault("x")
		if (fault == nil) != (c.want == "") || fault != nil && fault.Settings[0] != c.want {
			t.Errorf("%s: the fault is %v, want %q", c.fields, fault, c.want)
		}
	}
}

// TestDatesTogether checks that columns of dates without an origin share one, and that later data
// are read with it and with the same missing words.
func TestDatesTogether(t *testing.T) {
	days := data.How{As: "days"}
	old, err := data.Parse("t.csv", "from,to,a\n2024-01-10,2024-01-15,1\n2024-01-01,2024-02-01,999\n",
		data.Options{How: map[string]data.How{"from": days, "to": days}, Missing: []data.Missing{data.ReadMissing("a=999")}, Holes: func(string) data.Holes { return data.HolesKeep }})
	if err != nil {
		t.Fatal(err)
	}
	from, _ := old.Get("from")
	to, _ := old.Get("to")
	a, _ := old.Get("a")
	if !slices.Equal(from.Reals, []float64{9, 0}) || !slices.Equal(to.Reals, []float64{14, 31}) || !math.IsNaN(a.Reals[1]) {
		t.Fatalf("from is %v, to %v, a %v", from.Reals, to.Reals, a.Reals)
	}
	later, err := data.Parse("u.csv", "from,to,a\n2024-02-01,2024-02-02,999\n", data.Options{As: old, Holes: func(string) data.Holes { return data.HolesDrop }})
	if err != nil {
		t.Fatal(err)
	}
	if v, _ := later.Get("from"); later.Dropped() != 1 || len(v.Reals) != 0 {
		t.Errorf("%d rows left out, from is %v", later.Dropped(), v.Reals)
	}
	later, err = data.Parse("u.csv", "from,to,a\n2024-02-01,2024-02-02,5\n", data.Options{As: old})
	if err != nil {
		t.Fatal(err)
	}
	if v, _ := later.Get("from"); !slices.Equal(v.Reals, []float64{31}) {
		t.Errorf("from is %v in later data, want 31", v.Reals)
	}
}

// TestDatesMissing checks that a column of dates with a missing one is read as the numbers that it
// has, if the missing one may be a parameter, and otherwise has the fault of a missing value.
func TestDatesMissing(t *testing.T) {
	for _, how := range []data.How{{As: "days"}, {As: "days", Since: "2024-01-01"}, {As: "days", Order: "dmy"}} {
		set, err := data.Parse("t.csv", "day,y\n2024-01-01,1\n,2\nNA,2\n2024-01-05,3\n", data.Options{How: map[string]data.How{"day": how}})
		if err != nil {
			t.Fatal(err)
		}
		if fault := set.Fault("day"); fault == nil || fault.Line != 3 || !strings.Contains(fault.Message, "no value") {
			t.Errorf("%v: %v, want a missing value in line 3", how, fault)
		}
		v, ok := set.Filled(func(string) bool { return true }).Get("day")
		if !ok || len(v.Reals) != 4 || v.Reals[0] != 0 || !math.IsNaN(v.Reals[1]) || !math.IsNaN(v.Reals[2]) || v.Reals[3] != 4 {
			t.Errorf("%v: %v, want 0, two missing values, 4", how, v.Reals)
		}
	}
}

// TestCommentFirst checks that a comment before the header does not decide the separator.
func TestCommentFirst(t *testing.T) {
	for _, first := range []string{"# an export, 2024\n", "\n", "# a\r\n\r\n"} {
		set, err := data.Parse("t.csv", first+"x\ty\n1\t2\n", data.Options{})
		if err != nil {
			t.Errorf("%q: %v", first, err)
		} else if v, _ := set.Get("y"); len(v.Ints) != 1 || v.Ints[0] != 2 {
			t.Errorf("%q: y is %v", first, v)
		}
	}
}
