package passes

import (
	"fmt"
	"testing"

	"github.com/ppl-lang/ppl/ad"
)

// TestDeduplicationPays checks that the rows of a sum are merged if rows repeat, even if most
// differ. They are not merged if another sum needs the same operands for all rows anyway.
func TestDeduplicationPays(t *testing.T) {
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
		if merged := deduplicate(g) != g; merged != c.merged {
			t.Errorf("%d of %d rows differ, shared %v: merged is %v", c.groups, rows, c.shared, merged)
		}
		at := make([]float64, rows)
		for i := range at {
			at[i] = float64(i%7) / 3
		}
		sameAfter(t, g, deduplicate, ad.OpInvalid, 1e-13, at)
	}
}

// TestDeduplicateChecks checks that checks of rows that repeat look at the distinct rows, and that
// the message names the same element as before.
func TestDeduplicateChecks(t *testing.T) {
	const rows, width = 60, 3
	for _, groups := range []int{1, 7, rows * 3 / 4, rows*3/4 + 1, rows} {
		table := make([]int32, rows)
		for i := range table {
			table[i] = int32((i * 11) % groups * width)
		}
		for kind, of := range []func(g *ad.Graph, x ad.Ref) ad.Ref{
			func(g *ad.Graph, x ad.Ref) ad.Ref { // numbers
				return g.Gather(x, ad.Index{Dims: []ad.Dim{{N: rows, Table: table}}})
			},
			func(g *ad.Graph, x ad.Ref) ad.Ref { // vectors, in lanes
				return g.Lane(g.Gather(x, ad.Index{Dims: []ad.Dim{{N: rows, Table: table}, {N: width, Stride: 1}}}))
			},
		} {
			g := ad.NewGraph()
			x := g.Input(ad.Type{Shape: []int{groups, width}})
			g.Check(&ad.Check{Set: ad.Interval{Lo: 0, Hi: 1}, Function: "f", Name: "x", Want: "in [0, 1]"}, of(g, x))
			g.Output(g.Sum(x))
			after := deduplicate(g)
			checked := -1
			for i := range after.Nodes {
				if n := &after.Nodes[i]; n.Op == ad.OpCheck {
					checked = after.Type(n.Args[0]).Total()
				}
			}
			want := groups
			if groups > rows*3/4 {
				want = rows
			}
			if kind == 1 {
				want *= width
			}
			if checked != want {
				t.Errorf("%d groups, kind %d: %d elements are checked, want %d", groups, kind, checked, want)
			}
			for wrong := range groups * width {
				at := make([]float64, groups*width)
				at[wrong] = 2
				_, before := g.Eval([][]float64{at}, &ad.Env{})
				_, now := after.Eval([][]float64{at}, &ad.Env{})
				if fmt.Sprint(now) != fmt.Sprint(before) {
					t.Fatalf("%d groups, kind %d: %v, want %v", groups, kind, now, before)
				}
			}
		}
	}
}

// TestDeduplicateManyRows checks sums with so many rows that a sample of keys decides whether too
// many differ. The decision must not depend on the number of repetitions of the others. Without
// memory for the table, nothing is merged.
func TestDeduplicateManyRows(t *testing.T) {
	const rows = minSampled + 5
	for _, c := range []struct {
		name   string
		row    func(i int) int
		memory int64
		merged bool
	}{
		{"all differ", func(i int) int { return i }, 0, false},
		{"one group", func(i int) int { return 7 }, 0, true},
		{"1000 groups", func(i int) int { return i % 1000 }, 0, true},
		{"half of them the same", func(i int) int { return max(i-rows/2, 0) }, 0, true},
		{"each of half of them twice", func(i int) int { return i / 2 }, 0, true},
		{"each of half of them twice, in turn", func(i int) int { return i % (rows / 2) }, 0, true},
		{"seven of eight differ", func(i int) int { return i - i/8 }, 0, false},
		{"the same, without memory", func(i int) int { return i / 2 }, 16 * rows, false},
	} {
		g := ad.NewGraph()
		g.Use(ad.NewBudget(c.memory, 0))
		x := g.Input(ad.Type{})
		y := make([]float64, rows)
		for i := range y {
			y[i] = float64(c.row(i)) / rows
		}
		g.Output(g.Sum(g.Do(ad.OpExp, nil, g.Mul(x, g.ConstArray(ad.Type{Shape: []int{rows}}, y)))))
		used := g.Budget().Used()
		after := deduplicate(g)
		if merged := after != g; merged != c.merged {
			t.Errorf("%s: merged is %v", c.name, merged)
		}
		if left := g.Budget().Used(); after == g && left != used {
			t.Errorf("%s: %d bytes are not given back", c.name, left-used)
		}
		// The rounding error of a sum of so many equal terms, added one by one, is at most
		// rows·2⁻⁵³.
		sameAfter(t, g, deduplicate, ad.OpInvalid, rows*0x1p-53, []float64{0.3})
	}
}
