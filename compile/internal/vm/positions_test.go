package vm

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/ppl-lang/ppl/ad"
	"github.com/ppl-lang/ppl/compile/internal/passes"
)

// rowGraph makes a graph of data rows with a group index. Passes may sort or merge the rows, or
// compute before a gather. The rows are read in every way: by sums, which do not depend on the
// order, and by nodes that depend on the positions of elements.
func rowGraph(rng *rand.Rand, n int) *ad.Graph {
	const groups = 3
	g := ad.NewGraph()
	a, s := g.Input(ad.Type{Shape: []int{groups}}), g.Input(ad.Scalar)
	shape := ad.Type{Shape: []int{n}}
	tables := make([][]int32, 2)
	for k := range tables {
		tables[k] = make([]int32, n)
		for i := range n {
			tables[k][i] = int32(rng.IntN(groups))
			if k == 1 && rng.IntN(2) == 0 { // almost sorted: rows of a group follow each other
				tables[k][i] = int32(i * groups / n)
			}
		}
	}
	differ := rng.IntN(3) > 0 // so that no two rows are equal and none are merged
	data := func() ad.Ref {
		x := make([]float64, n)
		for i := range x {
			if x[i] = float64(rng.IntN(4)) / 2; differ {
				x[i] += 0.1 * rng.Float64()
			}
		}
		return g.ConstArray(shape, x)
	}
	by := func(t []int32) ad.Index { return ad.Index{Dims: []ad.Dim{{N: n, Table: t}}} }
	rows := []ad.Ref{g.Gather(a, by(tables[0])), data()}
	row := func() ad.Ref { return rows[rng.IntN(len(rows))] }
	for range 3 + rng.IntN(5) {
		var r ad.Ref
		switch rng.IntN(8) {
		case 0:
			r = g.Gather(a, by(tables[rng.IntN(2)]))
		case 1:
			r = data()
		case 2:
			r = g.Do(ad.OpTanh, nil, row())
		case 3:
			r = g.Mul(row(), s)
		case 4:
			r = g.Exp(g.Scale(0.1, row()))
		case 5:
			r = g.Sub(row(), row())
		case 6: // all rows read one element of a row
			r = g.Mul(row(), g.Slice(row(), rng.IntN(n), nil))
		default:
			r = g.Add(row(), row())
		}
		rows = append(rows, r)
	}
	total := g.Const(0)
	add := func(x ad.Ref) { total = g.Add(total, g.Do(ad.OpTanh, nil, g.Scale(0.01, x))) }
	add(g.Sum(g.Square(rows[len(rows)-1])))
	for range 1 + rng.IntN(3) {
		x := rows[2+rng.IntN(len(rows)-2)]
		switch rng.IntN(24) {
		case 0:
			add(g.Slice(x, n-1, nil))
		case 1:
			add(g.Slice(x, rng.IntN(n), nil))
		case 2:
			k := rng.IntN(n)
			add(g.Sum(g.Mul(g.Slice(x, k, []int{n - k}), g.Slice(row(), 0, []int{n - k}))))
		case 3: // the rows in reverse order
			add(g.Sum(g.Mul(g.Gather(x, ad.Index{Offset: n - 1, Dims: []ad.Dim{{N: n, Stride: -1}}}), row())))
		case 4: // sums over groups
			add(g.Sum(g.Mul(g.Scatter(x, by(tables[rng.IntN(2)]), []int{groups}), a)))
		case 5: // a recurrence over the rows
			b := ad.NewGraph()
			c, y := b.Input(ad.Scalar), b.Input(ad.Scalar)
			b.Output(b.Add(b.Scale(0.5, c), y))
			add(g.Final(g.DoScan(&ad.Scan{Body: b, Carries: 1, Streams: 1, Steps: n}, []ad.Ref{s, x}), 0))
		case 6: // a scan captures all rows and reads one of them
			b := ad.NewGraph()
			c, y := b.Input(ad.Scalar), b.Input(shape)
			b.Output(b.Add(b.Scale(0.5, c), b.Slice(y, rng.IntN(n), nil)))
			add(g.Final(g.DoScan(&ad.Scan{Body: b, Carries: 1, Steps: 3}, []ad.Ref{s, x}), 0))
		case 7:
			add(g.Do(ad.OpMaxOf, nil, x))
			add(g.LogSumExp(x))
		case 8: // a product with a matrix
			add(g.Sum(g.Square(g.MatVec(g.Reshape(g.Concat(x, row()), []int{2, n}), row()))))
		case 9: // rows as part of another array
			add(g.Sum(g.Mul(g.Concat(x, a), g.Concat(row(), a))))
		case 10: // one element of the rows, used to compute rows
			add(g.Sum(g.Do(ad.OpTanh, nil, g.Add(row(), g.Slice(x, n-1, nil)))))
		case 11: // a conditional that reads one element
			then, other := ad.NewGraph(), ad.NewGraph()
			then.Output(then.Slice(then.Input(shape), 0, nil))
			other.Output(other.Slice(other.Input(shape), n-1, nil))
			add(g.Result(g.Do(ad.OpIf, &ad.If{Then: then, Else: other}, g.Less(g.Const(0), s), x), 0))
		default: // rows that are only summed
			add(g.Sum(g.Mul(g.Scatter(x, by(tables[0]), []int{groups}), a)))
		}
	}
	if rng.IntN(4) == 0 {
		g.Output(rows[len(rows)-1-rng.IntN(2)])
	}
	g.Outputs = append([]ad.Ref{total}, g.Outputs...)
	return g
}

