package lang_test

import (
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/ppl-lang/ppl/lang"
	"github.com/ppl-lang/ppl/lang/diag"
	"github.com/ppl-lang/ppl/lang/source"
)

// FuzzParse looks for texts on which the parser panics, gives impossible spans, or accepts a
// program that changes when printed and parsed again. The seeds are all programs of the tests:
// valid ones, those with errors, and the examples of the codes.
func FuzzParse(f *testing.F) {
	for _, g := range good(f) {
		f.Add(g.Text)
	}
	names, _ := filepath.Glob("testdata/syntax/*.model")
	for _, name := range names {
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
		tree, diags := lang.Parse(file)
		if tree == nil {
			t.Fatal("no tree")
		}
		for _, d := range diags {
			if s := d.Span; s.File != file || s.Start < 0 || s.Start > s.End || s.End > len(text) {
				t.Errorf("diagnostic with impossible span [%d, %d): %s", s.Start, s.End, d)
			}
			if d.Summary == "" || d.Code == "" {
				t.Errorf("diagnostic without words or code: %+v", d)
			}
		}
		if err := diag.Render(io.Discard, diags, diag.Options{Color: true, Width: 20}); err != nil {
			t.Error(err)
		}
		if err := checkSpans(tree); err != nil {
			t.Error(err)
		}
		if !diags.HasErrors() {
			if err := checkTree(tree); err != nil {
				t.Error(err)
			}
		}
	})
}
