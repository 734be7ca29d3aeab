package vm

import (
	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"

	"github.com/ppl-lang/ppl/ad/kernel"
	"github.com/ppl-lang/ppl/compile/internal/ops"
)

// This file: products of matrices. Measured in ns per multiplication on a Zen 3 with two busy
// cores. A matrix times a vector: 0.14 by gonum's assembly, 0.25 to 0.30 by Go loops over four
// rows. Square matrices: by the tiles of package kernel 1.9 (3×3), 0.28 (40×40), 0.22 (100×100); by
// the loops over four rows 2.0, 0.31 and 0.29; by gonum's Dgemm 3.6, 0.28 and 0.25. For larger ones
// Dgemm starts goroutines and allocates.

// multiply computes dst = op(a) op(b), with r rows and c columns, summing over k.
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
	case r < fewRows && !ta && k*c >= minVector: // row by row
		for i := range r {
			multiply(dst[i*c:(i+1)*c], a[i*k:(i+1)*k], b, 1, c, k, false, tb)
		}
	case ta && tb:
		transposedBoth(dst, a, b, r, c, k)
	case tb:
		timesTransposed(dst, a, b, r, c, k)
	default:
		timesPlain(dst, a, b, r, c, k, ta)
	}
}

// matVec computes dst = a x or, transposed, dst = aᵀ x, where a has rows rows.
func matVec(dst, a, x []float64, rows, cols int, trans bool) {
	switch {
	case rows*cols >= minVector && trans:
		blas64.Implementation().Dgemv(blas.Trans, rows, cols, 1, a, cols, x, 1, 0, dst, 1)
	case rows*cols >= minVector:
		blas64.Implementation().Dgemv(blas.NoTrans, rows, cols, 1, a, cols, x, 1, 0, dst, 1)
	case trans:
		clear(dst)
		kernel.AddRows(dst, cols, 1, cols, 1, x, 0, 1, a, cols, rows)
	default:
		for i := range dst {
			dst[i] = ops.DotOf(x, a[i*cols:(i+1)*cols])
		}
	}
}

// timesPlain computes dst = op(a) b: it adds multiples of rows of b to rows of dst, in blocks of b
// that fit into a cache.
func timesPlain(dst, a, b []float64, r, c, k int, ta bool) {
	clear(dst)
	for t := 0; t < k; t += blockRows {
		tn := min(blockRows, k-t)
		for j := 0; j < c; j += blockCols {
			jn := min(blockCols, c-j)
			if ta {
				kernel.AddRows(dst[j:], c, r, jn, 1, a[t*r:], 1, r, b[t*c+j:], c, tn)
			} else {
				kernel.AddRows(dst[j:], c, r, jn, 1, a[t:], k, 1, b[t*c+j:], c, tn)
			}
		}
	}
}

// timesTransposed computes dst = a bᵀ as inner products with rows of b, in blocks of b that fit
// into a cache.
func timesTransposed(dst, a, b []float64, r, c, k int) {
	clear(dst)
	for t := 0; t < k; t += blockCols {
		tn := min(blockCols, k-t)
		for j := 0; j < c; j += blockRows {
			jn := min(blockRows, c-j)
			kernel.AddDots(dst[j:], c, r, jn, 1, a[t:], k, b[j*k+t:], k, tn)
		}
	}
}

// transposedBoth computes dst = aᵀ bᵀ. It transposes some columns of a at a time.
func transposedBoth(dst, a, b []float64, r, c, k int) {
	var column [blockRows]float64
	clear(dst)
	for t := 0; t < k; t += blockRows {
		x := column[:min(blockRows, k-t)]
		for i := range r {
			for s := range x {
				x[s] = a[(t+s)*r+i]
			}
			kernel.AddDots(dst[i*c:], c, 1, c, 1, x, 0, b[t:], k, len(x))
		}
	}
}
