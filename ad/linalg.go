package ad

import (
	"math"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"

	"github.com/ppl-lang/ppl/ad/kernel"
)

// This file: kernels of matrix ops, on row-major storage. They do not allocate. BLAS and LAPACK
// routines are not used where they start goroutines, or where they skip zeros: 0·NaN must be NaN.

// finite reports whether x has no infinity and no NaN.
func finite(x []float64) bool {
	s, t := 0.0, 0.0 // x - x is 0 for a finite x, otherwise NaN
	for len(x) >= 2 {
		s += x[0] - x[0]
		t += x[1] - x[1]
		x = x[2:]
	}
	if len(x) > 0 {
		s += x[0] - x[0]
	}
	return s+t == 0
}

func dot(x, y []float64) float64 {
	if len(x) > 16 {
		return blas64.Implementation().Ddot(len(x), x, 1, y, 1)
	}
	s := 0.0
	y = y[:len(x)]
	for i, v := range x {
		s += v * y[i]
	}
	return s
}

// triSolveRight replaces b by the solution X of X op(A) = B. It solves the transposed system op(A)ᵀ
// Xᵀ = Bᵀ in work, which is as large as b, because one pass over A then serves all rows.
func triSolveRight(b, a []float64, n int, t TriAttr, work []float64) {
	t.Trans = !t.Trans
	if n == 0 || len(b) == n {
		triSolve(b, a, n, 1, t, false)
		return
	}
	rows := len(b) / n
	transpose(work, b, rows, n)
	triSolve(work, a, n, rows, t, false)
	transpose(b, work, n, rows)
}

// transpose writes the transpose of the rows×cols matrix a.
func transpose(dst, a []float64, rows, cols int) {
	for i := range rows {
		for j, v := range a[i*cols : (i+1)*cols] {
			dst[j*rows+i] = v
		}
	}
}

// triSolve replaces b, which has cols columns, by the solution of a triangular system with the
// matrix on the left. With unit, the diagonal of a counts as 1.
func triSolve(b, a []float64, n, cols int, t TriAttr, unit bool) {
	switch {
	case n == 0 || cols == 0:
	case cols == 1:
		triSolveVec(b, a, n, t.Upper, t.Trans, unit)
	default:
		impl := blas64.Implementation()
		for k := range n {
			i := k
			if t.Upper != t.Trans {
				i = n - 1 - k
			}
			row, x := a[i*n:(i+1)*n], b[i*cols:(i+1)*cols]
			// part is row i of a without its diagonal; rest are the rows of X that it multiplies.
			part, rest := row[:i], b[:i*cols]
			if t.Upper {
				part, rest = row[i+1:], b[(i+1)*cols:]
			}
			if !t.Trans && len(part) > 0 {
				impl.Dgemv(blas.Trans, len(part), cols, -1, rest, cols, part, 1, 1, x, 1)
			}
			if !unit {
				for c := range x {
					x[c] /= row[i]
				}
			}
			if t.Trans && len(part) > 0 {
				impl.Dger(len(part), cols, -1, part, 1, x, 1, rest, cols)
			}
		}
	}
}

func triSolveVec(x, a []float64, n int, upper, trans, unit bool) {
	for k := range n {
		i := k
		if upper != trans {
			i = n - 1 - k
		}
		row := a[i*n : (i+1)*n]
		part, rest := row[:i], x[:i]
		if upper {
			part, rest = row[i+1:], x[i+1:]
		}
		if !trans {
			x[i] -= dot(part, rest)
		}
		if !unit {
			x[i] /= row[i]
		}
		if trans {
			xi := x[i]
			rest = rest[:len(part)]
			for j, v := range part {
				rest[j] -= v * xi
			}
		}
	}
}

// factorLU replaces a by its factors L (below the diagonal, which is 1) and U. It swaps row i with
// row pivots[i], and returns the sign of the permutation.
func factorLU(a, pivots []float64, n int) float64 {
	sign := 1.0
	for k := range n {
		p := k
		for i := k + 1; i < n; i++ {
			if math.Abs(a[i*n+k]) > math.Abs(a[p*n+k]) {
				p = i
			}
		}
		pivots[k] = float64(p)
		if p != k {
			sign = -sign
			swapRows(a, k, p, n)
		}
		if k == n-1 {
			break
		}
		row := a[k*n : (k+1)*n]
		// The elements below are 0 too: the matrix is singular, and its determinant must be 0, not
		// NaN.
		if row[k] == 0 {
			continue
		}
		for i := k + 1; i < n; i++ {
			a[i*n+k] /= row[k]
		}
		if m := n - k - 1; m > 8 {
			blas64.Implementation().Dger(m, m, -1, a[(k+1)*n+k:], n, row[k+1:], 1, a[(k+1)*n+k+1:], n)
		} else {
			for i := k + 1; i < n; i++ {
				f, to := a[i*n+k], a[i*n:(i+1)*n]
				for j := k + 1; j < n; j++ {
					to[j] -= f * row[j]
				}
			}
		}
	}
	return sign
}

func swapRows(a []float64, i, j, n int) {
	x, y := a[i*n:(i+1)*n], a[j*n:(j+1)*n]
	for k := range x {
		x[k], y[k] = y[k], x[k]
	}
}

// solveLU replaces b by A⁻¹b or, with trans, by A⁻ᵀb, given A's factors L and U.
func solveLU(b, lu, pivots []float64, n, cols int, trans bool) {
	if !trans {
		for i := range n {
			if p := int(pivots[i]); p != i {
				swapRows(b, i, p, cols)
			}
		}
		triSolve(b, lu, n, cols, TriAttr{}, true)
		triSolve(b, lu, n, cols, TriAttr{Upper: true}, false)
		return
	}
	triSolve(b, lu, n, cols, TriAttr{Upper: true, Trans: true}, false)
	triSolve(b, lu, n, cols, TriAttr{Trans: true}, true)
	for i := n - 1; i >= 0; i-- {
		if p := int(pivots[i]); p != i {
			swapRows(b, i, p, cols)
		}
	}
}

// byBLAS implements kernel.RowLoops. For long rows it uses BLAS, which gives the same results.
type byBLAS struct{ kernel.PortableEigenLoops }

// Less implements kernel.RowLoops.
func (l byBLAS) Less(a []float64, stride int, u, v []float64) {
	if len(v) > 8 {
		blas64.Implementation().Dger(len(u), len(v), -1, u, 1, v, 1, a, stride)
		return
	}
	l.PortableEigenLoops.Less(a, stride, u, v)
}

// product computes the matrix product by its definition. It is for operands that are not finite,
// because BLAS loses 0·NaN.
func product(dst, a, b []float64, sa, sb []int, m MatMulAttr) {
	r, c, k, _ := m.dims(sa, sb)
	ra, ca := sa[1], 1
	if m.TransA {
		ra, ca = 1, sa[1]
	}
	rb, cb := sb[1], 1
	if m.TransB {
		rb, cb = 1, sb[1]
	}
	for i := range r {
		for j := range c {
			s := 0.0
			for l := range k {
				s += a[i*ra+l*ca] * b[l*rb+j*cb]
			}
			dst[i*c+j] = s
		}
	}
}
