package types

import (
	"fmt"
	"math"
	"slices"
)

// ConstraintKind is the kind of a declared constraint, which defines the check of a data value and
// the transform of a parameter.
type ConstraintKind uint8

// The constraints. LowerUpper has one or both bounds, OffsetMultiplier one or both of its
// arguments. From Ordered on they are constrained types.
const (
	Unconstrained ConstraintKind = iota
	LowerUpper
	OffsetMultiplier
	Ordered
	PositiveOrdered
	Simplex
	UnitVector
	SumToZeroVector
	SumToZeroMatrix
	RowStochasticMatrix
	ColumnStochasticMatrix
	CorrMatrix
	CovMatrix
	CholeskyFactorCorr
	CholeskyFactorCov

	numConstraints // the number of constraints; not a constraint
)

// structure is a row of the table of constrained types. It has everything that depends on the type,
// except its transform (a row in stdlib/transform).
type structure struct {
	keyword  string // keyword of the declaration
	function string // stem of NAME_constrain; "": the keyword
	typ      Type   // VectorType or MatrixType
	// sizes is the allowed number of sizes in a declaration; 0: that of typ.
	sizes    sizes
	minSizes []int // the minimum size of each dimension; nil: 0
	high     bool  // at least as many rows as columns
	// lo and hi are the ends of the smallest interval that contains every element.
	lo, hi  float64
	text    string         // completes "must be …"
	is      string         // name of a value, with its article: "a simplex"
	values  string         // the set of values, in the words of spec.md
	special ConstraintKind // a more general type of which this one is a special case; 0: none
	factor  bool           // values are Cholesky factors
	// wrong describes what is wrong with a vector or matrix of this shape, with elements by rows.
	// The text completes "must be …, but …". No element may be NaN. work has the length of x; tol
	// is the maximum deviation of sums.
	wrong func(shape []int, x, work []float64, tol float64) string
	// settle corrects rounding with a relative error of r; see Settle. nil: it is not needed.
	settle func(shape []int, x, work []float64, r float64)
	// fixed reports whether the type determines the element at these 0-based indices, whatever the
	// other elements are. nil: it determines none.
	fixed func(shape, at []int) bool
	// example converts random numbers, which must be positive if lo is 0, to a value, in place.
	example func(shape []int, x []float64)
	// short is a value with two elements in each dimension, for documentation.
	short []float64
}

// sizes is a range of the number of sizes in a declaration.
type sizes struct{ min, max int }

var (
	oneSize        = sizes{1, 1} // also for a square matrix
	oneOrTwo       = sizes{1, 2}
	posInf, negInf = math.Inf(1), math.Inf(-1)
)

