package passes

import (
	"testing"

	"github.com/ppl-lang/ppl/ad"
)

// TestMergePays: a sum whose rows repeat is merged, also if most of them differ, but not if
// another sum needs what it is computed of for all rows anyway.
func TestMergePays(t *testing.T) {
	const rows, groups = 60, 40
	table, y := make([]int32, rows), make([]float64, rows)
	for i := range rows {
		table[i], y[i] = int32(i%groups), float64(i)
	}
	for _, c := range []struct {
		groups int32
		shared bool
		merged bool
	}{
		{groups, false, true}, {groups, true, false}, {5, true, true}, {rows * 4 / 5, false, false},
	} {
		g := ad.NewGraph()
		x := g.Input(ad.Type{Shape: []int{rows}})
		for i := range table {
			table[i] = int32(i) % c.groups
		}
		scale := g.Do(ad.OpExp, nil, g.Gather(x, ad.Index{Dims: []ad.Dim{{N: rows, Table: table}}}))
		lp := g.Sum(g.Do(ad.OpLog1p, nil, scale))
		if c.shared {
			lp = g.Add(lp, g.Sum(g.Mul(g.ConstArray(ad.Type{Shape: []int{rows}}, y), scale)))
		}
		g.Output(lp)
		if merged := mergeRows(g) != g; merged != c.merged {
			t.Errorf("%d of %d rows differ, shared %v: merged is %v", c.groups, rows, c.shared, merged)
		}
		at := make([]float64, rows)
		for i := range at {
			at[i] = float64(i%7) / 3
		}
		sameAfter(t, g, mergeRows, ad.OpInvalid, 1e-13, at)
	}
}
