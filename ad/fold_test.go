package ad_test

import (
	"runtime"
	"testing"

	"github.com/ppl-lang/ppl/ad"
)

// TestFoldedTables: a table that was folded away does not lend its address, by
// which tables are known, to another one.
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
