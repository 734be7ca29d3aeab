package ir_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/ppl-lang/ppl/compile/ir"
	"github.com/ppl-lang/ppl/lang"
	"github.com/ppl-lang/ppl/lang/check"
	"github.com/ppl-lang/ppl/lang/check/checktest"
	"github.com/ppl-lang/ppl/lang/source"
)

// TestStanc3 lowers all of stanc3's good programs that the checker accepts
// (PPL_STANC3 is its checkout, PPL_SIGNATURES Stan's signatures): the result must
// verify and print.
func TestStanc3(t *testing.T) {
	dir, sigs := os.Getenv("PPL_STANC3"), os.Getenv("PPL_SIGNATURES")
	if dir == "" || sigs == "" {
		t.Skip("PPL_STANC3 and PPL_SIGNATURES are not set")
	}
	lib, err := checktest.Stan(sigs)
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	err = filepath.WalkDir(filepath.Join(dir, "test/integration/good"), func(path string, _ fs.DirEntry, err error) error {
		if err != nil || filepath.Ext(path) != ".stan" {
			return err
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		f, diags := lang.Parse(source.NewFile(path, string(text)))
		if diags.HasErrors() {
			return nil
		}
		info, diags := check.Check(f, lib)
		if diags.HasErrors() {
			return nil
		}
		n++
		p := ir.Lower(f, info)
		if err := p.Verify(); err != nil {
			t.Errorf("%s: %v", path, err)
		}
		_ = p.String()
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%d programs lowered", n)
}
