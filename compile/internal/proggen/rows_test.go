package proggen

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"slices"
	"strconv"
	"testing"

	"github.com/ppl-lang/ppl/internal/short"
)

// TestRowsWellTyped checks that programs of loops over rows are well typed, that equal seeds give
// equal programs, and that every kind of statement occurs.
func TestRowsWellTyped(t *testing.T) {
	used := map[string]int{}
	for seed := range uint64(short.Of(300, 60)) {
		p := NewRows(seed)
		if err := valid(p.Text); err != nil {
			t.Fatalf("seed %d\n%s\n%v", seed, p.Text, err)
		}
		if q := NewRows(seed); q.Text != p.Text || q.Data != p.Data {
			t.Fatalf("seed %d gives two programs", seed)
		}
		for _, name := range p.Patterns {
			used[name]++
		}
	}
	for _, s := range rowStatements() {
		if used[s.name] == 0 {
			t.Errorf("the statement %q is not used", s.name)
		}
	}
}

// TestSizes checks that the sizes in generated programs include values on both sides of each of the
// compiler's thresholds: every number up to 1100 in the files that define them.
func TestSizes(t *testing.T) {
	files, err := filepath.Glob("../*/tuning.go")
	if err != nil || len(files) < 4 {
		t.Fatal("no thresholds", files, err)
	}
	found := 0
	for _, file := range files {
		f, err := parser.ParseFile(token.NewFileSet(), file, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(f, func(n ast.Node) bool {
			if shift, ok := n.(*ast.BinaryExpr); ok && shift.Op == token.SHL {
				return false
			}
			lit, ok := n.(*ast.BasicLit)
			if !ok || lit.Kind != token.INT {
				return true
			}
			v, err := strconv.Atoi(lit.Value)
			if err != nil || v < 2 || v > 1100 {
				return true
			}
			found++
			for _, size := range []int{v - 1, v, v + 1} {
				if !slices.Contains(Sizes, size) {
					t.Errorf("%s has %d; there are no programs of size %d", file, v, size)
				}
			}
			return true
		})
	}
	if found < 50 || !slices.IsSorted(Sizes) {
		t.Errorf("%d thresholds, sizes %v", found, Sizes)
	}
}
