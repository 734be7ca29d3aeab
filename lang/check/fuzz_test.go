package check_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/ppl-lang/ppl/lang"
	"github.com/ppl-lang/ppl/lang/check"
	"github.com/ppl-lang/ppl/lang/check/checktest"
	"github.com/ppl-lang/ppl/lang/diag"
	"github.com/ppl-lang/ppl/lang/source"
)

// FuzzCheck looks for programs on which the checker panics or gives impossible spans, including
// trees from which the parser has lost statements. The seeds are the programs of the tests and the
// examples of the codes.
func FuzzCheck(f *testing.F) {
	names, _ := filepath.Glob("testdata/*.ppl")
	more, _ := filepath.Glob("../testdata/*/*.model")
	for _, name := range append(names, more...) {
		text, err := os.ReadFile(name)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(string(text))
	}
	for _, e := range diag.Explanations() {
		f.Add(e.Example)
		f.Add(e.Fixed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		file := source.NewFile("fuzz", text)
		tree, list := lang.Parse(file)
		if list.HasErrors() && !lang.Recovered(list) {
			return
		}
		_, more := check.Check(tree, checktest.Universe())
		for _, d := range more {
			if s := d.Span; s.File != file || s.Start < 0 || s.End < s.Start || s.End > len(text) {
				t.Errorf("impossible span of %s: %+v", d, s)
			}
			_ = d.String()
		}
	})
}

// TestDeep checks nesting at the limit of the parser.
func TestDeep(t *testing.T) {
	for _, c := range []struct{ open, mid, close string }{
		{"model { real x = ", "1", "; }"},
		{"transformed data { array[1] int x; x[", "1", "] = 1; }"},
	} {
		for _, p := range [][2]string{{"(", ")"}, {"{", "}"}, {"[", "]"}, {"-", ""}, {"1 + ", ""}, {"1 ? 2 : ", ""}, {"exp(", ")"}, {"2 ^ ", ""}} {
			for _, n := range []int{100, 900, 5000} {
				text := c.open + repeat(p[0], n) + c.mid + repeat(p[1], n) + c.close
				tree, list := lang.Parse(source.NewFile("deep", text))
				if !list.HasErrors() || lang.Recovered(list) {
					check.Check(tree, checktest.Universe())
				}
			}
		}
	}
}

func repeat(s string, n int) string {
	b := make([]byte, 0, n*len(s))
	for range n {
		b = append(b, s...)
	}
	return string(b)
}
