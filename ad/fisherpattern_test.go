package ad

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// TestRows builds rows from other rows in any order, few and many, shared and not.
func TestRows(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for _, n := range []int{1, 2, 63, 64, 65, 1000} {
		words := (n + 63) / 64
		var made []row
		for i := range n {
			made = append(made, row{few: []int32{int32(i)}})
		}
		for range 300 {
			var r growing
			want := make([]bool, n)
			for range rng.IntN(2 + n/4) {
				o := made[rng.IntN(len(made))]
				o.each(func(i int) { want[i] = true })
				r.add(o, words)
			}
			r.order()
			got := make([]bool, n)
			last := -1
			r.each(func(i int) {
				if i <= last {
					t.Fatalf("of %d: %d after %d", n, i, last)
				}
				got[i], last = true, i
			})
			if !slices.Equal(got, want) {
				t.Fatalf("of %d: %v, want %v", n, got, want)
			}
			made = append(made, r.row)
		}
	}
}

// TestDependenceOfMany checks that memory for dependences grows with their number, not with the
// square of the number of elements: for a million elements, that would be 128 GB.
func TestDependenceOfMany(t *testing.T) {
	const n = 1 << 20
	g := NewGraph()
	x := g.Input(Type{Shape: []int{n}})
	first := g.Gather(x, Index{Offset: 7})
	moved := g.Mul(g.Exp(x), first)
	sum := g.Sum(moved)
	depends := g.Depends(x)
	of := func(r Ref, e int) (all []int) {
		depends(r, e, func(i int) { all = append(all, i) })
		return all
	}
	for _, e := range []int{0, 7, 8, n - 1} {
		want := []int{min(e, 7), max(e, 7)}
		if got := of(moved, e); !slices.Equal(got, slices.Compact(want)) {
			t.Errorf("element %d depends on %v, want %v", e, got, want)
		}
	}
	if got := of(sum, 0); len(got) != n {
		t.Errorf("the sum depends on %d elements, want %d", len(got), n)
	}
	if got := of(g.Const(2), 0); got != nil {
		t.Errorf("a constant depends on %v", got)
	}
}

// TestDependenceOfLanes checks that a value of one lane depends only on that lane, also through
// regions and functions of whole arrays.
func TestDependenceOfLanes(t *testing.T) {
	const lanes, size = 3, 4
	g := NewGraph()
	x := g.Input(Type{Shape: []int{lanes * size}})
	shared := g.Slice(x, 0, nil)
	v := g.Lane(g.Reshape(x, []int{lanes, size}))
	body := NewGraph()
	c, s := body.Input(Scalar), body.Input(Scalar)
	next := body.Add(c, s)
	body.Outputs = []Ref{next, next}
	scan := g.DoScan(&Scan{Body: body, Carries: 1, Streams: 1, Outs: 1, Steps: size}, []Ref{g.Const(0), v})
	sums := g.Kept(scan, 0)
	for what, r := range map[string]Ref{"sum": g.Sum(v), "scan": sums, "with one that all have": g.Mul(g.Sum(sums), shared)} {
		depends := g.Depends(x)
		per := g.Type(r).Size()
		for l := range lanes {
			var want, got []int
			if what == "with one that all have" && l > 0 {
				want = append(want, 0)
			}
			for e := range size {
				want = append(want, l*size+e)
			}
			depends(r, l*per, func(i int) { got = append(got, i) })
			if !slices.Equal(got, want) {
				t.Errorf("%s: lane %d depends on %v, want %v", what, l, got, want)
			}
		}
	}
}
