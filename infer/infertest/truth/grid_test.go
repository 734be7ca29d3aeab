package truth

import (
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/ppl-lang/ppl/internal/short"
)

// TestNodesSuffice integrates hierarchies with twice as many nodes along the mean. (The mean is
// known much better where the scale of the groups is small.) No figure may change by more than a
// hundredth of its standard deviation.
func TestNodesSuffice(t *testing.T) {
	for _, seed := range short.Every(2, []uint64{1, 2}) {
		for _, target := range Drawn(seed) {
			if !strings.HasPrefix(target.Name, "hierarchy") {
				continue
			}
			finer := *target.integral
			finer.box = slices.Clone(finer.box)
			finer.box[0].n = 2*finer.box[0].n - 1
			more := finer.quantities(newGrid(finer.box, finer.marginal))
			for i, q := range target.Quantities() {
				if off := math.Abs(q.Truth-more[i].Truth) / q.SD; !(off < 0.01) {
					t.Errorf("%s, seed %d: %s is %v, but %v with more nodes: %.2g standard deviations", target.Name, seed, q.Name, q.Truth, more[i].Truth, off)
				}
			}
		}
	}
}
