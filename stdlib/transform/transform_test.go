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

// example is a transform to test: its constraint, with the shape of the value and the bounds.
type example struct {
	name         string
	kind         types.ConstraintKind
	edition      Edition
	shape        []int
	lower, upper []float64
	// coordinates are the elements of the value that vary freely; nil: the first ones, as many as
	// there are unconstrained numbers. isometric: the log Jacobian is that of the volume within the
	// set of values, not of coordinates.
	coordinates []int
	isometric   bool
}

func examples() []example {
	inf := math.Inf(1)
	allBut := func(rows, k int) (at []int) { // the last of each row
		for i := range rows * k {
			if i%k < k-1 {
				at = append(at, i)
			}
		}
		return at
	}
	lower := func(k, diagonal int) (at []int) {
		for i := range k {
			for j := range i + diagonal {
				at = append(at, i*k+j)
			}
		}
		return at
	}
	return []example{
		{name: "none", kind: types.Unconstrained, shape: []int{3}},
		{name: "lower", kind: types.LowerUpper, shape: []int{3}, lower: []float64{2}},
		{name: "upper", kind: types.LowerUpper, shape: []int{3}, upper: []float64{-1}},
		{name: "both", kind: types.LowerUpper, shape: []int{3}, lower: []float64{-1}, upper: []float64{4}},
		{name: "bounds per element, some infinite", kind: types.LowerUpper, shape: []int{4}, lower: []float64{0, -inf, 1, -inf}, upper: []float64{2, 3, inf, inf}},
		{name: "bounds of a matrix", kind: types.LowerUpper, shape: []int{2, 2}, lower: []float64{0, 1, 2, 3}, upper: []float64{7}},
		{name: "infinite lower bound", kind: types.LowerUpper, shape: []int{2}, lower: []float64{-inf}},
		{name: "offset and multiplier", kind: types.OffsetMultiplier, shape: []int{2}, lower: []float64{3}, upper: []float64{0.5, 2}},
		{name: "ordered", kind: types.Ordered, shape: []int{4}},
		{name: "long ordered", kind: types.Ordered, shape: []int{39}},
		{name: "ordered of one", kind: types.Ordered, shape: []int{1}},
		{name: "ordered of none", kind: types.Ordered, shape: []int{0}},
		{name: "positive ordered", kind: types.PositiveOrdered, shape: []int{3}},
		{name: "simplex", kind: types.Simplex, shape: []int{4}},
		{name: "long simplex", kind: types.Simplex, shape: []int{38}},
		{name: "simplex of one", kind: types.Simplex, shape: []int{1}},
		{name: "broken stick", kind: types.Simplex, edition: Stan232, shape: []int{5}},
		{name: "long broken stick", kind: types.Simplex, edition: Stan232, shape: []int{41}},
		{name: "broken stick of one", kind: types.Simplex, edition: Stan232, shape: []int{1}},
		{name: "unit vector", kind: types.UnitVector, shape: []int{3}},
		{name: "sum to zero", kind: types.SumToZeroVector, shape: []int{4}, isometric: true},
		{name: "long sum to zero", kind: types.SumToZeroVector, shape: []int{36}, isometric: true},
		{name: "sum to zero of one", kind: types.SumToZeroVector, shape: []int{1}},
		{name: "sum to zero matrix", kind: types.SumToZeroMatrix, shape: []int{3, 4}, isometric: true},
		{name: "sum to zero matrix of one row", kind: types.SumToZeroMatrix, shape: []int{1, 4}},
		{name: "row stochastic", kind: types.RowStochasticMatrix, shape: []int{2, 3}, coordinates: []int{0, 1, 3, 4}},
		{name: "row stochastic, broken sticks", kind: types.RowStochasticMatrix, edition: Stan232, shape: []int{2, 3}, coordinates: []int{0, 1, 3, 4}},
		{name: "long rows", kind: types.RowStochasticMatrix, shape: []int{2, 40}, coordinates: allBut(2, 40)},
		{name: "long rows, broken sticks", kind: types.RowStochasticMatrix, edition: Stan232, shape: []int{3, 35}, coordinates: allBut(3, 35)},
		{name: "row stochastic of one column", kind: types.RowStochasticMatrix, shape: []int{2, 1}},
		{name: "row stochastic of no rows", kind: types.RowStochasticMatrix, shape: []int{0, 3}},
		{name: "column stochastic", kind: types.ColumnStochasticMatrix, shape: []int{3, 2}, coordinates: []int{0, 1, 2, 3}},
		{name: "column stochastic, broken sticks", kind: types.ColumnStochasticMatrix, edition: Stan232, shape: []int{3, 2}, coordinates: []int{0, 1, 2, 3}},
		{name: "correlations", kind: types.CorrMatrix, shape: []int{4, 4}, coordinates: lower(4, 0)},
		{name: "correlations of one", kind: types.CorrMatrix, shape: []int{1, 1}},
		{name: "correlations of none", kind: types.CorrMatrix, shape: []int{0, 0}},
		{name: "covariances", kind: types.CovMatrix, shape: []int{3, 3}, coordinates: lower(3, 1)},
		{name: "variance", kind: types.CovMatrix, shape: []int{1, 1}},
		{name: "covariances of none", kind: types.CovMatrix, shape: []int{0, 0}},
		{name: "factor of correlations", kind: types.CholeskyFactorCorr, shape: []int{4, 4}, coordinates: lower(4, 0)},
		{name: "factor of correlations of one", kind: types.CholeskyFactorCorr, shape: []int{1, 1}},
		{name: "factor of covariances", kind: types.CholeskyFactorCov, shape: []int{3, 3}, coordinates: lower(3, 1)},
		{name: "high factor of covariances", kind: types.CholeskyFactorCov, shape: []int{4, 2}, coordinates: []int{0, 2, 3, 4, 5, 6, 7}},
		{name: "factor of covariances without columns", kind: types.CholeskyFactorCov, shape: []int{2, 0}},
	}
}

