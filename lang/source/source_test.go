package source_test

import (
	"testing"

	"github.com/ppl-lang/ppl/lang/source"
)

func TestPosition(t *testing.T) {
	f := source.NewFile("f", "ab\r\n\néx\n")
	tests := []struct{ offset, line, column int }{
		{0, 1, 1}, {2, 1, 3}, {4, 2, 1}, {5, 3, 1}, {7, 3, 2}, {9, 4, 1}, {99, 4, 1}, {-1, 1, 1},
	}
	for _, test := range tests {
		p := f.Position(test.offset)
		if p.Line != test.line || p.Column != test.column || p.File != "f" {
			t.Errorf("offset %d: %+v, want line %d, column %d", test.offset, p, test.line, test.column)
		}
	}
	for n, want := range []string{"", "ab", "", "éx", "", ""} {
		if got := f.Line(n); got != want {
			t.Errorf("line %d: %q, want %q", n, got, want)
		}
	}
	for n, want := range []int{9, 0, 4, 5, 9, 9} {
		if got := f.LineStart(n); got != want {
			t.Errorf("line %d starts at %d, want %d", n, got, want)
		}
	}
}

func TestSpan(t *testing.T) {
	f, g := source.NewFile("f", "abcdef"), source.NewFile("g", "x")
	a, b := source.Span{File: f, Start: 1, End: 2}, source.Span{File: f, Start: 3, End: 5}
	var nowhere source.Span
	if s := source.Join(b, a); s.Start != 1 || s.End != 5 || s.Text() != "bcde" {
		t.Errorf("%+v", s)
	}
	if source.Join(a, nowhere) != a || source.Join(nowhere, a) != a || source.Join(nowhere, nowhere) != nowhere {
		t.Error("a span that is nowhere must not count")
	}
	if s := source.Join(a, source.Span{File: g, End: 1}); s != a {
		t.Errorf("across files: %+v", s)
	}
	if nowhere.IsValid() || nowhere.Text() != "" || nowhere.Begin() != (source.Position{}) {
		t.Error("nowhere")
	}
}
