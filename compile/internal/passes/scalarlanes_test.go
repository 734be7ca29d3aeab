package passes

import (
	"errors"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/ppl-lang/ppl/ad"
)

// TestScalarsInLanes checks short arrays in lanes: products of matrices, concatenations, shifts by
// a lane's maximum, sums, and indexing by data. All become scalars. Some terms are impossible,
// infinite or NaN.
func TestScalarsInLanes(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	inf := math.Inf(1)
	for _, k := range []int{2, 3, 8} {
		for _, inner := range []int{2, 20} {
			const rows = minInLanes + 3
			g := ad.NewGraph()
			data := make([]float64, rows*inner)
			for i := range data {
				data[i] = rng.NormFloat64()
			}
			in := g.Input(ad.Type{Shape: []int{(inner + 1) * k}})
			x := g.ConstArray(ad.Type{Shape: []int{rows, inner}}, data)
			b := g.Reshape(g.Slice(in, 0, []int{inner * k}), []int{inner, k})
			eta := g.MatMul(x, b)
			shift := g.Slice(in, inner*k, []int{k})
			one := g.Lane(g.Add(eta, g.Const(0.25)))
			v := g.Add(one, shift)
			v = g.Sub(v, g.Do(ad.OpDetach, nil, g.Do(ad.OpMaxOf, nil, v)))
			v = g.Concat(g.Slice(v, 1, []int{k - 1}), g.Slice(v, 0, nil))
			lp := g.Sub(v, g.LogSumExp(v))
			table := make([]int32, rows)
			for i := range table {
				table[i] = int32(i*k + i%k)
			}
			terms := g.Gather(g.Reshape(g.Unlane(lp), []int{rows * k}), ad.Index{Dims: []ad.Dim{{N: rows, Table: table}}})
			total := g.Sum(g.Unlane(g.Sum(g.Mul(v, shift))))
			g.Output(g.Add(g.Sum(terms), g.Add(total, g.Sum(g.Unlane(g.LogSumExp(one))))))
			n := (inner + 1) * k
			some, far, none, large, undefined := make([]float64, n), make([]float64, n), make([]float64, n), make([]float64, n), make([]float64, n)
			for i := range n {
				some[i], far[i] = rng.NormFloat64(), 600*float64(i%2)
				none[i], large[i], undefined[i] = some[i], some[i], some[i]
			}
			none[n-1], large[n-1], undefined[n-1] = -inf, inf, math.NaN()
			after := replaceInLanes(g)
			for i, live := range after.Live(after.Outputs, true) {
				if n := &after.Nodes[i]; live && n.Op != ad.OpConcat && n.Type.Lanes > 0 && n.Type.Size() > 1 && n.Op != ad.OpReshape && n.Op != ad.OpUnlane {
					t.Errorf("%d columns: %s is still an array in lanes", k, n.Op)
				}
			}
			sameAfter(t, g, replaceInLanes, ad.OpMaxOf, 1e-12, some, far)
			points := func(g *ad.Graph) (out []float64) {
				for _, at := range [][]float64{none, large, undefined} {
					v, err := g.Eval([][]float64{at}, &ad.Env{})
					if err != nil {
						t.Fatal(err)
					}
					out = append(out, v[0][0])
				}
				return out
			}
			plain := g.Outputs[:1]
			g.Outputs, after.Outputs = plain, after.Outputs[:1]
			for i, want := range points(g) {
				if got := points(after)[i]; got != want && !(math.IsNaN(got) && math.IsNaN(want)) {
					t.Errorf("%d columns, special point %d: %v, want %v", k, i, got, want)
				}
			}
		}
	}
}

