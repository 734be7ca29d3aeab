package kernel

// This file: inverses of square matrices.

import "math"

// RowLoops is the loop over rows in which a matrix inversion spends its time. All implementations
// compute the same numbers: each product and difference is rounded separately.
type RowLoops interface {
	// Less subtracts u[i]·v from row i of a.
	Less(a []float64, stride int, u, v []float64)
}

// InvertWork returns the size of the work space of Invert.
func InvertWork(n, stride int) int { return n*stride + stride + 2*n }

// Invert sets dst to the inverse of the n×n matrix a, by Gauss-Jordan elimination in place with
// partial pivoting. Rows of the work space are stride numbers apart, at least n; numbers beyond n
// do not change the result. A singular matrix gives infinities or NaN.
//
// A factorisation followed by triangular solves for n right-hand sides takes as many products but
// three times as many loops, which dominate the time if n is small.
func Invert[L RowLoops](dst, a []float64, n, stride int, loops L, work []float64) {
	m, v := work[:n*stride], work[n*stride:(n+1)*stride]
	u, pivots := work[(n+1)*stride:][:n], work[(n+1)*stride+n:][:n]
	for i := range n {
		clear(m[i*stride+copy(m[i*stride:], a[i*n:(i+1)*n]) : (i+1)*stride])
	}
	for k := range n {
		p, largest := k, math.Inf(-1)
		for i := range u {
			x := m[i*stride+k]
			u[i], m[i*stride+k] = x, 0
			if x = math.Abs(x); i >= k && x > largest {
				p, largest = i, x
			}
		}
		pivots[k] = float64(p)
		row := m[k*stride : (k+1)*stride]
		if p != k {
			other := m[p*stride : (p+1)*stride]
			for j, x := range row {
				row[j], other[j] = other[j], x
			}
			u[k], u[p] = u[p], u[k]
		}
		d := 1 / u[k]
		u[k], row[k] = 0, 1
		for j := range row {
			row[j] *= d
		}
		copy(v, row)
		loops.Less(m, stride, u, v)
	}
	for i := range n {
		copy(dst[i*n:(i+1)*n], m[i*stride:])
	}
	for k := n - 1; k >= 0; k-- { // undo the exchanges of rows: exchange columns in reverse order
		if p := int(pivots[k]); p != k {
			for i := range n {
				row := dst[i*n : (i+1)*n]
				row[k], row[p] = row[p], row[k]
			}
		}
	}
}