// evaluator returns a function that computes the value, the log Jacobian, and the inverse of the
// value.
func (e *example) evaluator(t *testing.T) (free int, eval func(x []float64) (y []float64, jacobian float64, back []float64)) {
	tr := Of(e.kind, e.edition)
	shape := e.shape
	if tr.Free != nil {
		shape = tr.Free(e.shape)
	}
	g := ad.NewGraph()
	bound := func(v []float64) ad.Ref {
		switch len(v) {
		case 0:
			return ad.None
		case 1:
			return g.Const(v[0])
		}
		return g.ConstArray(ad.Type{Shape: e.shape}, v)
	}
	bounds := Bounds{bound(e.lower), bound(e.upper)}
	x := g.Input(ad.Type{Shape: shape})
	y, addends := tr.Constrain(g, x, e.shape, bounds)
	jac := g.Const(0)
	for _, a := range addends {
		jac = g.Add(jac, g.Sum(a))
	}
	g.Output(g.Broadcast(y, e.shape))
	g.Output(jac)
	g.Output(g.Broadcast(tr.Unconstrain(g, y, bounds), shape))
	return ad.Type{Shape: shape}.Size(), func(x []float64) ([]float64, float64, []float64) {
		out, err := g.Eval([][]float64{slices.Clone(x)}, &ad.Env{}) // outputs may share the memory of x
		if err != nil {
			t.Fatal(err)
		}
		return out[0], out[1][0], out[2]
	}
}

// TestTransforms checks, for every transform, that the value satisfies the constraint, that the
// inverse undoes the map, and that the log Jacobian matches the matrix of central differences.
func TestTransforms(t *testing.T) {
	for _, e := range examples() {
		t.Run(e.name, func(t *testing.T) {
			free, eval := e.evaluator(t)
			rng := rand.New(rand.NewPCG(5, 6))
			var before []float64
			for range 4 {
				at := make([]float64, free)
				for i := range at {
					at[i] = rng.NormFloat64()
				}
				y, jacobian, back := eval(at)
				e.member(t, y)
				e.fixed(t, before, y)
				before = slices.Clone(y)
				if e.kind == types.UnitVector {
					unitVector(t, at, y, jacobian)
					continue
				}
				for i := range at {
					if math.Abs(back[i]-at[i]) > 1e-10 { // numbers are about 1, and values close to a bound lose digits
						t.Errorf("the inverse gives %v, not %v", back, at)
						break
					}
				}
				if free == 0 {
					if math.Abs(jacobian) > 1e-15 {
						t.Errorf("log Jacobian %v of nothing", jacobian)
					}
					continue
				}
				if want := e.differences(at, eval); math.Abs(jacobian-want) > 1e-7*math.Sqrt(float64(free)) { // the error of the differences
					t.Errorf("log Jacobian %v, differences give %v", jacobian, want)
				}
			}
		})
	}
}

