package assess_test

import (
	"testing"

	"github.com/ppl-lang/ppl/assess"
	"github.com/ppl-lang/ppl/fit"
)

// TestLevelIndexByLength checks what the sizes of a matrix say if the program is not known.
func TestLevelIndexByLength(t *testing.T) {
	for length, want := range map[[2]int]int{{0, 0}: -1, {1, 1}: -1, {2, 2}: -1, {1, 2}: 1, {2, 1}: 0, {40, 3}: 0, {3, 40}: 1} {
		for _, f := range []*fit.Fit{nil, {}} {
			if index, factor, known := assess.LevelIndex(f, "z", length); index != want || factor != "" || known {
				t.Errorf("%v: index %d, %q, known %v", length, index, factor, known)
			}
		}
	}
}
