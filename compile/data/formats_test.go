package data

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"
)

// described lists the values of a set.
func described(s *Set) string {
	var lines []string
	for _, n := range s.Names() {
		v, ok := s.Get(n)
		if !ok {
			lines = append(lines, n+": fault")
			continue
		}
		line := n + ": " + describe(v)
		if l := s.Levels(n); l != nil {
			line += " of " + strings.Join(l, "|")
		}
		lines = append(lines, line)
	}
	return strings.Join(lines, "\n")
}

func TestParseTable(t *testing.T) {
	for _, c := range []struct {
		name, text string
		counts     []Count
		want       string
	}{
		{"integers, reals, factors", "y,x,g,b\n1,0.5,pear,TRUE\n2,3,apple,FALSE\n-3,1e-2,pear,TRUE\n", []Count{{"N", ""}, {"J", "g"}, {"K", "y"}},
			"y: [3] int [1 2 -3]\nx: [3] real [0.5 3 0.01]\ng: [3] int [2 1 2] of apple|pear\nb: [3] int [1 0 1]\nN: [] int [3]\nJ: [] int [2]\nK: [] int [2]"},
		{"quotes, blanks, names", "\ufeff\"Sepal.Length\", \"the group\"\n5.1, \"a, b\"\n4.9, c\n", nil, "Sepal_Length: [2] real [5.1 4.9]\nthe_group: [2] int [1 2] of a, b|c"},
		{"row names of R", "\"\",\"y\"\n\"1\",4\n\"2\",5\n", nil, "row: [2] int [1 2]\ny: [2] int [4 5]"},
		{"tabs", "a\tb\n1\t2\n", nil, "a: [1] int [1]\nb: [1] int [2]"},
		{"semicolons", "a;b\r\n1;2.5\r\n", nil, "a: [1] int [1]\nb: [1] real [2.5]"},
		{"not finite", "a,b\nNaN,1\nInf,1\n-inf,2\n", nil, "a: [3] real [NaN +Inf -Inf]\nb: [3] int [1 1 2]"},
		{"missing", "a,b\n1,\n2,NA\n", nil, "a: [2] int [1 2]\nb: fault"},
		{"no rows", "a,b\n", []Count{{"N", ""}}, "a: [0] int []\nb: [0] int []\nN: [] int [0]"},
	} {
		s, err := ParseTable("d.csv", c.text, Options{Counts: c.counts})
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		if got := described(s); got != c.want {
			t.Errorf("%s:\n%s\nnot\n%s", c.name, got, c.want)
		}
		if f := s.Fault("b"); c.name == "missing" && (f == nil || f.Error() != "d.csv:2:3: b has no value in row 1 (2 rows have none)") {
			t.Errorf("%v", f)
		}
	}
	for _, c := range []struct {
		text, want string
		counts     []Count
	}{
		{"", "d.csv: the file is empty", nil},
		{"a,b\n1\n", "d.csv:2:1: this row has 1 field, but the header has 2", nil},
		{"a,a\n1,2\n", "d.csv:1:1: columns 1 and 2 are both called a", nil},
		{"1,2\n3,4\n", "d.csv:1:1: the first line has numbers and no names: 1", nil},
		{"a,b\n\"1,2\n", "d.csv:2:6: the quotes of a field do not end, or text follows them", nil},
		{"a,b\n1,2\n", "d.csv: there is a column a already", []Count{{"a", ""}}},
		{"a,b\n1,2\n", "d.csv: there is no column c whose levels could be counted", []Count{{"N", "c"}}},
		{"a,b\n1.5,2\n", "d.csv: the column a has real numbers: it has no levels", []Count{{"N", "a"}}},
	} {
		if _, err := ParseTable("d.csv", c.text, Options{Counts: c.counts}); err == nil || err.Error() != c.want {
			t.Errorf("%q: %v, not %s", c.text, err, c.want)
		}
	}
}

