package types

import (
	"fmt"
	"math"
)

// structure is a row of the table of constrained types: what the checker, the
// checks of values, the transforms and the documentation say about each.
type structure struct {
	keyword string
	typ     Type
	text    string // completes "must be …"
	// least is the least size of each dimension; nil: 0.
	least []int
	// wrong says what is wrong with a vector or matrix of that shape, elements by
	// rows; it completes "must be …, but …". What is compared must not be NaN.
	// work has as many elements as x; tol is by how much sums may be off.
	wrong func(shape []int, x, work []float64, tol float64) string
}

// structures are the constrained types, by kind; kinds below Ordered have none.
var structures = [numConstraints]structure{
	Ordered: {"ordered", VectorType, "ordered", nil, func(_ []int, x, _ []float64, _ float64) string { return notIncreasing(x) }},
	PositiveOrdered: {"positive_ordered", VectorType, "positive and ordered", nil, func(_ []int, x, _ []float64, tol float64) string {
		if len(x) > 0 && x[0] < 0 {
			return "its element 1 is " + number(x[0])
		}
		return notIncreasing(x)
	}},
	Simplex: {"simplex", VectorType, "a valid simplex", []int{1}, func(_ []int, x, _ []float64, tol float64) string {
		return notSimplex(whole(x, tol))
	}},
	UnitVector: {"unit_vector", VectorType, "a unit vector", []int{2}, func(_ []int, x, _ []float64, tol float64) string {
		return notUnit(whole(x, tol))
	}},
	SumToZeroVector: {"sum_to_zero_vector", VectorType, "a vector with sum zero", []int{1}, func(_ []int, x, _ []float64, tol float64) string {
		return notZero(whole(x, tol))
	}},
	SumToZeroMatrix: {"sum_to_zero_matrix", MatrixType, "a matrix whose rows and columns sum to zero", []int{1, 1}, func(s []int, x, _ []float64, tol float64) string {
		if t := every(rowsOf, s, x, tol, notZero); t != "" {
			return t
		}
		return every(columnsOf, s, x, tol, notZero)
	}},
	RowStochasticMatrix: {"row_stochastic_matrix", MatrixType, "a matrix whose rows are simplexes", []int{0, 1}, func(s []int, x, _ []float64, tol float64) string {
		return every(rowsOf, s, x, tol, notSimplex)
	}},
	ColumnStochasticMatrix: {"column_stochastic_matrix", MatrixType, "a matrix whose columns are simplexes", []int{1, 0}, func(s []int, x, _ []float64, tol float64) string {
		return every(columnsOf, s, x, tol, notSimplex)
	}},
	CorrMatrix: {"corr_matrix", MatrixType, "a correlation matrix", nil, func(s []int, x, work []float64, tol float64) string {
		for i := range s[0] {
			if d := x[i*s[0]+i]; !(math.Abs(d-1) <= tol) {
				return fmt.Sprintf("its element [%d,%d] is %s", i+1, i+1, number(d))
			}
		}
		return notPositive(s[0], x, work, tol)
	}},
	CovMatrix: {"cov_matrix", MatrixType, "symmetric and positive definite", nil, func(s []int, x, work []float64, tol float64) string {
		return notPositive(s[0], x, work, tol)
	}},
	CholeskyFactorCorr: {"cholesky_factor_corr", MatrixType, "a Cholesky factor of a correlation matrix", nil, func(s []int, x, _ []float64, tol float64) string {
		if t := notFactor(s, x); t != "" {
			return t
		}
		return every(rowsOf, s, x, tol, notUnit)
	}},
	CholeskyFactorCov: {"cholesky_factor_cov", MatrixType, "lower triangular with a positive diagonal", nil, func(s []int, x, _ []float64, tol float64) string {
		return notFactor(s, x)
	}},
}

// Tolerance is by how much sums, norms and symmetric elements may be off in
// values that are declared to be of a constrained type; it is Stan's.
const Tolerance = 1e-8

// row is the row of a constrained type.
func (k ConstraintKind) row() *structure { return &structures[k] }

// Text completes "must be …" for a constrained type.
func (k ConstraintKind) Text() string { return k.row().text }

// WrongSize says what is wrong with the sizes of a value of a constrained type,
// which completes "a simplex …", or is empty.
func (k ConstraintKind) WrongSize(shape []int) string {
	for i, least := range k.row().least {
		switch {
		case shape[i] >= least:
		case least == 1:
			return "cannot be empty"
		default:
			return fmt.Sprintf("has at least %d elements", least)
		}
	}
	if k == CholeskyFactorCov && shape[0] < shape[1] {
		return "has at least as many rows as columns"
	}
	return ""
}

