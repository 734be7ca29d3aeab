// Package dense implements dense linear algebra in machine code: Cholesky factors and their
// adjoints, triangular solves with many right sides, matrix products, inverses, and symmetric
// eigendecompositions.
//
// Map of the package:
//
//	tiles.go      Kernels: the functions that package native makes, once for a program
//	job.go        steps divided into parts, which workers may share
//	cholesky.go   factors and their adjoints
//	solve.go      triangular solves
//	product.go    products
//	eigen.go      the loops over rows of symmetric eigendecompositions and of inverses; the rest is
//	              in package kernel
//	exponential.go   exponentials of small matrices and their derivatives, one in each lane
//	small.go      factors, adjoints and solves for few rows: code for others to include, for one
//	              matrix or one in each lane
//
// # One tile
//
// Everything uses one loop: C ± Aᵀ B for a tile of C. A tile has as many rows as a vector has
// numbers, and is up to three vectors wide. Its sums stay in registers over all terms. Each term
// reads a row of A, number by number, and a row of B. At the end the sums are stored, added, or
// solved with a triangle of as many rows as the tile, still in registers. Factor, adjoint and
// solves go over blocks of rows in Go, with a few calls for each. Matrices are stored so that terms
// are rows, which needs transpositions. These move single numbers, which is fast enough and the
// same on every processor. Orders are rounded up to whole tiles, padded with the identity.
//
// The code uses only the target-neutral primitives of package native, so it also works on a new
// target. NEON, with tiles of four rows by six vectors, passes the tests under emulation; it uses
// the thresholds measured here. Without a target, package kernel and gonum do the work, and they
// define the results. Results here differ from theirs by roundings, because products are contracted
// and added in another order. No zero is skipped, so that 0·NaN is not lost.
//
// # What was measured
//
// These times are from a Sapphire Rapids with other jobs running: the minimum of many short
// batches, in one run with the loops of package kernel. The peak, for a tile in the first-level
// cache, was 56 products per nanosecond with AVX-512 and 33 with AVX2:
//
//	order   factor, kernel  AVX-512   AVX2   adjoint, kernel  AVX-512   AVX2
//	    8           180 ns   118 ns               260 ns   159 ns
//	   20           832 ns   579 ns             1.58 µs   710 ns
//	   50          5.99 µs  2.45 µs             13.8 µs  3.17 µs
//	  100          36.8 µs  9.62 µs             79.6 µs  13.6 µs
//	  128          77.1 µs  14.9 µs              181 µs  25.2 µs
//	  256           546 µs  86.2 µs             1.25 ms   161 µs
//	  512          4.38 ms  758 µs             9.80 ms  1.91 ms
//
// Straight-line code for few rows (small.go), on a Zen 5, as reported by ppl explain. The second
// number is the time with tiles:
//
//	order   factor         adjoint        solve with one right side, by the op's row before
//	    8   40 ns, 140      49 ns, 180     20 ns,  95
//	   11  100 ns, 360     110 ns, 410     25 ns, 130
//	   14  190 ns, 380     230 ns, 450     35 ns, 160
//	   16  280 ns, 320     360 ns, 430     45 ns, 180
//	   18  360 ns, 760     470 ns, 900     55 ns, 245
//	   20  500 ns, 610     900 ns, 750     65 ns, 240
//
// Symmetric eigendecompositions of random and of smooth matrices, on a Zen 5. The Go, AVX-512 and
// AVX2 loops give the same bits:
//
//	order   gonum              Go loops           AVX-512            AVX2
//	    5   1.63 µs, 1.49 µs   1.29 µs, 1.01 µs   1.15 µs, 0.88 µs   1.12 µs, 0.85 µs
//	   10   4.97 µs, 5.13 µs   4.49 µs, 4.18 µs   2.93 µs, 2.66 µs   2.89 µs, 2.63 µs
//	   20   15.9 µs, 23.5 µs   12.3 µs, 17.4 µs   5.72 µs, 8.90 µs   5.95 µs, 9.14 µs
//	   30   39.2 µs, 60.2 µs   26.4 µs, 43.1 µs   9.93 µs, 19.1 µs   10.4 µs, 18.8 µs
//	   50    148 µs,  216 µs   97.2 µs,  152 µs   25.8 µs, 50.5 µs   29.8 µs, 58.0 µs
//
// The chain of roots and quotients of the rotations, 15 ns each, takes two thirds of that time.
//
// Inverses of order 5, 15, 30 and 60 take 220 ns, 1.03, 5.4 and 29 µs. Factors and solves in Go
// took 310 ns, 1.9, 8.5 and 49 µs.
//
// Matrix products of order 128 reach 41 and 26 multiplications per nanosecond with AVX-512 and AVX2
// (0.74 and 0.80 of the peak), of order 256 43 and 27, of order 512 33 and 20. At order 100,
// copying takes a fifth of the time.
//
// With two workers instead of one, at orders about 500 and with parts of 48 columns, factors are
// 1.69 times as fast and adjoints 1.86 times. With parts of 72 columns it is 1.68 and 1.74, with 24
// columns 1.68 and 1.84, and with blocks of 24 rows 1.71 and 1.87. For a single worker, blocks of
// 48 rows would take 1.065 times as long at order 200, 1.035 at 256, and 1.02 at 300. So a single
// worker uses larger blocks.
//
// Rejected alternatives: tiles of inner products need a sum over lanes for each number of the tile,
// which at order 100 is more work than the products. A factorisation to the left of the diagonal
// needs no transposition of A, but a second pass for the triangle.
package dense