// member checks that y is in the set that the constraint declares.
func (e *example) member(t *testing.T, y []float64) {
	t.Helper()
	if e.kind.Structured() {
		if wrong := e.kind.Wrong(e.shape, y, make([]float64, len(y)), types.Tolerance); wrong != "" {
			t.Errorf("%v must be %s, but %s", y, e.kind.Text(), wrong)
		}
		return
	}
	of := func(b []float64, i int) float64 { return b[min(i, len(b)-1)] }
	for i := range y {
		if e.kind == types.LowerUpper && (len(e.lower) > 0 && y[i] <= of(e.lower, i) || len(e.upper) > 0 && y[i] >= of(e.upper, i)) {
			t.Errorf("%v is out of bounds", y)
		}
	}
}

// fixed checks that the type fixes the elements that are the same in two values, and no others.
func (e *example) fixed(t *testing.T, a, b []float64) {
	t.Helper()
	if a == nil || !e.kind.Structured() {
		return
	}
	for i := range a {
		at := []int{i}
		if len(e.shape) == 2 {
			at = []int{i / e.shape[1], i % e.shape[1]}
		}
		if same := math.Abs(a[i]-b[i]) < 1e-14; same != e.kind.Fixed(e.shape, at) {
			t.Errorf("element %v is %v, then %v; is it fixed by the type? %t", at, a[i], b[i], !same)
		}
	}
}

// differences returns the logarithm of the determinant of central differences.
func (e *example) differences(at []float64, eval func(x []float64) ([]float64, float64, []float64)) float64 {
	const h = 1e-5
	free := len(at)
	rows := e.coordinates
	for i := 0; e.coordinates == nil && i < free; i++ {
		rows = append(rows, i)
	}
	if e.isometric {
		rows = nil
		for i := range (ad.Type{Shape: e.shape}).Size() {
			rows = append(rows, i)
		}
	}
	m := mat.NewDense(len(rows), free, nil)
	for j := range at {
		at[j] += h
		up, _, _ := eval(at)
		at[j] -= 2 * h
		dn, _, _ := eval(at)
		at[j] += h
		for i, r := range rows {
			m.Set(i, j, (up[r]-dn[r])/(2*h))
		}
	}
	if e.isometric {
		var square mat.Dense
		square.Mul(m.T(), m)
		det, _ := mat.LogDet(&square)
		return det / 2
	}
	det, _ := mat.LogDet(m)
	return det
}

// unitVector checks a unit vector: its direction, and the standard normal density of the rest.
func unitVector(t *testing.T, x, y []float64, jacobian float64) {
	t.Helper()
	square := 0.
	for _, v := range x {
		square += v * v
	}
	for i := range x {
		if math.Abs(y[i]-x[i]/math.Sqrt(square)) > 1e-15 {
			t.Errorf("%v gives %v", x, y)
		}
	}
	if math.Abs(jacobian+square/2) > 1e-14 {
		t.Errorf("%v instead of -½‖u‖² = %v", jacobian, -square/2)
	}
}

// TestRows checks that each constrained type has one row, and an example.
func TestRows(t *testing.T) {
	all := examples()
	for _, k := range types.ConstrainedTypes() {
		n := 0
		for _, table := range tables {
			if _, ok := table[k]; ok {
				n++
			}
		}
		if numbers, value, target := Words(k); n != 1 || numbers == "" || value == "" || target == "" {
			t.Errorf("%v has %d rows, with the words %q, %q, %q", k, n, numbers, value, target)
		}
		if !slices.ContainsFunc(all, func(e example) bool { return e.kind == k }) {
			t.Errorf("%v has no example", k)
		}
	}
}

