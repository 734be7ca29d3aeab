package proggen

import (
	"testing"

	"github.com/ppl-lang/ppl/internal/short"
	"github.com/ppl-lang/ppl/lang"
	"github.com/ppl-lang/ppl/lang/check"
	"github.com/ppl-lang/ppl/lang/source"
	"github.com/ppl-lang/ppl/stdlib"
)

// valid returns the first error of a program.
func valid(text string) error {
	tree, list := lang.Parse(source.NewFile("random.model", text))
	if !list.HasErrors() {
		_, list = check.Check(tree, stdlib.Language())
	}
	if list.HasErrors() {
		for _, d := range list {
			if d.Severity == 0 {
				return diagError(d.String())
			}
		}
		return diagError(list[0].String())
	}
	return nil
}

type diagError string

func (e diagError) Error() string { return string(e) }

// TestWellTyped checks that programs of New are well typed, and that equal seeds give equal
// programs.
func TestWellTyped(t *testing.T) {
	for seed := range uint64(100) {
		p := New(seed)
		if err := valid(p.Text); err != nil {
			t.Fatalf("seed %d\n%s\n%v", seed, p.Text, err)
		}
		if q := New(seed); q.Text != p.Text || q.Data != p.Data {
			t.Fatalf("seed %d gives two programs", seed)
		}
	}
}

// TestStatementsWellTyped checks that programs of NewStatements are well typed, and that equal
// seeds give equal programs.
func TestStatementsWellTyped(t *testing.T) {
	for seed := range uint64(short.Of(300, 60)) {
		p := NewStatements(seed)
		if err := valid(p.Text); err != nil {
			t.Fatalf("seed %d\n%s\n%v", seed, p.Text, err)
		}
		if q := NewStatements(seed); q.Text != p.Text || q.Data != p.Data {
			t.Fatalf("seed %d gives two programs", seed)
		}
	}
}