// Wrong says what is wrong with a value of a constrained type, of that shape and
// elements by rows: it completes "must be …, but …", or is empty. work has as
// many elements as x. Sums, norms and symmetric elements may be off by tol; for
// all but initial values that is Tolerance.
func (k ConstraintKind) Wrong(shape []int, x, work []float64, tol float64) string {
	return k.row().wrong(shape, x, work, tol)
}

func number(x float64) string { return fmt.Sprintf("%.10g", x) }

func notIncreasing(x []float64) string {
	for i := 1; i < len(x); i++ {
		if !(x[i] > x[i-1]) {
			return fmt.Sprintf("its element %d is %s, and the one before %s", i+1, number(x[i]), number(x[i-1]))
		}
	}
	return ""
}

// line is a vector, or a row or column of a matrix: n elements of x.
type line struct {
	x               []float64
	from, stride, n int
	of              lines
	index           int
	tol             float64
}

type lines uint8

const (
	all lines = iota
	rowsOf
	columnsOf
)

func whole(x []float64, tol float64) line { return line{x: x, stride: 1, n: len(x), tol: tol} }

// every tests the rows or columns of a matrix.
func every(of lines, s []int, x []float64, tol float64, test func(line) string) string {
	l := line{x: x, of: of, stride: 1, n: s[1], tol: tol}
	count, step := s[0], s[1]
	if of == columnsOf {
		l.stride, l.n, count, step = s[1], s[0], s[1], 1
	}
	for l.index = range count {
		l.from = l.index * step
		if t := test(l); t != "" {
			return t
		}
	}
	return ""
}

func (l line) at(i int) float64 { return l.x[l.from+i*l.stride] }

func (l line) sum() float64 {
	sum := 0.
	for i := range l.n {
		sum += l.at(i)
	}
	return sum
}

// elements is "its elements" or what else the elements are called.
func (l line) elements() string {
	switch l.of {
	case rowsOf:
		return fmt.Sprintf("the elements of its row %d", l.index+1)
	case columnsOf:
		return fmt.Sprintf("the elements of its column %d", l.index+1)
	}
	return "its elements"
}

// place is the index of element i.
func (l line) place(i int) string {
	switch l.of {
	case rowsOf:
		return fmt.Sprintf("[%d,%d]", l.index+1, i+1)
	case columnsOf:
		return fmt.Sprintf("[%d,%d]", i+1, l.index+1)
	}
	return fmt.Sprint(i + 1)
}

func notZero(l line) string {
	if sum := l.sum(); !(math.Abs(sum) <= l.tol) {
		return l.elements() + " sum to " + number(sum)
	}
	return ""
}

func notSimplex(l line) string {
	if sum := l.sum(); !(math.Abs(sum-1) <= l.tol) {
		return l.elements() + " sum to " + number(sum)
	}
	for i := range l.n {
		if v := l.at(i); !(v >= 0) {
			return "its element " + l.place(i) + " is " + number(v)
		}
	}
	return ""
}

func notUnit(l line) string {
	sum := 0.
	for i := range l.n {
		sum += l.at(i) * l.at(i)
	}
	if !(math.Abs(sum-1) <= l.tol) {
		return "the squares of " + l.elements() + " sum to " + number(sum)
	}
	return ""
}

func notFactor(s []int, x []float64) string {
	for i := range s[0] {
		for j := range s[1] {
			switch v := x[i*s[1]+j]; {
			case j > i && v != 0, j == i && !(v > 0):
				return fmt.Sprintf("its element [%d,%d] is %s", i+1, j+1, number(v))
			}
		}
	}
	return ""
}

// notPositive looks for symmetry to within tol and, by the pivots of the
// factorisation L D Lᵀ, for positive definiteness.
func notPositive(n int, x, work []float64, tol float64) string {
	for i := range n {
		for j := range i + 1 {
			if v, w := x[i*n+j], x[j*n+i]; !(math.Abs(v-w) <= tol) {
				return fmt.Sprintf("its element [%d,%d] is %s, and its element [%d,%d] is %s", j+1, i+1, number(w), i+1, j+1, number(v))
			}
		}
	}
	if n == 1 && !(x[0] > Tolerance) {
		return "it is " + number(x[0])
	}
	// work holds L below the diagonal and D on it.
	for j := range n {
		d := x[j*n+j]
		for k := range j {
			d -= work[j*n+k] * work[j*n+k] * work[k*n+k]
		}
		if !(d > 0) {
			return fmt.Sprintf("it is not positive definite (its pivot %d is %s)", j+1, number(d))
		}
		work[j*n+j] = d
		for i := j + 1; i < n; i++ {
			v := x[i*n+j]
			for k := range j {
				v -= work[i*n+k] * work[j*n+k] * work[k*n+k]
			}
			work[i*n+j] = v / d
		}
	}
	return ""
}
