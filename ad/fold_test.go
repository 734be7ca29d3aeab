package ad_test

import (
	"runtime"
	"testing"

	"github.com/ppl-lang/ppl/ad"
)

// TestFoldedTables checks the index table of a node that was folded to a constant. Tables are
// identified by their address, so its memory must not be reused for another table.
func TestFoldedTables(t *testing.T) {
	g := ad.NewGraph()
	data := make([]float64, 100)
	for i := range data {
		data[i] = float64(i)
	}
	x := g.ConstArray(ad.Type{Shape: []int{100}}, data)
	for round := range 200 {
		if round%20 == 0 {
			runtime.GC()
		}
		table := make([]int32, 64)
		for i := range table {
			table[i] = int32((round + i*i) % 100)
		}
		r := g.Gather(x, ad.Index{Dims: []ad.Dim{{N: len(table), Table: table}}})
		v, ok := g.Value(r)
		if !ok {
			t.Fatal("not folded")
		}
		for i, e := range table {
			if v[i] != float64(e) {
				t.Fatalf("round %d: element %d is %v, want %d", round, i, v[i], e)
			}
		}
	}
}

// TestEqualTables checks that index tables are identified by their content.
func TestEqualTables(t *testing.T) {
	g := ad.NewGraph()
	x := g.Input(ad.Type{Shape: []int{10}})
	table := func(last int32) ad.Index {
		return ad.Index{Dims: []ad.Dim{{N: 4, Table: []int32{3, 1, 4, last}}, {N: 2, Stride: 1}}}
	}
	a, b, c := g.Gather(x, table(5)), g.Gather(x, table(5)), g.Gather(x, table(6))
	if a != b || a == c {
		t.Errorf("gathers by equal tables are nodes %d and %d, by another table %d", a, b, c)
	}
	y := g.Exp(a)
	if r, s := g.Scatter(y, table(5), []int{10}), g.Scatter(y, table(5), []int{10}); r != s {
		t.Errorf("scatters by equal tables are nodes %d and %d", r, s)
	}
	// A part of a table is another table, even if it begins at the same address.
	long := []int32{1, 2, 3, 4, 0, 7, 7, 1}
	whole := g.Gather(x, ad.Index{Dims: []ad.Dim{{N: 8, Table: long}}})
	part := g.Gather(x, ad.Index{Dims: []ad.Dim{{N: 5, Table: long}}})
	again := g.Gather(x, ad.Index{Dims: []ad.Dim{{N: 8, Table: append([]int32(nil), long...)}}})
	if whole != again || part == whole || g.Type(part).Size() != 5 {
		t.Errorf("nodes %d and %d for a table, %d for a part of it", whole, again, part)
	}
}
