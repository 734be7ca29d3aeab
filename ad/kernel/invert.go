package kernel

// Inverses of square matrices.

import "math"

// RowLoops is the loop over rows that an inverse spends its time in. Whoever runs it computes
// the same numbers: products and differences that are rounded one by one.
type RowLoops interface {
	// Less subtracts u[i]·v from row i of a.
	Less(a []float64, stride int, u, v []float64)
}

// InvertWork is the size of the work space of Invert.
func InvertWork(n, stride int) int { return n*stride + stride + 2*n }

// Invert makes dst the inverse of the n×n matrix a, by Gauss-Jordan elimination in place with
// the largest pivot of each column. Rows of the work space are stride numbers apart, at least
// n; what stands beyond n does not change the result. A singular matrix leaves infinities
// or NaN.
//
// Factors and triangular solves with n right sides take as many products and three times as
// many loops, which for few rows is what takes the time.
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
	for k := n - 1; k >= 0; k-- { // rows were swapped on the way in: columns are on the way back
		if p := int(pivots[k]); p != k {
			for i := range n {
				row := dst[i*n : (i+1)*n]
				row[k], row[p] = row[p], row[k]
			}
		}
	}
}
