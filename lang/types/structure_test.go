package types

import (
	"math"
	"strings"
	"testing"
)

// TestStructures checks that valid values of the constrained types pass, and that others are
// refused with a reason that names the element or the sum.
func TestStructures(t *testing.T) {
	nan := math.NaN()
	for _, c := range []struct {
		kind  ConstraintKind
		shape []int
		x     []float64
		want  string // part of the reason; "" if the value is valid
	}{
		{Ordered, []int{3}, []float64{-1, 0, 2}, ""},
		{Ordered, []int{3}, []float64{1, 1, 2}, "element 2 is 1, and the one before 1"},
		{Ordered, []int{3}, []float64{1, nan, 2}, "element 2 is NaN"},
		{Ordered, []int{1}, []float64{nan}, ""}, // as in Stan, a single element is not compared with anything
		{PositiveOrdered, []int{2}, []float64{0, 2}, ""},
		{PositiveOrdered, []int{2}, []float64{-1, 2}, "element 1 is -1"},
		{PositiveOrdered, []int{2}, []float64{3, 2}, "element 2 is 2"},
		{Simplex, []int{3}, []float64{0.5, 0, 0.5}, ""},
		{Simplex, []int{3}, []float64{0.5, 0.25, 0.5}, "sum to 1.25"},
		{Simplex, []int{3}, []float64{0.5, -0.25, 0.75}, "element 2 is -0.25"},
		{Simplex, []int{2}, []float64{nan, 0.5}, "NaN"},
		{UnitVector, []int{2}, []float64{0.6, -0.8}, ""},
		{UnitVector, []int{2}, []float64{1, 1}, "squares of its elements sum to 2"},
		{SumToZeroVector, []int{2}, []float64{0.6, -0.6}, ""},
		{SumToZeroVector, []int{2}, []float64{0.6, -0.5}, "sum to 0.1"},
		{SumToZeroMatrix, []int{2, 3}, []float64{1, 2, -3, -1, -2, 3}, ""},
		{SumToZeroMatrix, []int{2, 3}, []float64{1, 2, -3, 1, 2, -3}, "column 1 sum to 2"},
		{SumToZeroMatrix, []int{2, 2}, []float64{1, 1, -1, -1}, "row 1 sum to 2"},
		{RowStochasticMatrix, []int{2, 2}, []float64{0.25, 0.75, 1, 0}, ""},
		{RowStochasticMatrix, []int{2, 2}, []float64{0.25, 0.75, 1, 1}, "row 2 sum to 2"},
		{RowStochasticMatrix, []int{2, 2}, []float64{0.25, 0.75, 1.5, -0.5}, "element [2,2] is -0.5"},
		{ColumnStochasticMatrix, []int{2, 3}, []float64{0.25, 0.75, 1, 0.75, 0.25, 0}, ""},
		{ColumnStochasticMatrix, []int{2, 3}, []float64{0.25, -0.25, 1, 0.75, 1.25, 0}, "element [1,2] is -0.25"},
		{CorrMatrix, []int{2, 2}, []float64{1, 0.5, 0.5, 1}, ""},
		{CorrMatrix, []int{2, 2}, []float64{1, 0.5, 0.5, 2}, "element [2,2] is 2"},
		{CorrMatrix, []int{2, 2}, []float64{1, 1.5, 1.5, 1}, "pivot 2 is -1.25"},
		{CorrMatrix, []int{0, 0}, nil, ""},
		{CovMatrix, []int{2, 2}, []float64{2, 1, 1, 3}, ""},
		{CovMatrix, []int{3, 3}, []float64{4, 2, -1, 2, 3, 0.5, -1, 0.5, 1}, ""},
		{CovMatrix, []int{3, 3}, []float64{4, 2, -1, 2, 1, 0.5, -1, 0.5, 1}, "pivot 2 is 0"},
		{CovMatrix, []int{2, 2}, []float64{2, 1, 1.5, 3}, "element [1,2] is 1, and its element [2,1] is 1.5"},
		{CovMatrix, []int{1, 1}, []float64{0}, "it is 0"},
		{CovMatrix, []int{2, 2}, []float64{2, 1, 1, nan}, "NaN"},
		{CholeskyFactorCorr, []int{2, 2}, []float64{1, 0, 0.6, 0.8}, ""},
		{CholeskyFactorCorr, []int{2, 2}, []float64{1, 0, 0.6, 0.9}, "row 2 sum to 1.17"},
		{CholeskyFactorCorr, []int{2, 2}, []float64{1, 0, 0.6, -0.8}, "element [2,2] is -0.8"},
		{CholeskyFactorCov, []int{3, 2}, []float64{2, 0, -1, 1, 5, 6}, ""},
		{CholeskyFactorCov, []int{3, 2}, []float64{2, 1, -1, 1, 5, 6}, "element [1,2] is 1"},
		{CholeskyFactorCov, []int{2, 2}, []float64{2, 0, 5, nan}, "element [2,2] is NaN"},
	} {
		got := c.kind.Wrong(c.shape, c.x, make([]float64, len(c.x)), Tolerance)
		if (got == "") != (c.want == "") || !strings.Contains(got, c.want) {
			t.Errorf("%v %v: %q, want %q", c.kind, c.x, got, c.want)
		}
	}
}

