package passes

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/ppl-lang/ppl/ad"
	"github.com/ppl-lang/ppl/compile/internal/loopnest"
)

// TestSlicesOfSums checks slices of sums of scatters of every kind: contiguous ones that fill the
// slice, end before it or overlap it, and scatters with strides and tables. The pass must not
// change a bit, and must take slices from the terms where it can.
func TestSlicesOfSums(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 9))
	taken, left := 0, 0
	for range 2000 {
		size := 1 + rng.IntN(9)
		g := ad.NewGraph()
		n := 1 + rng.IntN(size)
		x := g.Input(ad.Type{Shape: []int{size}})
		y := g.Exp(x)
		one := func() ad.Ref {
			n := 1 + rng.IntN(n)
			ix := ad.Index{Offset: rng.IntN(size - n + 1), Dims: []ad.Dim{{N: n, Stride: 1}}}
			switch rng.IntN(4) {
			case 0:
				ix = ad.Index{Offset: rng.IntN(size), Dims: []ad.Dim{{N: n, Stride: 0}}}
			case 1:
				table := make([]int32, n)
				for i := range table {
					table[i] = int32(rng.IntN(size))
				}
				ix = ad.Index{Dims: []ad.Dim{{N: n, Table: table}}}
			}
			return g.Scatter(g.Mul(g.Slice(y, 0, []int{n}), g.Const(1+rng.Float64())), ix, []int{size})
		}
		sum := one()
		for range rng.IntN(4) {
			if rng.IntN(2) == 0 {
				sum = g.Add(sum, one())
			} else {
				sum = g.Add(one(), g.Add(one(), sum))
			}
		}
		lo := rng.IntN(size)
		hi := lo + 1 + rng.IntN(size-lo)
		g.Output(g.Slice(sum, lo, []int{hi - lo}))
		g.Output(g.Concat(x, x)) // without tables and concatenations the pass does nothing
		h := sliceTables(g, &Options{})
		if err := loopnest.VerifyGraph(h); err != nil {
			t.Fatal(err)
		}
		out := &h.Nodes[h.Outputs[0]]
		if out.Op == ad.OpGather && h.Nodes[out.Args[0]].Op == ad.OpAdd {
			left++
		} else {
			taken++
		}
		in := make([]float64, size)
		for i := range in {
			in[i] = rng.NormFloat64()
		}
		want, err := g.Eval([][]float64{in}, &ad.Env{})
		if err != nil {
			t.Fatal(err)
		}
		got, err := h.Eval([][]float64{in}, &ad.Env{})
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(got[0], want[0]) {
			t.Fatalf("elements %d to %d of %d are %v, want %v", lo, hi, size, got[0], want[0])
		}
	}
	if taken < 500 || left < 100 {
		t.Errorf("%d slices come from the terms, and %d do not", taken, left)
	}
}

// TestSliceOfSum checks that the adjoint of a part of a concatenation is the term that fills it, so
// that no array is stored in between.
func TestSliceOfSum(t *testing.T) {
	const n = 600
	g := ad.NewGraph()
	x := g.Input(ad.Type{Shape: []int{n + 1}})
	point := g.Concat(g.Slice(x, 0, []int{1}), g.Exp(g.Slice(x, 1, []int{n})))
	scale := g.Slice(point, 0, []int{})
	g.Output(g.Sum(g.Mul(g.Square(g.Slice(point, 1, []int{n})), scale)))
	g.Output(g.Grad(g.Outputs[0], x)[0])
	p, err := Run(g, Options{Verify: true})
	if err != nil {
		t.Fatal(err)
	}
	maps := 0
	for _, b := range p.Main.Blocks {
		if b.Kind == loopnest.MapBlock && b.N == n {
			maps++
		}
	}
	if maps != 1 {
		t.Errorf("%d loops over the elements, want 1", maps)
	}
}