// TestExtremes checks that, far from the origin, values are still in their sets, and log Jacobians
// finite.
func TestExtremes(t *testing.T) {
	for _, e := range examples() {
		if e.kind < types.Simplex || e.kind == types.CovMatrix || e.kind == types.CorrMatrix {
			continue // a sum of numbers of very different sizes, or a product that rounds to a singular matrix
		}
		free, eval := e.evaluator(t)
		for _, size := range []float64{30, 300} {
			at := make([]float64, free)
			for i := range at {
				at[i] = size * float64(1-2*(i%2))
			}
			y, jacobian, _ := eval(at)
			if math.IsNaN(jacobian) || math.IsInf(jacobian, 0) || slices.ContainsFunc(y, math.IsNaN) {
				t.Errorf("%s at ±%v: %v, log Jacobian %v", e.name, size, y, jacobian)
			}
		}
	}
}

// TestSymmetry checks that matrices of symmetric types are exactly symmetric.
func TestSymmetry(t *testing.T) {
	for _, kind := range []types.ConstraintKind{types.CorrMatrix, types.CovMatrix} {
		e := example{kind: kind, shape: []int{17, 17}}
		free, eval := e.evaluator(t)
		rng := rand.New(rand.NewPCG(1, 2))
		at := make([]float64, free)
		for i := range at {
			at[i] = 0.3 * rng.NormFloat64()
		}
		y, _, _ := eval(at)
		for i := range 17 {
			for j := range i {
				if y[i*17+j] != y[j*17+i] {
					t.Fatalf("%v: %v and %v", kind, y[i*17+j], y[j*17+i])
				}
			}
		}
	}
}

func TestEditions(t *testing.T) {
	for name, want := range map[string]Edition{"": Stan239, "2.39": Stan239, "2.32": Stan232} {
		if e, err := EditionOf(name); err != nil || e != want {
			t.Errorf("%q: %v, %v", name, e, err)
		}
	}
	if _, err := EditionOf("2.31"); err == nil {
		t.Error("2.31 passes")
	}
}

// TestSumToZero compares with the recursion in Stan's reference manual and source, which proceeds
// from the last number to the first.
func TestSumToZero(t *testing.T) {
	a := func(i int) float64 { return 1 / math.Sqrt(float64((i+1)*(i+2))) }
	columns := func(x [][]float64) [][]float64 {
		n := len(x)
		z := make([][]float64, n+1)
		for i := range z {
			z[i] = make([]float64, len(x[0]))
		}
		for j := range x[0] {
			tail := 0.
			for i := n - 1; i >= 0; i-- {
				z[i][j] = float64(i+1)*a(i)*x[i][j] - tail
				tail += a(i) * x[i][j]
				z[n][j] -= z[i][j]
			}
		}
		return z
	}
	transposed := func(x [][]float64) [][]float64 {
		y := make([][]float64, len(x[0]))
		for j := range y {
			for i := range x {
				y[j] = append(y[j], x[i][j])
			}
		}
		return y
	}
	x := [][]float64{{0.5, -1, 2}, {1.5, 0.25, -0.75}}
	matrix := example{kind: types.SumToZeroMatrix, shape: []int{3, 4}}
	_, eval := matrix.evaluator(t)
	got, _, _ := eval(slices.Concat(x...))
	for i, w := range slices.Concat(transposed(columns(transposed(columns(x))))...) {
		if math.Abs(got[i]-w) > 1e-14 {
			t.Errorf("element %d of the matrix: %v, want %v", i, got[i], w)
		}
	}
	// For a vector, the numbers have the opposite sign and the last element comes first.
	vector := example{kind: types.SumToZeroVector, shape: []int{4}}
	_, eval = vector.evaluator(t)
	got, _, _ = eval(x[0])
	want := columns(transposed(x[:1]))
	for i := range got {
		if w := -want[(i+3)%4][0]; math.Abs(got[i]-w) > 1e-14 {
			t.Errorf("element %d of the vector: %v, want %v", i, got[i], w)
		}
	}
	// The first element is Σ u/√(n(n+1)).
	if first := x[0][0]*a(0) + x[0][1]*a(1) + x[0][2]*a(2); math.Abs(got[0]-first) > 1e-15 {
		t.Errorf("the first element is %v, want %v", got[0], first)
	}
}
