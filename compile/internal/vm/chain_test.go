package vm

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
)

// TestLinearRecurrence compares linearRecurrence with its definition, to the last bit, for operands
// that are neighbours in memory, in either direction, and for others.
func TestLinearRecurrence(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	const size = 64
	memory := func() []float64 {
		v := make([]float64, size)
		for i := range v {
			v[i] = rng.NormFloat64()
		}
		return v
	}
	for _, n := range []int{0, 1, 2, 3, 17} {
		for _, s := range [][4]int{
			{1, 1, 1, 1}, {-1, -1, -1, -1}, {0, 1, 1, 1}, {0, -1, -1, -1}, {1, 0, 1, 1}, {1, 1, 0, 1}, {1, 1, 1, 0},
			{2, 2, 2, 2}, {1, 2, 1, 3}, {-2, -1, -1, -1}, {1, -1, 1, 1}, {0, 0, 1, 1}, {0, 1, 0, 0},
		} {
			var got, want [4]walkOperand
			for k, step := range s {
				pos := 5
				if step < 0 {
					pos = size - 5
				}
				data := memory()
				got[k], want[k] = walkOperand{data, pos, step}, walkOperand{slices.Clone(data), pos, step}
			}
			v, name := rng.NormFloat64(), fmt.Sprintf("%d steps, distances %v", n, s)
			result := linearRecurrence(v, n, got[0], got[1], got[2], got[3])
			x, y, history, keeps := &want[0], &want[1], &want[2], &want[3]
			for i := range n {
				at := func(w *walkOperand) *float64 { return &w.data[w.pos+i*w.step] }
				*at(history) = v
				v = float64(v**at(x)) + *at(y)
				*at(keeps) = v
			}
			if result != v {
				t.Errorf("%s: %v, want %v", name, result, v)
			}
			for k := range got {
				if !slices.Equal(got[k].data, want[k].data) {
					t.Errorf("%s: memory of operand %d differs", name, k)
				}
			}
		}
	}
	empty := walkOperand{step: 1}
	if v := linearRecurrence(2, 0, empty, empty, empty, empty); v != 2 {
		t.Errorf("no steps: %v", v)
	}
}
