package vm

import (
	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
)

// Products of matrices. Measured in ns per multiplication on a Zen 3 of two
// busy cores: a matrix times a vector 0.14 by gonum's assembly, 0.25 to 0.30 by
// Go loops over four rows; from 3×3 (2.0 against 3.6) through 40×40 (0.28,
// 0.31) to 100×100 (0.25, 0.29) the loops below are as fast as gonum's Dgemm,
// which beyond starts goroutines and allocates.

// multiply is dst = op(a) op(b), of r rows and c columns, summing over k.
func multiply(dst, a, b []float64, r, c, k int, ta, tb bool) {
	if k == 0 {
		clear(dst)
		return
	}
	switch {
	case c == 1:
		rows, cols := r, k
		if ta {
			rows, cols = k, r
		}
		matVec(dst, a, b, rows, cols, ta)
	case r == 1:
		rows, cols := k, c
		if tb {
			rows, cols = c, k
		}
		matVec(dst, b, a, rows, cols, !tb)
	case ta && tb:
		transposedBoth(dst, a, b, r, c, k)
	case tb:
		timesTransposed(dst, a, b, r, c, k)
	default:
		timesPlain(dst, a, b, r, c, k, ta)
	}
}

// matVec is dst = a x or, transposed, dst = aᵀ x for a of that many rows.
func matVec(dst, a, x []float64, rows, cols int, trans bool) {
	switch {
	case rows*cols >= 24 && trans:
		blas64.Implementation().Dgemv(blas.Trans, rows, cols, 1, a, cols, x, 1, 0, dst, 1)
	case rows*cols >= 24:
		blas64.Implementation().Dgemv(blas.NoTrans, rows, cols, 1, a, cols, x, 1, 0, dst, 1)
	case trans:
		clear(dst)
		addRows(dst, a, cols, x, 1)
	default:
		for i := range dst {
			dst[i] = dotLoop(x, a[i*cols:(i+1)*cols])
		}
	}
}

// Sizes of blocks that stay in the second-level cache.
const (
	blockRows = 64
	blockCols = 512
)

// timesPlain is dst = op(a) b by rows of b, blocks of b at a time.
func timesPlain(dst, a, b []float64, r, c, k int, ta bool) {
	clear(dst)
	for t := 0; t < k; t += blockRows {
		tn := min(blockRows, k-t)
		for j := 0; j < c; j += blockCols {
			jn := min(blockCols, c-j)
			for i := range r {
				out := dst[i*c+j : i*c+j+jn]
				if ta {
					addRows(out, b[t*c+j:], c, a[t*r+i:(t+tn-1)*r+i+1], r)
				} else {
					addRows(out, b[t*c+j:], c, a[i*k+t:i*k+t+tn], 1)
				}
			}
		}
	}
}

// addRows is dst += Σ_t x[t·step] · row t of a, whose rows stand stride apart,
// four rows at a time.
func addRows(dst, a []float64, stride int, x []float64, step int) {
	n := (len(x) + step - 1) / step
	t := 0
	for ; t+4 <= n; t += 4 {
		p0, p1, p2, p3 := a[t*stride:], a[(t+1)*stride:], a[(t+2)*stride:], a[(t+3)*stride:]
		p0, p1, p2, p3 = p0[:len(dst)], p1[:len(dst)], p2[:len(dst)], p3[:len(dst)]
		x0, x1, x2, x3 := x[t*step], x[(t+1)*step], x[(t+2)*step], x[(t+3)*step]
		for j := range dst {
			dst[j] += (p0[j]*x0 + p1[j]*x1) + (p2[j]*x2 + p3[j]*x3)
		}
	}
	for ; t < n; t++ {
		s, p := x[t*step], a[t*stride:]
		p = p[:len(dst)]
		for j := range dst {
			dst[j] += s * p[j]
		}
	}
}

// timesTransposed is dst = a bᵀ by inner products with rows of b, blocks of b
// at a time.
func timesTransposed(dst, a, b []float64, r, c, k int) {
	clear(dst)
	for t := 0; t < k; t += blockCols {
		tn := min(blockCols, k-t)
		for j := 0; j < c; j += blockRows {
			jn := min(blockRows, c-j)
			for i := range r {
				addDots(dst[i*c+j:i*c+j+jn], b[j*k+t:], k, a[i*k+t:i*k+t+tn])
			}
		}
	}
}

// transposedBoth is dst = aᵀ bᵀ, by parts of columns of a.
func transposedBoth(dst, a, b []float64, r, c, k int) {
	var column [blockRows]float64
	clear(dst)
	for t := 0; t < k; t += blockRows {
		x := column[:min(blockRows, k-t)]
		for i := range r {
			for s := range x {
				x[s] = a[(t+s)*r+i]
			}
			addDots(dst[i*c:(i+1)*c], b[t:], k, x)
		}
	}
}

// addDots is dst[i] += x · row i of a, whose rows stand stride apart.
func addDots(dst, a []float64, stride int, x []float64) {
	i := 0
	for ; i+4 <= len(dst); i += 4 {
		p0, p1, p2, p3 := a[i*stride:], a[(i+1)*stride:], a[(i+2)*stride:], a[(i+3)*stride:]
		p0, p1, p2, p3 = p0[:len(x)], p1[:len(x)], p2[:len(x)], p3[:len(x)]
		var s0, s1, s2, s3 float64
		for t, v := range x {
			s0 += p0[t] * v
			s1 += p1[t] * v
			s2 += p2[t] * v
			s3 += p3[t] * v
		}
		dst[i] += s0
		dst[i+1] += s1
		dst[i+2] += s2
		dst[i+3] += s3
	}
	for ; i < len(dst); i++ {
		dst[i] += dotLoop(x, a[i*stride:])
	}
}