// TestSizes checks sizes that a constrained type cannot have.
func TestSizes(t *testing.T) {
	for _, c := range []struct {
		kind  ConstraintKind
		shape []int
		ok    bool
	}{
		{Ordered, []int{0}, true}, {Simplex, []int{0}, false}, {Simplex, []int{1}, true}, {UnitVector, []int{1}, false},
		{SumToZeroMatrix, []int{2, 0}, false}, {RowStochasticMatrix, []int{0, 2}, true}, {CholeskyFactorCov, []int{2, 3}, false}, {CholeskyFactorCov, []int{3, 2}, true}, {CovMatrix, []int{0, 0}, true},
	} {
		if got := c.kind.WrongSize(c.shape); (got == "") != c.ok {
			t.Errorf("%v %v: %q", c.kind, c.shape, got)
		}
	}
}

// TestKeywords checks that every constrained type has its own row, which its keyword finds.
func TestKeywords(t *testing.T) {
	for k := Ordered; k < numConstraints; k++ {
		got, typ, ok := ConstrainedType(k.String())
		if !ok || got != k || typ.Rank() == 0 || k.Text() == "" || k.Is() == "" || k.Values() == "" || k.row().wrong == nil || k.row().example == nil {
			t.Errorf("constraint %d, %q: found %v %v", k, k.String(), got, typ)
		}
	}
	for k := range Ordered {
		if k.String() == "" || structures[k].keyword != "" {
			t.Errorf("constraint %d: %q, %q", k, k.String(), structures[k].keyword)
		}
	}
}

// TestExamples checks that examples and short values satisfy their types, ranges and more general
// types.
func TestExamples(t *testing.T) {
	for _, k := range ConstrainedTypes() {
		lo, hi := k.Range()
		is := func(k ConstraintKind, shape []int, x []float64) {
			t.Helper()
			if wrong := k.Wrong(shape, x, make([]float64, len(x)), Tolerance); wrong != "" {
				t.Errorf("%v %v: %s", k, x, wrong)
			}
			for _, v := range x {
				if v < lo || v > hi {
					t.Errorf("%v: %v is not in [%v, %v]", k, v, lo, hi)
				}
			}
		}
		for _, n := range []int{1, 2, 3, 7} {
			shape := []int{n, n}[:k.Type().Rank()]
			if k.WrongSize(shape) != "" {
				continue
			}
			x := make([]float64, int(math.Pow(float64(n), float64(len(shape)))))
			for i := range x {
				x[i] = math.Exp(math.Sin(float64(5 * i)))
				if lo < 0 {
					x[i] = math.Log(x[i])
				}
			}
			k.Example(shape, x)
			for _, wider := range ConstrainedTypes() {
				if k.Within(wider) {
					is(wider, shape, x)
				}
			}
		}
		is(k, []int{2, 2}[:k.Type().Rank()], k.Short())
	}
	if Ordered.Within(PositiveOrdered) || !PositiveOrdered.Within(Ordered) || CovMatrix.Within(CholeskyFactorCov) || !CorrMatrix.Within(CovMatrix) {
		t.Error("wrong special cases")
	}
}