// TestScalarsOfChecks checks that replacing arrays by scalars does not change the message of a
// failed check, for matrices and for arrays in lanes.
func TestScalarsOfChecks(t *testing.T) {
	const rows, k = minInLanes, 3
	for _, lanes := range []bool{false, true} {
		g := ad.NewGraph()
		in := g.Input(ad.Type{Shape: []int{rows, k}})
		v := g.Exp(in)
		c := &ad.Check{Set: ad.Interval{Hi: 2}, Function: "f", Name: "x", Want: "small"}
		if lanes {
			g.Check(c, g.Lane(v))
		} else {
			g.Check(c, v)
		}
		g.Output(g.Sum(g.Unlane(g.LogSumExp(g.Lane(v)))))
		after := replaceInLanes(g)
		if after == g {
			t.Fatal("nothing has been written out")
		}
		for bad := range rows * k {
			x := make([]float64, rows*k)
			x[bad] = 5
			var first string
			for _, h := range []*ad.Graph{g, after} {
				_, err := h.Eval([][]float64{x}, &ad.Env{})
				var wrong *ad.CheckError
				if !errors.As(err, &wrong) {
					t.Fatalf("element %d: %v", bad, err)
				}
				if first == "" {
					first = wrong.Error()
				} else if wrong.Error() != first {
					t.Errorf("lanes %v, element %d: %q, want %q", lanes, bad, wrong, first)
				}
			}
		}
	}
}

// TestForwarding checks that elements are found through chains of concatenations and gathers, with
// and without lanes.
func TestForwarding(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	const rows, k = 12, 3
	for range 40 {
		g := ad.NewGraph()
		in := g.Input(ad.Type{Shape: []int{rows * k}})
		table := func(n, of int) ad.Index {
			d := ad.Dim{N: n, Table: make([]int32, n)}
			for i := range d.Table {
				d.Table[i] = int32(rng.IntN(of))
			}
			return ad.Index{Dims: []ad.Dim{d}}
		}
		flat := []ad.Ref{g.Exp(in), g.Square(in)}
		lanes := []ad.Ref{g.Lane(g.Reshape(flat[0], []int{rows, k}))}
		any := func(of []ad.Ref) ad.Ref { return of[rng.IntN(len(of))] }
		for range 12 {
			switch x := any(flat); rng.IntN(5) {
			case 0:
				flat = append(flat, g.Gather(x, table(1+rng.IntN(20), g.Type(x).Size())))
			case 1:
				flat = append(flat, g.Concat(x, any(flat)))
			case 2:
				l := any(lanes)
				lanes = append(lanes, g.Gather(l, table(1+rng.IntN(k), g.Type(l).Size())))
			case 3:
				lanes = append(lanes, g.Concat(any(lanes), g.Slice(in, rng.IntN(rows), []int{2}), any(lanes)))
			case 4:
				l := g.Unlane(any(lanes))
				flat = append(flat, g.Reshape(l, []int{g.Type(l).Size()}))
			}
		}
		sum := g.Const(0)
		for i, x := range append(flat, lanes...) {
			sum = g.Add(sum, g.Sum(g.Reshape(g.Mul(g.Unlane(g.Do(ad.OpSin, nil, x)), g.Const(float64(i+1))), []int{g.Type(x).Total()})))
		}
		g.Output(sum)
		at := make([]float64, rows*k)
		for i := range at {
			at[i] = rng.Float64()
		}
		sameAfter(t, g, replaceElements, ad.OpInvalid, 1e-12, at)
	}
	g := ad.NewGraph()
	in := g.Input(ad.Type{Shape: []int{rows}})
	x := g.Exp(in)
	lane := g.Concat(g.Lane(x), g.Const(2))
	g.Output(g.Sum(g.Unlane(g.Square(g.Slice(lane, 0, nil)))))
	after := replaceElements(g)
	for i, live := range after.Live(after.Outputs, true) {
		if op := after.Nodes[i].Op; live && (op == ad.OpGather || op == ad.OpConcat) {
			t.Errorf("there is a %s left", op)
		}
	}
	sameAfter(t, g, replaceElements, ad.OpInvalid, 0, make([]float64, rows))
}
