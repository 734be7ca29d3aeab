package transform

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/ppl-lang/ppl/ad"
	"github.com/ppl-lang/ppl/lang/types"
)

// TestTransforms checks, for every transform, that the inverse undoes it, that
// the value satisfies the constraint, and that the log Jacobian is the log
// determinant of the matrix of central differences (of as many coordinates of
// the value as there are free numbers).
func TestTransforms(t *testing.T) {
	type test struct {
		name         string
		kind         types.ConstraintKind
		size         int
		lower, upper []float64
		ok           func(y []float64) bool
	}
	inf := math.Inf(1)
	any := func([]float64) bool { return true }
	increasing := func(y []float64) bool {
		for i := 1; i < len(y); i++ {
			if !(y[i] > y[i-1]) {
				return false
			}
		}
		return true
	}
	tests := []test{
		{"none", types.Unconstrained, 3, nil, nil, any},
		{"lower", types.LowerUpper, 3, []float64{2}, nil, func(y []float64) bool { return y[0] > 2 }},
		{"upper", types.LowerUpper, 3, nil, []float64{-1}, func(y []float64) bool { return y[0] < -1 }},
		{"both", types.LowerUpper, 3, []float64{-1}, []float64{4}, func(y []float64) bool { return y[0] > -1 && y[0] < 4 }},
		{"bounds per element, some infinite", types.LowerUpper, 4, []float64{0, -inf, 1, -inf}, []float64{2, 3, inf, inf},
			func(y []float64) bool { return y[0] > 0 && y[0] < 2 && y[1] < 3 && y[2] > 1 }},
		{"infinite lower bound", types.LowerUpper, 2, []float64{-inf}, nil, any},
		{"offset and multiplier", types.OffsetMultiplier, 2, []float64{3}, []float64{0.5, 2}, any},
		{"ordered", types.Ordered, 4, nil, nil, increasing},
		{"ordered of one", types.Ordered, 1, nil, nil, any},
		{"positive ordered", types.PositiveOrdered, 3, nil, nil, func(y []float64) bool { return y[0] > 0 && increasing(y) }},
		{"simplex", types.Simplex, 4, nil, nil, func(y []float64) bool {
			return math.Abs(y[0]+y[1]+y[2]+y[3]-1) < 1e-14 && min(y[0], y[1], y[2], y[3]) > 0
		}},
		{"simplex of one", types.Simplex, 1, nil, nil, func(y []float64) bool { return y[0] == 1 }},
	}
	for _, c := range tests {
		t.Run(c.name, func(t *testing.T) {
			tr, ok := Of(c.kind)
			if !ok {
				t.Fatal("no transform")
			}
			free := c.size
			if tr.Free != nil {
				free = tr.Free(c.size)
			}
			g := ad.NewGraph()
			bound := func(v []float64) ad.Ref {
				switch len(v) {
				case 0:
					return ad.None
				case 1:
					return g.Const(v[0])
				}
				return g.ConstArray(ad.Type{Shape: []int{len(v)}}, v)
			}
			bounds := Bounds{bound(c.lower), bound(c.upper)}
			x := g.Input(ad.Type{Shape: []int{free}})
			y, addends := tr.Constrain(g, x, bounds)
			jac := g.Const(0)
			for _, a := range addends {
				jac = g.Add(jac, g.Sum(a))
			}
			g.Output(g.Broadcast(y, []int{c.size}))
			g.Output(jac)
			g.Output(g.Broadcast(tr.Unconstrain(g, y, bounds), []int{free}))
			if tr.Violated != nil {
				g.Output(tr.Violated(g, y))
			}
			eval := func(x []float64) [][]float64 {
				out, err := g.Eval([][]float64{slices.Clone(x)}, &ad.Env{}) // an output may be the input
				if err != nil {
					t.Fatal(err)
				}
				return out
			}
			rng := rand.New(rand.NewPCG(5, 6))
			for range 5 {
				at := make([]float64, free)
				for i := range at {
					at[i] = rng.NormFloat64()
				}
				out := eval(at)
				if !c.ok(out[0]) {
					t.Errorf("x = %v gives %v", at, out[0])
				}
				if tr.Violated != nil && out[3][0] != 0 {
					t.Errorf("%v counts as a violation", out[0])
				}
				for i := range at {
					if math.Abs(out[2][i]-at[i]) > 1e-10 {
						t.Errorf("the inverse gives %v, not %v", out[2], at)
					}
				}
				if free == 0 {
					continue
				}
				m := mat.NewDense(free, free, nil)
				const h = 1e-5
				for j := range at {
					at[j] += h
					up := eval(at)[0]
					at[j] -= 2 * h
					dn := eval(at)[0]
					at[j] += h
					for i := range free {
						m.Set(i, j, (up[i]-dn[i])/(2*h))
					}
				}
				want, _ := mat.LogDet(m)
				if math.Abs(out[1][0]-want) > 1e-7 {
					t.Errorf("log Jacobian %v, differences give %v", out[1][0], want)
				}
			}
		})
	}
}

// TestViolations: values outside the constraints are seen as such, NaN too.
func TestViolations(t *testing.T) {
	nan := math.NaN()
	for kind, values := range map[types.ConstraintKind][][]float64{
		types.Ordered:         {{1, 1, 2}, {3, 2, 4}, {1, nan, 2}},
		types.PositiveOrdered: {{-1, 1, 2}, {1, 0.5, 2}, {nan, 1, 2}},
		types.Simplex:         {{0.5, 0.6, 0.1}, {-0.1, 0.6, 0.5}, {nan, 0.5, 0.5}},
	} {
		tr, _ := Of(kind)
		for _, v := range values {
			g := ad.NewGraph()
			bad, ok := g.Value(tr.Violated(g, g.ConstArray(ad.Type{Shape: []int{3}}, v)))
			if !ok || bad[0] == 0 {
				t.Errorf("%v: %v passes", kind, v)
			}
		}
	}
}
