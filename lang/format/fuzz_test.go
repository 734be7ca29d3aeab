package format_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/ppl-lang/ppl/lang"
	"github.com/ppl-lang/ppl/lang/diag"
	"github.com/ppl-lang/ppl/lang/format"
	"github.com/ppl-lang/ppl/lang/source"
)

// FuzzFormat looks for programs whose meaning formatting changes, that lose comments, or that
// change when formatted again, and for old programs on which upgrading panics.
func FuzzFormat(f *testing.F) {
	names, _ := filepath.Glob("testdata/*.*")
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
		if wrong, _ := problem(source.NewFile("fuzz", text)); wrong != "" {
			t.Errorf("%q: %s", text, wrong)
		}
		upgraded, list := format.Upgrade(source.NewFile("fuzz", text), func(name string) bool { return len(name) > 6 })
		if list.HasErrors() {
			return
		}
		if _, list := lang.ParseWith(source.NewFile("upgraded", upgraded), lang.Options{KeepIncludes: true}); list.HasErrors() {
			t.Fatalf("the upgraded program does not parse: %s\n%s", list.Errors()[0], upgraded)
		}
	})
}
