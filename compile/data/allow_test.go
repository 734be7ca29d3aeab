package data

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// hungry lists texts that need much more memory than their length.
var hungry = map[string]func(n int) string{
	"reals.json":  func(n int) string { return `{"x":[0.5` + strings.Repeat(",1.5", n) + "]}" },
	"ints.json":   func(n int) string { return `{"x":[1` + strings.Repeat(",1", n) + "]}" },
	"late.json":   func(n int) string { return `{"x":[1` + strings.Repeat(",1", n) + ",0.5]}" },
	"tuples.json": func(n int) string { return `{"x":[{"1":1}` + strings.Repeat(`,{"1":1}`, n/4) + "]}" },
	"names.json":  func(n int) string { return names(n/8, `{`, `"a%d":1`, `,`, `}`) },
	"faulty.json": func(n int) string { return `{"x":["a"` + strings.Repeat(",1", 4*n) + "]}" },
	"reals.R":     func(n int) string { return "x <- c(0.5" + strings.Repeat(",1.5", n) + ")" },
	"matrix.R": func(n int) string {
		return fmt.Sprintf("x <- structure(c(1%s), .Dim = c(1, %d))", strings.Repeat(",1", n), n+1)
	},
	"range.R":      func(n int) string { return fmt.Sprintf("x <- 1:%d", n) },
	"names.R":      func(n int) string { return names(n/8, "", "a%d<-1", "\n", "") },
	"rows.csv":     func(n int) string { return "x\n" + strings.Repeat("1.5\n", n) },
	"columns.csv":  func(n int) string { return names(n/8, "", "a%d", ",", "\n") },
	"factor.csv":   func(n int) string { return names(n/8, "x\n", "a%d", "\n", "\n") },
	"wide.csv":     func(n int) string { return "x,y\n" + strings.Repeat(",", n) + "\n" },
	"unclosed.csv": func(n int) string { return "x,y\n\"" + strings.Repeat("\n", 4*n) },
}

func names(n int, begin, name, sep, end string) string {
	var b strings.Builder
	b.WriteString(begin)
	for i := range n {
		if i > 0 {
			b.WriteString(sep)
		}
		fmt.Fprintf(&b, name, i)
	}
	b.WriteString(end)
	return b.String()
}

// TestMemory checks that reading stays within the limit of memory and reports an error if the data
// need more.
func TestMemory(t *testing.T) {
	const n, memory = 1_000_000, 3 << 20
	for name, make := range hungry {
		text := make(n)
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		_, err := Parse(name, text, Options{Memory: int64(len(text)) + memory})
		runtime.ReadMemStats(&after)
		e, ok := err.(*Error)
		if !ok || e.File != name || !strings.Contains(e.Message, "more memory, but") || e.Fix == "" {
			t.Errorf("%s: %v", name, err)
		}
		// TotalAlloc also counts lists that were replaced by longer ones.
		if took := after.TotalAlloc - before.TotalAlloc; took > 8*memory {
			t.Errorf("%s: it may take %d bytes beside the text, and has taken %d", name, memory, took)
		}
	}
	for name, make := range hungry {
		text := make(20_000)
		want, whole := Parse(name, text, Options{})
		got, err := Parse(name, text, Options{Memory: 1 << 30})
		if fmt.Sprint(whole) != fmt.Sprint(err) || err == nil && len(want.Names()) != len(got.Names()) {
			t.Errorf("%s: %v with enough memory, %v without a bound", name, err, whole)
		}
	}
}

func TestMemoryOfText(t *testing.T) {
	text := hungry["reals.json"](1000)
	path := filepath.Join(t.TempDir(), "d.json")
	if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
	const why = "more than 1000 bytes more memory, but 1000 bytes of 1000 bytes are left"
	if _, err := ReadText(path, Options{Memory: 1000}); err == nil || !strings.Contains(err.Error(), why) {
		t.Error(err)
	}
	if _, err := ReadTextFrom(strings.NewReader(text), "d.json", Options{Memory: 1000}); err == nil || !strings.Contains(err.Error(), why) {
		t.Error(err)
	}
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	z.Write([]byte(text))
	z.Close()
	if _, err := Parse("d.json.gz", b.String(), Options{Memory: 1000}); err == nil || !strings.Contains(err.Error(), why) {
		t.Error(err)
	}
}

