package lanes

import (
	"slices"
	"testing"

	"github.com/ppl-lang/ppl/compile/internal/plan"
)

func free(int, ...int) {}

// TestSides checks which lanes take each side of a condition, for no, one and two lanes.
func TestSides(t *testing.T) {
	for _, c := range []struct {
		ints      []int64
		then, els []int32 // lanes of each side; nil: the side has none
	}{
		{nil, nil, nil},
		{[]int64{1}, []int32{0}, nil},
		{[]int64{0}, nil, []int32{0}},
		{[]int64{2, 3}, []int32{0, 1}, nil},
		{[]int64{0, 1}, []int32{1}, []int32{0}},
	} {
		ax, _ := Iterations(len(c.ints), nil, nil, free)
		for k, side := range Sides(Value{Axis: ax, Ints: c.ints}, ax) {
			want := [2][]int32{c.then, c.els}[k]
			switch {
			case side == nil:
				if want != nil {
					t.Errorf("%v: side %d is missing", c.ints, k)
				}
			case side == ax:
				if len(want) != ax.N {
					t.Errorf("%v: side %d is all lanes, want %v", c.ints, k, want)
				}
			case !slices.Equal(side.Up, want) || !side.Subset || side.Parent != ax:
				t.Errorf("%v: side %d is %v, want %v", c.ints, k, side.Up, want)
			}
		}
	}
}

// TestRagged checks the iterations of loops whose bounds differ between lanes. Some lanes have no
// iterations.
func TestRagged(t *testing.T) {
	ax, number := Iterations(3, nil, nil, free)
	in, i := Ragged(Int(2), Value{Axis: ax, Ints: []int64{3, 1, 2}}, ax, free)
	if in.N != 3 || !slices.Equal(in.Up, []int32{0, 0, 2}) || !slices.Equal(i.Ints, []int64{2, 3, 2}) {
		t.Errorf("iterations %v of lanes %v", i.Ints, in.Up)
	}
	if wide := number.Wide(in); !slices.Equal(wide.Ints, []int64{1, 1, 3}) {
		t.Errorf("numbers of the loop around %v", wide.Ints)
	}
	if out := Excluded(nil, in, ax); !slices.Equal(out, []bool{false, true, false}) {
		t.Errorf("lanes without iterations %v", out)
	}
	masks := []Mask{{Cond: Value{Axis: ax, Ints: []int64{1, 1, 0}}, Side: true}}
	if out := Excluded(masks, in, in); !slices.Equal(out, []bool{false, false, true}) {
		t.Errorf("lanes that a condition leaves out %v", out)
	}
	if in, _ = Ragged(Int(1), Value{Axis: ax, Ints: []int64{0, 0, 0}}, ax, free); in.N != 0 {
		t.Errorf("%d iterations, not 0", in.N)
	}
}

// TestPut checks that reading elements returns the numbers that were put into them.
func TestPut(t *testing.T) {
	ax := &plan.Axis{N: 2, Up: []int32{0, 0}}
	v := Value{Shape: []int{2}, Axis: ax, Ints: make([]int64, 4)}
	acc := Access{Axis: ax, Base: []int32{1, 0}, Index: Contiguous(nil)}
	v.Put(acc, Value{Axis: ax, Ints: []int64{7, 8}}, ax)
	if want := []int64{0, 7, 8, 0}; !slices.Equal(v.Ints, want) {
		t.Errorf("content %v, want %v", v.Ints, want)
	}
	if got := v.Gather(acc).Ints; !slices.Equal(got, []int64{7, 8}) {
		t.Errorf("read %v", got)
	}
}
