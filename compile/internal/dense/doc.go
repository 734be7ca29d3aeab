// Package dense is dense linear algebra in machine code: Cholesky factors, their adjoints,
// triangular solves with many right sides, products of matrices, inverses, and symmetric
// eigendecompositions.
//
// Map of the package:
//
//	tiles.go      Kernels: the functions that package native makes, once for a program
//	job.go        steps in parts, which workers may share
//	cholesky.go   factors and their adjoints
//	solve.go      triangular solves
//	product.go    products
//	eigen.go      the loops over rows of symmetric eigendecompositions and of inverses; the rest is
//	              in package kernel
//	small.go      the first three for few rows: texts that others include in their code, for one
//	              matrix or one in each lane
//
// # One tile
//
// All of it is one loop: C ± Aᵀ B for a tile of C, of as many rows as a vector has numbers
// and up to three vectors wide, whose sums stay in registers over all terms; each term reads
// a row of A, number by number, and a row of B. What is done with the sums in the end
// differs: they are stored, added, or solved with a triangle of as many rows as the tile,
// still in registers. Factor, adjoint and solves walk over blocks of rows, in Go, at a
// few calls for each; matrices are held such that terms are rows, which is what
// transposing is for (by moves of numbers, which is fast enough and the same on every
// processor). Orders are rounded up to those of tiles by zeros and ones.
//
// The target-neutral primitives of package native are all that is used, so that a new
// target has this, too: NEON had, with tiles of four rows by six vectors, and passes the tests
// under emulation; its thresholds are those measured here. Where there is none, package kernel and
// gonum do the work: they are what is meant, and results differ from theirs by roundings, because
// products are contracted and added up in another order. No zero is skipped, so that 0·NaN is not
// lost.
//
// # What was measured
//
// On a Sapphire Rapids with other jobs, least of many short batches, in one run with the
// loops of package kernel; the peak, a tile of what is in the first-level cache, was 56
// products a nanosecond with AVX-512 and 33 with AVX2:
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
// Straight-line code for few rows (small.go), on a Zen 5 as ppl explain tells, with what tiles
// took before:
//
//	order   factor         adjoint        solve with one right side, by the op's row before
//	    8   40 ns, 140      49 ns, 180     20 ns,  95
//	   11  100 ns, 360     110 ns, 410     25 ns, 130
//	   14  190 ns, 380     230 ns, 450     35 ns, 160
//	   16  280 ns, 320     360 ns, 430     45 ns, 180
//	   18  360 ns, 760     470 ns, 900     55 ns, 245
//	   20  500 ns, 610     900 ns, 750     65 ns, 240
//
// Symmetric eigendecompositions, of random and of smooth matrices, on a Zen 5; they have the same
// bits whoever runs the loops:
//
//	order   gonum              Go loops           AVX-512            AVX2
//	    5   1.63 µs, 1.49 µs   1.29 µs, 1.01 µs   1.15 µs, 0.88 µs   1.12 µs, 0.85 µs
//	   10   4.97 µs, 5.13 µs   4.49 µs, 4.18 µs   2.93 µs, 2.66 µs   2.89 µs, 2.63 µs
//	   20   15.9 µs, 23.5 µs   12.3 µs, 17.4 µs   5.72 µs, 8.90 µs   5.95 µs, 9.14 µs
//	   30   39.2 µs, 60.2 µs   26.4 µs, 43.1 µs   9.93 µs, 19.1 µs   10.4 µs, 18.8 µs
//	   50    148 µs,  216 µs   97.2 µs,  152 µs   25.8 µs, 50.5 µs   29.8 µs, 58.0 µs
//
// There the chain of roots and quotients of the turns, 15 ns each, is two thirds of the time.
//
// Inverses of order 5, 15, 30 and 60 take 220 ns, 1.03, 5.4 and 29 µs, where factors and
// solves in Go took 310 ns, 1.9, 8.5 and 49 µs.
//
// Products of order 128 make 41 and 26 products of numbers a nanosecond (0.74 and 0.80 of the
// peak), of order 256 43 and 27, of order 512 33 and 20; of the time of those of order 100
// copying takes a fifth.
//
// Two workers instead of one, orders about 500: factors 1.69 times as fast, adjoints 1.86, with 48
// columns as a part; with 72 1.68 and 1.74, with 24 1.68 and 1.84, with blocks of 24 rows 1.71 and
// 1.87. Alone they would take 1.065 times as long at order 200 in blocks of 48 rows, 1.035 at 256,
// 1.02 at 300, which is why who works alone has wider ones.
//
// Alternatives: tiles of inner products have as many sums over lanes as there are numbers
// in the tile, which at order 100 is more work than the products; a factorisation to the
// left of the diagonal needs no transposition of A, but a second pass for the triangle.
package dense
