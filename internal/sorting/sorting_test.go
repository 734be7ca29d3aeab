package sorting

import (
	"bytes"
	"cmp"
	"io/fs"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"
)

// element is an element with its first place.
type element struct{ key, place int }

// TestStable compares Stable with the standard library, for lengths on both sides of each length of
// runs, and for few and many equal elements.
func TestStable(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	compare := func(a, b element) int { return cmp.Compare(a.key, b.key) }
	for _, keys := range []int{1, 2, 5, 1000} {
		for n := range 5*run + 2 {
			for range 20 {
				x := make([]element, n)
				for i := range x {
					x[i] = element{rng.IntN(keys), i}
				}
				want := slices.Clone(x)
				slices.SortStableFunc(want, compare)
				if Stable(x, compare); !slices.Equal(x, want) {
					t.Fatalf("%d elements, keys below %d: %v, want %v", n, keys, x, want)
				}
			}
		}
	}
}

// TestSorted checks that a slice in order costs no memory.
func TestSorted(t *testing.T) {
	x := make([]int, 100)
	for i := range x {
		x[i] = i / 3
	}
	if n := testing.AllocsPerRun(10, func() { Stable(x, cmp.Compare[int]) }); n != 0 {
		t.Errorf("%v allocations for a slice in order, want 0", n)
	}
}

// large lists the files that sort for each draw, or rows of data, by the standard library.
var large = []string{"infer/psis/psis.go", "infer/internal/quick/sort.go", "compile/internal/loopnest/rows.go"}

// TestUsed checks that what is part of ppl sorts by this package, except large.
func TestUsed(t *testing.T) {
	root := os.DirFS("../..")
	found := 0
	err := fs.WalkDir(root, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && (name == "examples" || name == "internal" || d.Name() == "cmd" && name != "cmd") {
			return fs.SkipDir
		}
		if !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go") || strings.Contains(name, "proggen/") {
			return nil
		}
		text, err := fs.ReadFile(root, name)
		if err != nil {
			return err
		}
		if !bytes.Contains(text, []byte("slices.SortFunc(")) && !bytes.Contains(text, []byte("slices.SortStableFunc(")) {
			return nil
		}
		found++
		if !slices.Contains(large, name) {
			t.Errorf("%s sorts by package slices: use sorting.Stable, or add it to large", name)
		}
		return nil
	})
	if err != nil || found != len(large) {
		t.Errorf("%d files sort by package slices, want the %d in large (%v)", found, len(large), err)
	}
}
