package check_test

import (
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/ppl-lang/ppl/lang"
	"github.com/ppl-lang/ppl/lang/check"
	"github.com/ppl-lang/ppl/lang/check/checktest"
	"github.com/ppl-lang/ppl/lang/diag"
	"github.com/ppl-lang/ppl/lang/source"
)

// TestStanc3 runs stanc3's good and bad programs (PPL_STANC3 is its checkout)
// over the signatures of all of Stan (PPL_SIGNATURES). It reports by reason; a
// bar is set once the whole language is supported. Run with -v, and with
// PPL_STANC3_LIST=CODE to list the programs with that code (good ones; ACCEPTED
// for the bad ones that pass).
func TestStanc3(t *testing.T) {
	dir, sigs := os.Getenv("PPL_STANC3"), os.Getenv("PPL_SIGNATURES")
	if dir == "" || sigs == "" {
		t.Skip("PPL_STANC3 and PPL_SIGNATURES are not set")
	}
	lib, err := checktest.Stan(sigs)
	if err != nil {
		t.Fatal(err)
	}
	list := os.Getenv("PPL_STANC3_LIST")
	for _, kind := range []string{"good", "bad"} {
		count := map[string]int{}
		total := 0
		err := filepath.WalkDir(filepath.Join(dir, "test/integration", kind), func(path string, _ fs.DirEntry, err error) error {
			if err != nil || filepath.Ext(path) != ".stan" {
				return err
			}
			text, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			total++
			reason, first := verdict(source.NewFile(path, string(text)), lib)
			count[reason]++
			if list != "" && strings.HasPrefix(reason, list) && (reason == "ACCEPTED") == (kind == "bad") {
				t.Logf("%s: %s", path, first)
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		t.Logf("%s: %d of %d programs accepted", kind, count["ACCEPTED"], total)
		for _, r := range slices.Sorted(maps.Keys(count)) {
			t.Logf("%6d %s", count[r], r)
		}
	}
}

// verdict is the first error of a program, as "CODE Name" with the summary for
// what is not supported.
func verdict(f *source.File, lib check.Universe) (reason, first string) {
	tree, diags := lang.Parse(f)
	if !diags.HasErrors() {
		_, diags = check.Check(tree, lib)
	}
	errs := diags.Errors()
	if len(errs) == 0 {
		return "ACCEPTED", ""
	}
	d := errs[0]
	reason = string(d.Code)
	if e, ok := diag.Explain(d.Code); ok {
		reason += " " + e.Name
	}
	if d.Code == diag.NotSupported {
		reason += ": " + d.Summary
	}
	return reason, d.String()
}
