package ir_test

import (
	"cmp"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/ppl-lang/ppl/compile/ir"
	"github.com/ppl-lang/ppl/lang"
	"github.com/ppl-lang/ppl/lang/check"
	"github.com/ppl-lang/ppl/lang/source"
	"github.com/ppl-lang/ppl/stdlib"
)

// TestStanc3 parses, checks and lowers stanc3's valid programs with our library; PPL_STANC3 is a
// checkout of stanc3. Verify must accept the lowered programs. The test counts the other programs
// by reason, most frequent first (run with -v).
func TestStanc3(t *testing.T) {
	dir := os.Getenv("PPL_STANC3")
	if dir == "" {
		t.Skip("PPL_STANC3 is not set to a checkout of stanc3")
	}
	reasons, total, accepted := map[string]int{}, 0, 0
	err := filepath.WalkDir(filepath.Join(dir, "test/integration/good"), func(path string, _ fs.DirEntry, err error) error {
		if err != nil || filepath.Ext(path) != ".stan" {
			return err
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		total++
		f, diags := lang.Parse(source.NewFile(path, string(text)))
		if !diags.HasErrors() {
			var info *check.Info
			if info, diags = check.Check(f, stdlib.Language()); !diags.HasErrors() {
				accepted++
				p := ir.Lower(f, info, stdlib.Language())
				if err := p.Verify(); err != nil {
					t.Errorf("%s: %v", path, err)
				}
				_ = p.String()
				return nil
			}
		}
		reasons[diags.Errors()[0].String()]++
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%d of %d programs accepted", accepted, total)
	order := slices.SortedFunc(maps.Keys(reasons), func(a, b string) int {
		return cmp.Or(reasons[b]-reasons[a], strings.Compare(a, b))
	})
	for _, r := range order {
		t.Logf("%5d %s", reasons[r], r)
	}
}
