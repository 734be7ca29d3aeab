package types

import "testing"

// TestLeavesOfDeepTuples checks that the cost of the leaves of a nested tuple is proportional to
// their number: each takes one allocation, independently of its depth.
func TestLeavesOfDeepTuples(t *testing.T) {
	for _, depth := range []int{0, 1, 2, 100, 200, 800} {
		left, right := RealType, RealType
		for range depth {
			left = Type{Kind: Tuple, Members: []Type{left, RealType}}
			right = Type{Kind: Tuple, Members: []Type{RealType, right}, Dims: 1}
		}
		for _, x := range []Type{left, right} {
			leaves := x.Leaves()
			if len(leaves) != depth+1 || x.NumLeaves() != depth+1 {
				t.Errorf("depth %d: %d leaves, counted as %d", depth, len(leaves), x.NumLeaves())
			}
			if n := testing.AllocsPerRun(1, func() { x.Leaves() }); n > float64(depth+40) {
				t.Errorf("depth %d: %v allocations", depth, n)
			}
			if n := testing.AllocsPerRun(1, func() { x.LeafRange(1) }); n > 0 {
				t.Errorf("depth %d: a range takes %v allocations", depth, n)
			}
		}
		if last := right.Leaves()[depth]; last.Type.Dims != depth || len(last.Path) != depth {
			t.Errorf("depth %d: %+v", depth, last)
		}
	}
}
