package check_test

import (
	"slices"
	"testing"

	"github.com/ppl-lang/ppl/lang"
	"github.com/ppl-lang/ppl/lang/check"
	"github.com/ppl-lang/ppl/lang/check/checktest"
	"github.com/ppl-lang/ppl/lang/diag"
	"github.com/ppl-lang/ppl/lang/internal/errtest"
	"github.com/ppl-lang/ppl/lang/source"
)

// checkFile parses a program, and checks it if it has no syntax errors.
func checkFile(f *source.File) diag.List {
	tree, diags := lang.Parse(f)
	if diags.HasErrors() {
		return diags
	}
	_, more := check.Check(tree, checktest.Universe())
	return append(diags, more...)
}

func TestDiagnostics(t *testing.T) {
	errtest.Glob(t, "testdata/*.ppl", func(f *source.File) diag.List {
		return slices.DeleteFunc(checkFile(f), func(d diag.Diagnostic) bool { return d.Code.Pedantic() })
	})
}

func TestPedantic(t *testing.T) { errtest.Glob(t, "testdata/pedantic/*.ppl", checkFile) }

// TestCodeExamples runs the example of every code that check reports.
func TestCodeExamples(t *testing.T) {
	errtest.Examples(t, "codes_check.go", checkFile, diag.BeyondStan)
	errtest.Examples(t, "codes_rules.go", checkFile)
	errtest.Examples(t, "codes_warn.go", checkFile)
	errtest.Examples(t, "codes_pedantic.go", checkFile)
}

// TestExtensions checks that the example of BeyondStan has an extension, and its fixed form none.
func TestExtensions(t *testing.T) {
	e, _ := diag.Explain(diag.BeyondStan)
	for text, want := range map[string]int{e.Example: 1, e.Fixed: 0, "data { int N; vector<missing>[N] y; }": 1} {
		tree, _ := lang.Parse(source.NewFile("m.model", text))
		info, list := check.Check(tree, checktest.Universe())
		if found := check.Extensions(tree, info); list.HasErrors() || len(found) != want {
			t.Errorf("%s: %v, %v", text, list, found)
		}
	}
}