// TestParseTableAs checks that a table that is read like an earlier one has the levels of the
// earlier one, even if it contains only some of them, and the same numbers of levels.
func TestParseTableAs(t *testing.T) {
	first, err := ParseTable("d.csv", "g,b,k,y\npear,yes,3,1\napple,TRUE,1,2\nfig,no,2,3\n", Options{Counts: []Count{{"N", ""}, {"J", "g"}, {"K", "k"}}})
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	if err := first.WriteJSON(&b); err != nil {
		t.Fatal(err)
	}
	kept, err := ParseJSON("d.json", b.Bytes())
	if err != nil {
		t.Fatal(err)
	}
	kept = kept.Read(first.Reading())
	for _, as := range []*Set{first, kept} {
		for _, c := range []struct {
			text   string
			counts []Count
			want   string
		}{
			{"g,b,k\npear,TRUE,1\nfig,TRUE,1\n", nil, "g: [2] int [3 2] of apple|fig|pear\nb: [2] int [1 1] of TRUE|no|yes\nk: [2] int [1 1]\nN: [] int [2]\nJ: [] int [3]\nK: [] int [3]"},
			{"g,N\nfig,7\n", nil, "g: [1] int [2] of apple|fig|pear\nN: [1] int [7]\nJ: [] int [3]\nK: [] int [3]"},
			{"k\n2\n", []Count{{"J", "k"}}, "k: [1] int [2]\nJ: [] int [2]\nN: [] int [1]\nK: [] int [3]"},
			{"g\n", nil, "g: [0] int [] of apple|fig|pear\nN: [] int [0]\nJ: [] int [3]\nK: [] int [3]"},
			{"g\nfig\n3\n", nil, "g: fault\nN: [] int [2]\nJ: [] int [3]\nK: [] int [3]"},
		} {
			s, err := ParseTable("n.csv", c.text, Options{Counts: c.counts, As: as})
			if err != nil {
				t.Errorf("%q: %v", c.text, err)
				continue
			}
			if got := described(s); got != c.want {
				t.Errorf("%q:\n%s\nnot\n%s", c.text, got, c.want)
			}
			if f := s.Fault("g"); f != nil && f.Error() != `n.csv:3:1: g is "3" in row 2, which is none of the 3 levels in the data of the fit` {
				t.Error(f)
			}
		}
	}
}