// TestMemoryOfGoValues checks that Go values are rejected before they are traversed if they contain
// others very often, or are extremely long but take no memory.
func TestMemoryOfGoValues(t *testing.T) {
	var array, tuple any = []float64{1}, 1.0
	for range 30 {
		array, tuple = []any{array, array}, map[string]any{"1": tuple, "2": tuple}
	}
	for name, v := range map[string]any{
		"arrays": array, "tuples": tuple, "nothing": make([]struct{}, 1<<40), "empty": make([][0]float64, 1<<40), "none": make([][0]float64, math.MaxInt), "huge": endless{},
	} {
		_, err := FromGoWith(map[string]any{"y": v}, Options{Memory: 1 << 20})
		if err == nil || !strings.Contains(err.Error(), "more memory, but") {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := FromGoWith(map[string]any{"y": make([]float64, 1000)}, Options{Memory: 10_000}); err != nil {
		t.Error(err)
	}
}

// endless is a vector that claims to be extremely long.
type endless struct{}

func (endless) Len() int            { return math.MaxInt }
func (endless) AtVec(i int) float64 { return 0 }

// TestUnzipOnce checks that unpacking a text allocates little more memory than the text needs.
func TestUnzipOnce(t *testing.T) {
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	z.Write(bytes.Repeat([]byte("1, "), 10_000_000))
	z.Close()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	text, err := unzip(b.String(), DefaultLimit)
	if err != nil || len(text) != 30_000_000 {
		t.Fatal(len(text), err)
	}
	if _, err := unzip(b.String(), 29_999_999); err == nil {
		t.Error("a text that is too long is unpacked")
	}
	if runtime.ReadMemStats(&after); after.TotalAlloc-before.TotalAlloc > 32_000_000 {
		t.Errorf("to unpack 30 MB takes %d bytes", after.TotalAlloc-before.TotalAlloc)
	}
}

// TestUnzipParts unpacks files of several parts, whose last bytes have the length of the last part.
func TestUnzipParts(t *testing.T) {
	for _, parts := range [][]string{{""}, {"a"}, {"abc", ""}, {"", "abc"}, {strings.Repeat("1,", 50_000), "2"}, {"1", strings.Repeat("2,", 50_000)}} {
		var b bytes.Buffer
		for _, part := range parts {
			z := gzip.NewWriter(&b)
			z.Write([]byte(part))
			z.Close()
		}
		want := strings.Join(parts, "")
		if got, err := unzip(b.String(), int64(len(want))); err != nil || got != want {
			t.Errorf("%d bytes unpack to %d (%v)", len(want), len(got), err)
		}
		if _, err := unzip(b.String(), int64(len(want))-1); err == nil && want != "" {
			t.Errorf("%d bytes exceed the limit", len(want))
		}
	}
}

// TestTableFaults checks the errors about fields that are not 64-bit numbers and about headers that
// are not names.
func TestTableFaults(t *testing.T) {
	for text, want := range map[string]string{
		"y\n1\n1e999\n":   "d.csv:3:1: y is 1e999 in row 2, which is too large for a 64-bit floating-point number",
		"y\n-1e999\n1\n":  "d.csv:2:1: y is -1e999 in row 1, which is too large for a 64-bit floating-point number",
		"y\r1\r2\r":       `d.csv:1:1: the name of column 1 has control characters: "y\r1\r2"`,
		"\"y\nz\",y\n1,2": `d.csv:1:1: the name of column 1 has control characters: "y\nz"`,
	} {
		s, err := ParseTable("d.csv", text, Options{})
		if err == nil && s.Fault("y") != nil {
			err = s.Fault("y")
		}
		if err == nil || err.Error() != want {
			t.Errorf("%q: %v", text, err)
		}
	}
	s, err := ParseTable("d.csv", "y\r\nInf\r\n-inf\r\n", Options{})
	if err != nil || s.Fault("y") != nil {
		t.Error(err)
	}
}

// TestMixedColumn checks that one string among numbers is an error and does not make the column a
// factor.
func TestMixedColumn(t *testing.T) {
	s, err := ParseTable("d.csv", "x,y,g\n1,1.5,1a\n2,oops,1\n3,2.5,b\n4,3.5,2\n", Options{})
	if err != nil {
		t.Fatal(err)
	}
	if e := s.Fault("y"); e == nil || e.Error() != `d.csv:3:1: y is "oops" in row 2, and a number in 3 of 4 rows` {
		t.Error(e)
	}
	if g, ok := s.Get("g"); !ok || fmt.Sprint(g.Ints) != "[2 1 4 3]" || fmt.Sprint(s.Levels("g")) != "[1 1a 2 b]" {
		t.Error(g, s.Levels("g"), s.Fault("g"))
	}
}

// TestDumpLevels checks that the values of a factor in an R dump are numbers of the levels that it
// had in the data of the fit.
func TestDumpLevels(t *testing.T) {
	fit, err := ParseDump("fit.R", `g <- structure(c(3L, 1L, 2L), levels = c("b", "a", "c"), class = "factor")`, Options{})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		text         string
		open         bool
		want, levels string
	}{
		{`g <- structure(1:2, levels = c("a", "c"), class = "factor")`, false, "[2 3]", "[b a c]"},
		{`g <- structure(c(2L, 2L), levels = c("a", "b", "d"), class = "factor")`, false, "[1 1]", "[b a c]"},
		{`g <- structure(1:2, levels = c("d", "a"), class = "factor")`, true, "[4 2]", "[b a c d]"},
		{`g <- c(3L, 1L)`, false, "[3 1]", "[]"},
		{`h <- structure(1:2, levels = c("a", "c"), class = "factor")`, false, "[1 2]", "[a c]"},
	} {
		s, err := ParseDump("new.R", c.text, Options{As: fit, NewLevels: c.open})
		if err != nil {
			t.Errorf("%s: %v", c.text, err)
			continue
		}
		name := c.text[:1]
		if v, _ := s.Get(name); fmt.Sprint(v.Ints) != c.want || fmt.Sprint(v.Reals) != c.want || fmt.Sprint(s.Levels(name)) != c.levels {
			t.Errorf("%s: %v, %v", c.text, v, s.Levels(name))
		}
	}
	s, err := ParseDump("new.R", `g <- structure(1:2, levels = c("a", "d"), class = "factor")`, Options{As: fit})
	if err == nil {
		err = s.Fault("g")
	}
	if want := `g is "d" in row 2, which is none of the 3 levels in the data of the fit`; err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("%v, want %s", err, want)
	}
}
