package types

import (
	"math"
	"testing"
)

// TestSettle checks that a value that violates its type by rounding is changed by as little, and
// then satisfies the type. Valid values, and those further off, must not change.
func TestSettle(t *testing.T) {
	third := 0.33333333
	for _, c := range []struct {
		name  string
		kind  ConstraintKind
		shape []int
		x     []float64
		ok    bool
	}{
		{"equal", Ordered, []int{4}, []float64{1e6, 1e6, 1e6, 1000000.1}, true},
		{"none", Ordered, []int{0}, nil, true},
		{"in disorder", Ordered, []int{2}, []float64{2, 1}, false},
		{"a simplex", Simplex, []int{3}, []float64{third, third, third}, true},
		{"half a simplex", Simplex, []int{2}, []float64{0.25, 0.25}, false},
		{"a unit vector", UnitVector, []int{2}, []float64{0.70710678, 0.70710678}, true},
		{"a sum of large numbers", SumToZeroVector, []int{3}, []float64{33333333000, 33333333000, -66666667000}, true},
		{"rows and columns", SumToZeroMatrix, []int{2, 2}, []float64{1e9 / 3, -3.3333333e8, -3.3333333e8, 3.3333333e8}, true},
		{"rows", RowStochasticMatrix, []int{1, 3}, []float64{third, third, third}, true},
		{"columns", ColumnStochasticMatrix, []int{3, 1}, []float64{third, third, third}, true},
		{"ones", CorrMatrix, []int{3, 3}, []float64{1, 1, 1, 1, 1, 1, 1, 1, 1}, true},
		{"a correlation of 2", CorrMatrix, []int{2, 2}, []float64{1, 2, 2, 1}, false},
		{"a singular covariance", CovMatrix, []int{2, 2}, []float64{4e10, 2e5, 2e5, 1}, true},
		{"a factor", CholeskyFactorCorr, []int{2, 2}, []float64{1, 0, 0.6, 0.80001}, false},
		{"a rounded factor", CholeskyFactorCorr, []int{2, 2}, []float64{1, 0, third, 0.94280904}, true},
	} {
		x, work := append([]float64{}, c.x...), make([]float64, len(c.x))
		c.kind.Settle(c.shape, x, work, 5e-8)
		if wrong := c.kind.Wrong(c.shape, x, work, 1e-15*sum(x)); (wrong == "") != c.ok {
			t.Errorf("%s: %v, but it is %q", c.name, x, wrong)
		}
		for i, v := range c.x {
			if math.Abs(x[i]-v) > 5e-8*math.Abs(v)*float64(1+len(x)) {
				t.Errorf("%s: element %d was %v and is %v", c.name, i, v, x[i])
			}
		}
	}
}

// sum is at least 1.
func sum(x []float64) float64 {
	s := 1.0
	for _, v := range x {
		s += math.Abs(v)
	}
	return s
}