func TestParseDump(t *testing.T) {
	text := `# written by rstan::stan_rdump
N <- 8
"y" <-
c(28, 8, -3, 7.5, 1e2)
one <- c(3)
x <- structure(c(1, 2, 3, 4, 5, 6), .Dim = c(2L, 3L)); z <- 1:4
down = 3:1
cube <- structure(1:8, .Dim = c(2,2,2))
long <- c(1L, -2L)
none <- integer(0)
zeros <- numeric(2)
my.name <- TRUE
special <- c(NaN, Inf, -Inf)
mixed <- c(1:3, 7)
empty <- structure(integer(0), .Dim = c(0, 3))
named <- structure(c(1, 2), .Names = c("a (", "b"))
table <- structure(1:4, .Dim = c(2L, 2L), .Dimnames = list(NULL, c("a", "b")))
group <- structure(c(2L, 1L, 2L), .Label = c("it's", "a \"b\""), class = "factor")
kind <- structure(c(1L, 1L), levels = "only", class = "factor")
other <- structure(c(1L, 3L), levels = c("a", "b"))
a <- c(a = 1, 'b c' = 2.5, "d" = 3)
aa <-
structure(c(0x1.8p+0, 0x1p+1, -0x1.1p-3, 0x1p-1074), dim = c(2L,
2L), dimnames = list(NULL, c("a", "b")))
whole <- c(0x1p+1, 0xFFL, 1e+05, 1e5L, 2L)
logic <- logical(0)
null <- NULL
texts <- character(0)
flags <- c(yes = TRUE, no = FALSE)
range <- -3:-5
neg <- -1.5e-7
day <- structure(18262, class = "Date")
days <- structure(c(18262, 18263), class = "Date")
single <- structure(5L, dim = 1L)
`
	want := `N: [] int [8]
y: [5] real [28 8 -3 7.5 100]
one: [1] int [3]
x: [2 3] int [1 3 5 2 4 6]
z: [4] int [1 2 3 4]
down: [3] int [3 2 1]
cube: [2 2 2] int [1 5 3 7 2 6 4 8]
long: [2] int [1 -2]
none: [0] int []
zeros: [2] real [0 0]
my_name: [] int [1]
special: [3] real [NaN +Inf -Inf]
mixed: [4] int [1 2 3 7]
empty: [0 3] int []
named: [2] int [1 2]
table: [2 2] int [1 3 2 4]
group: [3] int [2 1 2] of it's|a "b"
kind: [2] int [1 1] of only
other: [2] int [1 3]
a: [3] real [1 2.5 3]
aa: [2 2] real [1.5 -0.1328125 2 5e-324]
whole: [5] int [2 255 100000 100000 2]
logic: [0] int []
null: [0] int []
texts: [0] int []
flags: [2] int [1 0]
range: [3] int [-3 -4 -5]
neg: [] real [-1.5e-07]
day: [] int [18262]
days: [2] int [18262 18263]
single: [1] int [5]`
	s, err := ParseDump("d.R", text, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if got := described(s); got != want {
		t.Errorf("%s\nnot\n%s", got, want)
	}
	for _, c := range []struct{ text, want string }{
		{"N <- 3\nN <- 4", "d.R:2:1: there are two values for N"},
		{"N 3", "d.R:1:3: expected `<-` after N"},
		{"x <- c(1, 2", "d.R:1:12: expected `,` or `)`"},
		{"x <-", "d.R:1:5: expected a number, c(…) or structure(…)"},
		{"x <- c(\"a, 2)", "d.R:1:8: x has a text, but data are numbers"},
		{"x <- structure(1, .Names = c(1)", "d.R:1:32: expected `)`"},
		{"x <- structure(1, .Names = c(1", "d.R:1:18: the attribute .Names of x does not end"},
		{"x <- c(1:9999999, 1:9999999)", "d.R:1:21: x is short for 9999999 values; ranges, integer(n) and numeric(n) of a file may be short for 6777217 more"},
		{"x <- structure(integer(0), .Dim = c(999999999, 0))", "d.R:1:50: x is short for 999999999 values; ranges, integer(n) and numeric(n) of a file may be short for 16777216 more"},
		{"x <- 1:1000000000", "d.R:1:8: x is short for 1000000000 values; ranges, integer(n) and numeric(n) of a file may be short for 16777216 more"},
		{"1 -> x", "d.R:1:3: expected `<-` after 1"},
		{"library(rstan)", "d.R:1:8: expected `<-` after library"},
		{"x <- " + strings.Repeat("c(", 100000), "d.R:1:134: x has more than 64 values in one another"},
	} {
		if _, err := ParseDump("d.R", c.text, Options{}); err == nil || err.Error() != c.want {
			t.Errorf("%q: %v, not %s", c.text, err, c.want)
		}
	}
}

// TestDumpFaults checks that values in an R dump that are not numbers are errors only if they are
// used.
func TestDumpFaults(t *testing.T) {
	for _, c := range []struct{ x, want string }{
		{"c(1, NA)", "d.R:2:11: x has a missing value"},
		{`"a"`, "d.R:2:6: x has a text, but data are numbers"},
		{"c(\"a # \\\" )\",\n 'b')", "d.R:2:8: x has a text, but data are numbers"},
		{"rnorm(3)", "d.R:2:6: the function rnorm is not known in data"},
		{"structure(1:6, .Dim = c(2, 2))", "d.R:2:35: x has 6 elements, but its dimensions [2 2] are those of 4"},
		{"(1)", "d.R:2:6: expected a number, c(…) or structure(…)"},
		{"-(1:3)", "d.R:2:6: \"-\" is not a number"},
		{"1i", "d.R:2:6: \"1i\" is not a number"},
		{"0x1G", "d.R:2:6: \"0x1G\" is not a number"},
		{"0x1p", "d.R:2:6: \"0x1p\" is not a number"},
		{"c(a = NA)", "d.R:2:12: x has a missing value"},
		{"c(a == 1)", "d.R:2:8: expected a number, c(…) or structure(…)"},
		{"character(2)", "d.R:2:6: x has texts, but data are numbers"},
		{"factor(1)", "d.R:2:6: the function factor is not known in data"},
		{"1:1.5", "d.R:2:8: a range is one of integers, such as 1:10"},
		{"N + 1 +\n  2", "d.R:2:6: expected a number, c(…) or structure(…)"},
		{"3 * # three\n  N", "d.R:2:8: x is still to be computed"},
		{"c(1, 2)[1]", "d.R:2:13: x is still to be computed"},
		{"c(1, 2 * 3)", "d.R:2:13: expected `,` or `)`"},
		{"structure(list(a = 1, b = \"x\"), class = \"data.frame\")", "d.R:2:16: x is a list, but data are numbers"},
		{"structure(c(1L, NA), levels = \"a\", class = \"factor\")", "d.R:2:22: x has a missing value"},
		{"structure(1L, levels = list(1))", "d.R:2:29: expected a text in quotes"},
		{"structure(integer(0), .Dim = c(65536, 65536, 65536, 65536))", "d.R:2:64: x has 0 elements, but its dimensions [65536 65536 65536 65536] are those of 9223372036854775807"},
	} {
		s, err := ParseDump("d.R", "N <- 8\nx <- "+c.x+"; y <- 2 # two\nz <- 3", Options{})
		if err != nil {
			t.Errorf("%s: %v", c.x, err)
			continue
		}
		if got := described(s); got != "N: [] int [8]\nx: fault\ny: [] int [2]\nz: [] int [3]" {
			t.Errorf("%s: %s", c.x, got)
		}
		if f := s.Fault("x"); f == nil || f.Error() != c.want {
			t.Errorf("%s: %v, not %s", c.x, f, c.want)
		}
	}
}

// FuzzParse looks for data in any format for which the reader panics, reports places outside the
// data, or finds other values when they are written as JSON and read again.
func FuzzParse(f *testing.F) {
	names := []string{"d.csv", "d.tsv", "d.R", "d.json", "stdin", "d.csv.gz"}
	for i, text := range []string{
		"x <- structure(c(1, 2L), .Dim = c(2, 1))\ny <- -3:4", "N,y,g\n3,1.5,a\n4,NA,b\n", "a\tb c\n1\tTRUE\n2\tFALSE\n", "x;y\n1e3;\"a;b\"\n;2\n",
		`{"a": [[1, 2], [3, 4.5]], "b": {"1": 2, "2": [1]}, "c": "NaN"}`, "# a\nx <- c(1e400, NaN, -Inf)\n`a b` = integer(3)", "\ufeff\"a\",b\r\n1,2\r\n",
		"\x1f\x8b\x08\x00", "x <- 1:2147483647", "z <- structure(double(0), .Dim = c(0L, 3L))", "row,,\n1,2,3", "a,a.b,a_b\n1,2,3",
	} {
		f.Add(text, uint8(i), i%2 == 0)
		f.Add(text, uint8(4), i%3 == 0)
	}
	f.Fuzz(func(t *testing.T, text string, name uint8, count bool) {
		o := Options{Limit: 1 << 20}
		if count {
			o.Counts = []Count{{Name: "count"}, {Name: "levels", Of: "g"}}
		}
		s, err := Parse(names[int(name)%len(names)], text, o)
		if err != nil {
			var e *Error
			if !errors.As(err, &e) || e.Error() == "" || e.Line < 0 || e.Column < 0 {
				t.Errorf("%#v", err)
			}
			_ = e.Diagnostic()
			return
		}
		for _, n := range s.Names() {
			if fault := s.Fault(n); fault != nil {
				_ = fault.Diagnostic()
				return // it cannot be written
			}
			v, ok := s.Get(n)
			if size := product(v.Shape); ok && (size != len(v.Reals) || v.IsInt && len(v.Ints) != size) {
				t.Fatalf("%s: %+v", n, v)
			}
			if span := s.Span(n, -1); span.IsValid() {
				_ = span.Text()
			}
		}
		var b bytes.Buffer
		if err := s.WriteJSON(&b); err != nil {
			t.Fatal(err)
		}
		again, err := ParseJSON("again", b.Bytes())
		if err != nil {
			t.Fatalf("%v\n%s", err, b.String())
		}
		for _, n := range s.Names() {
			v, described := s.Get(n) // not a tuple
			w, ok := again.Get(n)
			// JSON has no integers beyond 64 bits, and cannot express sizes after a size of 0.
			if described && (!ok || describe(v) != describe(w) && v.Size() > 0) {
				t.Errorf("%s: %s, not %s\n%s", n, describe(w), describe(v), b.String())
			}
		}
	})
}

// TestParseFormats checks that the format is determined by the name of the file or, if that does
// not show it, by the text, and that each format may be compressed.
func TestParseFormats(t *testing.T) {
	zip := func(s string) string {
		var b bytes.Buffer
		w := gzip.NewWriter(&b)
		w.Write([]byte(s))
		w.Close()
		return b.String()
	}
	const table, dump, object = "N,y\n3,1.5\n", "N <- 3\ny <- c(1.5, 2)", `{"N": 3, "y": [1.5]}`
	for _, c := range []struct{ file, text string }{
		{"d.csv", table}, {"d.CSV", table}, {"stdin", table}, {"d.csv.gz", zip(table)}, {"stdin", zip(table)},
		{"d.R", dump}, {"d.data.R", dump}, {"stdin", dump}, {"stdin", "# a comment\n" + dump}, {"d.dump.gz", zip(dump)},
		{"d.json", object}, {"stdin", object}, {"d.data", object}, {"d.json.gz", zip(object)}, {"d", "\n " + object},
	} {
		s, err := Parse(c.file, c.text, Options{})
		if err != nil {
			t.Errorf("%s, %q: %v", c.file, c.text, err)
			continue
		}
		if !slices.Equal(s.Names(), []string{"N", "y"}) {
			t.Errorf("%s, %q: %v", c.file, c.text, s.Names())
		}
	}
	for _, c := range []struct {
		file, text, want string
		o                Options
	}{
		{"d.json.gz", zip(strings.Repeat(" ", 100)), "d.json.gz: the data are longer than 50 bytes when they are unpacked", Options{Limit: 50}},
		{"d.json.gz", zip(object)[:20], "d.json.gz: the compressed data are damaged: unexpected EOF", Options{}},
		{"d.json", object, "d.json: only the rows of a table (CSV) can be counted; these data are JSON", Options{Counts: []Count{{"M", ""}}}},
		{"d.R", dump, "d.R: only the rows of a table (CSV) can be counted; these data are an R dump", Options{Counts: []Count{{"M", ""}}}},
	} {
		if _, err := Parse(c.file, c.text, c.o); err == nil || err.Error() != c.want {
			t.Errorf("%s: %v, not %s", c.file, err, c.want)
		}
	}
}

// TestWriteJSON checks that written data can be read again without change.
func TestWriteJSON(t *testing.T) {
	text := `{"n": 3, "x": 1.0, "big": 9007199254740993, "v": [0.1, 1e-300, 1e300, "NaN", "Infinity", "-Infinity"], "m": [[1, 2], [3, 4]],
	  "none": [], "rows": [[], []], "t": {"1": 3, "2": [0.5, 1]}, "ts": [{"1": 1, "2": [1, 2]}, {"1": 2, "2": [3, 4]}], "z": [[1.5, 2], [0, 1]],
	  "deep": {"1": {"1": 1, "2": 2.5}, "2": [[1], [2]]}, "note": "a text"}`
	s, err := ParseJSON("a", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	if err := s.WriteJSON(&b); err != nil {
		t.Fatal(err)
	}
	again, err := ParseJSON("b", b.Bytes())
	if err != nil {
		t.Fatalf("%v\n%s", err, b.String())
	}
	for _, n := range []string{"n", "x", "big", "v", "m", "none", "rows", "t.1", "t.2", "ts.1", "ts.2", "z", "deep.1.1", "deep.1.2", "deep.2"} {
		v, ok := s.Get(n)
		w, ok2 := again.Get(n)
		if !ok || !ok2 || describe(v) != describe(w) {
			t.Errorf("%s: %s, not %s\n%s", n, describe(w), describe(v), b.String())
		}
	}
	if _, ok := again.Get("note"); ok {
		t.Error("a text was written")
	}
	s, err = ParseTable("d.csv", "g,y\nb,1\na,2\n", Options{})
	if err != nil {
		t.Fatal(err)
	}
	b.Reset()
	if err := s.WriteJSON(&b); err != nil || !strings.Contains(b.String(), `"g__levels": ["a","b"]`) || !json.Valid(b.Bytes()) {
		t.Errorf("%s (%v)", b.String(), err)
	}
}

// TestDecodedMap checks that whole numbers in a map decoded by encoding/json are integers.
func TestDecodedMap(t *testing.T) {
	var m map[string]any
	if err := json.Unmarshal([]byte(`{"J": 8, "y": [1, 2.5], "g": [[1, 2], [3, 4]], "x": 2.5}`), &m); err != nil {
		t.Fatal(err)
	}
	s, err := FromGo(m)
	if err != nil {
		t.Fatal(err)
	}
	if got, want := described(s), "J: [] int [8]\ng: [2 2] int [1 2 3 4]\nx: [] real [2.5]\ny: [2] real [1 2.5]"; got != want {
		t.Errorf("%s\nnot\n%s", got, want)
	}
	type row struct {
		N     int
		Label string
		When  struct{ t int }
	}
	if s, err = FromGo(row{N: 3, Label: "a"}); err != nil {
		t.Fatal(err)
	}
	if v, ok := s.Get("N"); !ok || v.Ints[0] != 3 || s.Fault("Label") == nil {
		t.Errorf("%v", described(s))
	}
}

// TestOtherFormats checks that files of other formats are recognised by their first bytes, whatever
// their names are, and that an error about an empty field of a table has a position.
func TestOtherFormats(t *testing.T) {
	for _, f := range formats {
		for _, name := range []string{"a.csv", "a.json", "a.R", "a"} {
			if strings.HasPrefix(f.begin, "\x1f\x8b") {
				continue // is unpacked
			}
			_, err := Parse(name, f.begin+" and what follows", Options{Counts: []Count{{Name: "N"}}})
			var e *Error
			if !errors.As(err, &e) || e.Message != "this is "+f.name || e.Fix == "" {
				t.Errorf("%s, %q: %v", name, f.begin, err)
			}
		}
	}
	_, err := Parse("a.json", `[ {"x": 1}, {"x": 2}]`, Options{})
	if err == nil || !strings.Contains(err.Error(), "a.json:1:1: this is a list of objects") {
		t.Error(err)
	}
	_, err = Parse("a", " \n", Options{Counts: []Count{{Name: "N"}}})
	if err == nil || !strings.Contains(err.Error(), "a is empty") {
		t.Error(err)
	}
	for text, column := range map[string]int{"x,y\n1,\n": 3, "x,y\n,1\n": 1, "x,y,z\n1,,2\n": 3} {
		s, err := Parse("a.csv", text, Options{})
		if err != nil {
			t.Fatal(err)
		}
		fault := s.Fault("y")
		if fault == nil {
			fault = s.Fault("x")
		}
		var e *Error
		if !errors.As(fault, &e) || e.Column != column || e.span.Begin().Column != column {
			t.Errorf("%q: %v", text, fault)
		}
	}
}

// TestNoText checks that binary files are reported as such, and that an error without a span
// contains its place.
func TestNoText(t *testing.T) {
	for name, text := range map[string]string{"a.csv": "a,b\n1\x00,2\x00", "program": "\x7fELF\x02\x01\x00"} {
		_, err := Parse(name, text, Options{})
		var e *Error
		if !errors.As(err, &e) || !strings.HasPrefix(e.Diagnostic().Summary, name+": this is no text") || e.Fix == "" {
			t.Errorf("%s: %v", name, err)
		}
	}
	_, err := Parse("q.csv", "a,b\n\"x,1\n", Options{})
	var e *Error
	if !errors.As(err, &e) || !strings.HasPrefix(e.Diagnostic().Summary, "q.csv:2:") {
		t.Errorf("%v", err)
	}
}

// TestEncodings checks, in every format, that a byte order mark is ignored, and that UTF-16 and
// characters that look like others are named in the error.
func TestEncodings(t *testing.T) {
	for name, text := range map[string]string{"d.json": `{"y": [1, 2]}`, "d.csv": "y\n1\n2\n", "d.R": "y <- c(1, 2)\n"} {
		for _, mark := range []string{"", "\ufeff"} {
			s, err := Parse(name, mark+text, Options{})
			if err != nil {
				t.Errorf("%s: %v", name, err)
			} else if v, ok := s.Get("y"); !ok || len(v.Reals) != 2 {
				t.Errorf("%s: %s", name, described(s))
			}
		}
		var wide strings.Builder
		for _, c := range []byte(text) {
			wide.WriteString(string([]byte{c, 0}))
		}
		for _, mark := range []string{"", "\xff\xfe"} {
			if _, err := Parse(name, mark+wide.String(), Options{}); err == nil || !strings.Contains(err.Error(), "this text is in UTF-16") {
				t.Errorf("%s: %v", name, err)
			}
		}
	}
	const keyboard = ", with the characters of the keyboard"
	for _, c := range []struct{ name, text, message, fix string }{
		{"d.json", `{“y”: 1}`, "d.json:1:2: expected the name", "write `\"y\"`" + keyboard},
		{"d.json", `{"y"：1}`, "d.json:1:5: expected a colon", "write `:1`" + keyboard},
		{"d.json", `{"y": −1}`, "d.json:1:7: y is −1", "write `-1`" + keyboard},
		{"d.json", `{"y": "it’s"}`, `d.json:1:7: y is the string "it’s"`, `data are numbers; only "NaN", "Infinity" and "-Infinity" may be strings`},
		{"d.R", "y <- c（1)", "d.R:1:7: expected a number, c(…) or structure(…)", "write `(`" + keyboard},
		{"d.R", "y <- 1；", "d.R:1:7: expected the name of a variable", "write `;`" + keyboard},
		{"d.csv", "x，y\n1，2\n", "d.csv:1:1: the first line has no comma", "write `,` or `;` between columns" + keyboard},
		{"d.csv", "y\n−1\n２\n", "d.csv:2:1: y is −1 in row 1, which is no number", "write `-1`" + keyboard},
		{"d.csv", "y\n1\n<0.5\n2\n", "d.csv:3:1: y is <0.5 in row 2, which is no number", "write the limit alone, 0.5, and declare the data as censored: vector<censored_below=0.5>[N] y"},
		{"d.csv", "y\n1\n>= 30\n2\n", "d.csv:3:1: y is >= 30 in row 2, which is no number", "write the limit alone, 30, and declare the data as censored: vector<censored_above=30>[N] y"},
		{"d.csv", "x;y\n1;1,5\n2;0,125\n", "d.csv:2:3: y is 1,5 in row 1, which is no number", "write a decimal point: 1.5"},
		{"d.csv", "y\n\"1,234\"\n\"2,345.5\"\n", "d.csv:2:1: y is 1,234 in row 1, which is no number", "write the number alone: 1234"},
		{"d.csv", "y\n5 %\n6.5%\n", "d.csv:2:1: y is 5 % in row 1, which is no number", "write the number alone: 5"},
		{"d.csv", "y\n$5\n$6\n", "d.csv:2:1: y is $5 in row 1, which is no number", "write the number alone: 5"},
		{"d.csv", "x,y\n1\n", "d.csv:2:1: this row has 1 field, but the header has 2", "write one field for each column, in quotes if it holds a comma"},
		{"d.csv", "x\n1\n\"2\n", "d.csv:3:4: the quotes of a field do not end, or text follows them", `put the whole field in quotes, and write quotes within it twice: "a ""b"" c"`},
	} {
		s, err := Parse(c.name, c.text, Options{})
		var e *Error
		if err == nil {
			e = s.Fault("y")
		} else if !errors.As(err, &e) {
			t.Fatal(err)
		}
		if e == nil || !strings.HasPrefix(e.Error(), c.message) || c.fix != "" && e.Fix != c.fix {
			t.Errorf("%s: %+v", c.text, e)
		}
	}
	// Strings that are levels remain levels.
	for _, text := range []string{"y\na\nb\n", "y\n1,2,3\n2,3,4\n", "y\n“a”\n”b”\n", "y\n10-19\n20-29\n"} {
		if s, err := ParseTable("d.tsv", text, Options{}); err != nil || s.Levels("y") == nil {
			t.Errorf("%q: %v", text, err)
		}
	}
}