// structures are the constrained types, by kind; kinds below Ordered have none.
var structures = [numConstraints]structure{
	Ordered: {
		keyword: "ordered", typ: VectorType, lo: negInf, hi: posInf,
		text: "ordered", is: "an ordered vector", values: "increasing vectors",
		wrong:   func(_ []int, x, _ []float64, _ float64) string { return notIncreasing(x) },
		settle:  func(_ []int, x, _ []float64, r float64) { settleOrder(x, r) },
		example: func(_ []int, x []float64) { slices.Sort(x) },
		short:   []float64{-1, 0.5},
	},
	PositiveOrdered: {
		keyword: "positive_ordered", typ: VectorType, lo: 0, hi: posInf, special: Ordered,
		text: "positive and ordered", is: "a vector of positive numbers in increasing order", values: "the same, from 0 on",
		wrong: func(_ []int, x, _ []float64, _ float64) string {
			if len(x) > 0 && x[0] < 0 {
				return "its element 1 is " + number(x[0])
			}
			return notIncreasing(x)
		},
		settle:  func(_ []int, x, _ []float64, r float64) { settleOrder(x, r) },
		example: func(_ []int, x []float64) { slices.Sort(x) },
		short:   []float64{0.5, 1},
	},
	Simplex: {
		keyword: "simplex", typ: VectorType, minSizes: []int{1}, lo: 0, hi: 1,
		text: "a valid simplex", is: "a simplex", values: "not negative, with sum 1; K ≥ 1",
		wrong:   func(_ []int, x, _ []float64, tol float64) string { return notSimplex(whole(x, tol)) },
		settle:  func(_ []int, x, _ []float64, r float64) { settleSum(whole(x, r)) },
		fixed:   single(0),
		example: func(_ []int, x []float64) { exampleSimplex(whole(x, 0)) },
		short:   []float64{0.25, 0.75},
	},
	UnitVector: {
		keyword: "unit_vector", typ: VectorType, minSizes: []int{2}, lo: -1, hi: 1,
		text: "a unit vector", is: "a unit vector", values: "of Euclidean length 1; K ≥ 2",
		wrong:   func(_ []int, x, _ []float64, tol float64) string { return notUnit(whole(x, tol)) },
		settle:  func(_ []int, x, _ []float64, r float64) { settleNorm(whole(x, r)) },
		example: func(_ []int, x []float64) { exampleUnit(x) },
		short:   []float64{0.6, 0.8},
	},
	SumToZeroVector: {
		keyword: "sum_to_zero_vector", function: "sum_to_zero", typ: VectorType, minSizes: []int{1}, lo: negInf, hi: posInf,
		text: "a vector with sum zero", is: "a vector with sum zero", values: "with sum 0; K ≥ 1",
		wrong:   func(_ []int, x, _ []float64, tol float64) string { return notZero(whole(x, tol)) },
		settle:  func(_ []int, x, _ []float64, r float64) { settleZero(whole(x, r)) },
		fixed:   single(0),
		example: func(_ []int, x []float64) { exampleZero(whole(x, 0)) },
		short:   []float64{-0.5, 0.5},
	},
	SumToZeroMatrix: {
		keyword: "sum_to_zero_matrix", function: "sum_to_zero", typ: MatrixType, minSizes: []int{1, 1}, lo: negInf, hi: posInf,
		text: "a matrix whose rows and columns sum to zero", is: "a matrix whose rows and columns sum to zero",
		values: "all rows and columns have sum 0; M, N ≥ 1",
		wrong: func(s []int, x, _ []float64, tol float64) string {
			if t := every(rowsOf, s, x, tol, notZero); t != "" {
				return t
			}
			return every(columnsOf, s, x, tol, notZero)
		},
		settle: func(s []int, x, _ []float64, r float64) {
			each(rowsOf, s, x, r, settleZero)
			each(columnsOf, s, x, r, settleZero)
		},
		fixed: single(0, 1),
		example: func(s []int, x []float64) {
			each(rowsOf, s, x, 0, exampleZero)
			each(columnsOf, s, x, 0, exampleZero)
		},
		short: []float64{1, -1, -1, 1},
	},
	RowStochasticMatrix: {
		keyword: "row_stochastic_matrix", function: "stochastic_row", typ: MatrixType, minSizes: []int{0, 1}, lo: 0, hi: 1,
		text: "a matrix whose rows are simplexes", is: "a matrix whose rows are simplexes", values: "each row is a simplex; N ≥ 1",
		wrong:   func(s []int, x, _ []float64, tol float64) string { return every(rowsOf, s, x, tol, notSimplex) },
		settle:  func(s []int, x, _ []float64, r float64) { each(rowsOf, s, x, r, settleSum) },
		fixed:   single(1),
		example: func(s []int, x []float64) { each(rowsOf, s, x, 0, exampleSimplex) },
		short:   []float64{0.25, 0.75, 0.25, 0.75},
	},
	ColumnStochasticMatrix: {
		keyword: "column_stochastic_matrix", function: "stochastic_column", typ: MatrixType, minSizes: []int{1, 0}, lo: 0, hi: 1,
		text: "a matrix whose columns are simplexes", is: "a matrix whose columns are simplexes", values: "each column is a simplex; M ≥ 1",
		wrong:   func(s []int, x, _ []float64, tol float64) string { return every(columnsOf, s, x, tol, notSimplex) },
		settle:  func(s []int, x, _ []float64, r float64) { each(columnsOf, s, x, r, settleSum) },
		fixed:   single(0),
		example: func(s []int, x []float64) { each(columnsOf, s, x, 0, exampleSimplex) },
		short:   []float64{0.25, 0.25, 0.75, 0.75},
	},
	CorrMatrix: {
		keyword: "corr_matrix", typ: MatrixType, sizes: oneSize, lo: -1, hi: 1, special: CovMatrix,
		text: "a correlation matrix", is: "a correlation matrix",
		values: "K × K, symmetric and positive definite, with ones on the diagonal",
		wrong: func(s []int, x, work []float64, tol float64) string {
			for i := range s[0] {
				if d := x[i*s[0]+i]; !(math.Abs(d-1) <= tol) {
					return fmt.Sprintf("its element [%d,%d] is %s", i+1, i+1, number(d))
				}
			}
			return notPositive(s[0], x, work, tol)
		},
		settle:  func(s []int, x, work []float64, r float64) { settlePositive(s[0], x, work, r) },
		fixed:   func(_, at []int) bool { return at[0] == at[1] },
		example: exampleIdentity,
		short:   []float64{1, 0.5, 0.5, 1},
	},
	CovMatrix: {
		keyword: "cov_matrix", typ: MatrixType, sizes: oneSize, lo: negInf, hi: posInf,
		text: "symmetric and positive definite", is: "a covariance matrix", values: "K × K, symmetric and positive definite",
		wrong:   func(s []int, x, work []float64, tol float64) string { return notPositive(s[0], x, work, tol) },
		settle:  func(s []int, x, work []float64, r float64) { settlePositive(s[0], x, work, r) },
		example: exampleIdentity,
		short:   []float64{2, 0.5, 0.5, 1},
	},
	CholeskyFactorCorr: {
		keyword: "cholesky_factor_corr", typ: MatrixType, sizes: oneSize, lo: -1, hi: 1, special: CholeskyFactorCov, factor: true,
		text: "a Cholesky factor of a correlation matrix", is: "a Cholesky factor of a correlation matrix",
		values: "K × K, lower triangular, with a positive diagonal and rows of length 1",
		wrong: func(s []int, x, _ []float64, tol float64) string {
			if t := notFactor(s, x); t != "" {
				return t
			}
			return every(rowsOf, s, x, tol, notUnit)
		},
		settle:  func(s []int, x, _ []float64, r float64) { each(rowsOf, s, x, r, settleNorm) },
		fixed:   func(_, at []int) bool { return at[0] == 0 || at[1] > at[0] },
		example: exampleIdentity,
		short:   []float64{1, 0, 0.6, 0.8},
	},
	CholeskyFactorCov: {
		keyword: "cholesky_factor_cov", typ: MatrixType, sizes: oneOrTwo, high: true, lo: negInf, hi: posInf, factor: true,
		text: "lower triangular with a positive diagonal", is: "a Cholesky factor of a covariance matrix",
		values:  "M × N, M ≥ N, lower triangular, with a positive diagonal",
		wrong:   func(s []int, x, _ []float64, _ float64) string { return notFactor(s, x) },
		fixed:   func(_, at []int) bool { return at[1] > at[0] },
		example: exampleIdentity,
		short:   []float64{1, 0, 0.6, 0.8},
	},
}

// single returns a function for types that fix all elements if one of these extents is 1: sums of
// one element.
func single(extents ...int) func(shape, at []int) bool {
	return func(shape, _ []int) bool {
		return slices.ContainsFunc(extents, func(k int) bool { return shape[k] == 1 })
	}
}