// TestPositions checks that reads by position see the right element after passes have moved rows.
// The sizes are on both sides of the thresholds of the passes.
func TestPositions(t *testing.T) {
	sorted, merged := 0, 0
	for seed := range uint64(250) {
		rng := rand.New(rand.NewPCG(seed, 11))
		n := []int{1, 2, 127, 128, 129, 129, 130, 255, 256, 257, 500, 1000}[rng.IntN(12)]
		g := rowGraph(rng, n)
		inputs := [][]float64{{rng.NormFloat64(), rng.NormFloat64(), rng.NormFloat64()}, {rng.NormFloat64()}}
		density, err := passes.RunDensity(g, passes.Options{Trace: func(s *passes.Step) {
			if s.Pass.Name == "deduplicate" && s.Before.Work != s.After.Work {
				merged++
			}
		}})
		if err != nil {
			t.Fatal(err)
		}
		graphs := []*ad.Graph{g, density}
		for _, g := range graphs {
			for _, r := range g.Grad(g.Outputs[0], g.Inputs...) {
				g.Output(r)
			}
		}
		// Compare with the graph as it was built, to which no pass was applied.
		names := passes.Names()
		before := 0
		for k, o := range []passes.Options{{Verify: true, Trace: func(s *passes.Step) {
			if s.Nest == nil {
				return
			}
			// The pass has added data in another order.
			if s.Pass.Name == "rows" && len(s.Nest.Buffers) > before {
				sorted++
			}
			before = len(s.Nest.Buffers)
		}}, {Verify: true, Without: []string{names[seed%uint64(len(names))]}}} {
			p, err := Compile(graphs[1], o)
			if err != nil {
				t.Fatal(err)
			}
			compareWith(t, fmt.Sprintf("seed %d, %d rows, program %d", seed, n, k), g, p.New(), inputs)
		}
	}
	t.Logf("rows were sorted in %d graphs, merged in %d", sorted, merged)
	if sorted < 20 || merged < 20 {
		t.Errorf("rows were sorted in %d graphs, and merged in %d: the test does not see what it should", sorted, merged)
	}
}

// compareWith compares the outputs of a program with those of a graph.
func compareWith(t *testing.T, name string, g *ad.Graph, m *Machine, inputs [][]float64) {
	t.Helper()
	want, err := g.Eval(inputs, &ad.Env{})
	if err != nil {
		t.Fatal(err)
	}
	for i, x := range inputs {
		copy(m.Input(i), x)
	}
	if err := m.Run(&ad.Env{}); err != nil {
		t.Fatal(err)
	}
	for k, w := range want {
		for i, v := range m.Output(k) {
			if !agree(v, w[i], 1e-9) {
				t.Errorf("%s: element %d of output %d: %v, want %v", name, i, k, v, w[i])
				return
			}
		}
	}
}
