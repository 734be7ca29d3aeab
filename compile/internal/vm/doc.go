// Package vm is the executor: it generates code for a loop nest once and runs it millions of times
// without allocating. It has a portable interpreter and, if processor and system support it,
// machine code.
//
// Map of the package:
//
//	program.go     Program, Machine, and the form of what a machine runs
//	tuning.go      tuning constants of code generation
//	emit.go        from blocks to instructions; lifetimes of values
//	stripcode.go   from blocks of maps to instructions
//	inplace.go     arrays that are changed in place
//	work.go        the numbers that an evaluation computes and copies
//	copies.go      loops whose steps mostly copy arrays
//	memory.go      assignment of places in the arena
//	callers.go     long inputs and outputs in the memory of Gradient's caller
//	shareddata.go  arrays of data that are parts of longer ones
//	stop.go        abandoning evaluations that take long
//	exec.go        runs blocks; control.go: how scans, conditionals and while loops run their bodies
//	scalar.go      the interpreter of scalar code
//	chain.go       recurrences of one number, each a loop; ahead.go: by look-ahead, in vectors
//	strip.go, moves.go, loops.go   strips, the instructions that move numbers by tables, their loops
//	grid.go        strips that end with the rows of a grid
//	matmul.go, sparse.go, lse.go   products of matrices, dense and mostly zero; log_sum_exp
//	arrayops.go    implementations of single ops on arrays, one row per op
//	dense.go       factorisations and triangular solves, by package dense
//	native.go        machine code: which code, and for which processor
//	nativescalar.go, nativestrip.go, nativesums.go, nativescan.go, nativematmul.go, nativesparse.go,
//	nativedense.go, nativebatch.go, nativeexp.go   by kind of block
//	nativerun.go     consecutive blocks as one function
//	nativeregion.go  conditionals and loops among them
//	nativeahead.go   look-ahead of recurrences
//	nativelanes.go   lanes of these regions as vectors; nativescanlanes.go: those of scans of scalar code
//	split.go       blocks in parts, for several workers
//	onepass.go     products with a tall matrix and its transpose in one pass over its rows
//	regionparts.go regions in parts: some of their lanes each
//	team.go        the workers
//	profile.go     times of blocks
//	listing.go     Program.String
//
// What is compiled, and the passes that make it fast, are in packages loopnest
// and passes; doc/reference/engine.md explains the whole.
//
// # The form
//
// A program is a list of blocks. A scalar block is code {op, dst, a, b, c} over places in memory. A
// strip block runs over n elements, up to 512 at a time. Its operands are views: slices that are
// set anew for every strip. So values that only the block needs are temporaries of one strip, and
// sums, gathers, scatters and checks are instructions like others. All other ops form separate
// blocks; a region's block holds the blocks of its bodies. A step of a scan sets the views of its
// streams to the next slice and copies scalars in and out; nothing else moves.
//
// A value is a pair (root, offset), not memory. The parts of a concatenation are computed in place
// there. So is a value that alone fills a part of a sum of scatters, mostly the gradient of a
// parameter vector. Parts of a scan's result that nobody reads are not stored. Constants stay where
// the graph holds them.
//
// A machine's inputs keep their values, and outputs have separate memory. A rejected run leaves
// nothing behind that a later one reads.
//
// # What was measured
//
// doc/evidence/engine-measured.md has the benchmark suite. These measurements decided the design.
// They are minima of many short batches on a Zen 3 virtual machine of two busy cores (TestMeasure;
// math.Exp takes 13 ns there, math.Log 10):
//
//   - Strips of L1 size against whole arrays, block by block: no difference,
//     because Go's scalar loops, at 0.35 to 0.65 ns per element and instruction,
//     are bound by latency, not by memory. One block instead of many is 1.34×
//     for arrays of 8. Strips save memory (a temporary costs 4 KB, not the size of the data) and
//     help vector kernels, which memory limits. The goal is fewer passes, hence the next points.
//
//   - Products joined with sums, sums of products: hierarchical regression
//     116 → 107 µs, schools of scalars 630 → 400 ns.
//
//   - Uniform factors moved out of arrays and sums (pass hoist): hierarchical
//     90 → 44 µs, volatility 53 → 34, mixture 32 → 27. Rows sorted: 44 → 40.
//
//   - Checks of arrays within strips, where their operands are in L1, instead of
//     their own pass: 11 % of a hierarchical regression; and rows with
//     checks can be sorted.
//
//   - exp and log of strips by table, inline: 3.6 and 5.9 ns. With exponentials
//     shared between a logistic function and its derivatives: mixture 90 → 38
//     µs, logistic regression 52 → 24, volatility 92 → 60. Sums of logarithms
//     by products of mantissas: 0.6 ns.
//
//   - Loop distribution: GARCH 35 → 20 µs for 200 days; a loop for bodies of
//     scalar code alone → 16; streams of zeros removed → 13.2; recurrences
//     shortened and run as chains → 9.2; sums of logarithms by products → 7.5;
//     squares carried instead of roots, roots not computed twice → 5.1.
//
//   - Scalar code ordered by op: 1470 → 630 ns for eight schools. The processor then predicts the
//     jumps (3.4 instead of 7.5 ns per instruction). Runs
//     of one op in an inner loop 400 → 320.
//
//   - Matrix times vector by gonum's Dgemv, 0.14 ns per product against 0.25;
//     matrix times matrix by the tiles of package kernel, see matmul.go.
//
//   - Cholesky factors by such tiles, their adjoint by one kernel instead of two
//     triangular solves and a product: Gaussian process of 100 points 1050 → 269
//     µs (by hand 459); of 20 points 10.2 µs (11.1), of 400 10.3 ms (24.1).
//     By package dense, on a Sapphire Rapids with AVX-512, measured in alternating runs: 20 points
//     4.3 → 2.9 µs, 100 points 150 → 53 µs, 400 points 7.2 → 2.1 ms; covariances of 50 outcomes
//     118 → 79 µs.
//
//   - Machine code (package native) for all elementwise ops, on a machine with 30 to 70 other jobs,
//     as minima of a few batches, so that only the ratios count: linear regressions of 1192 rows
//     4.7 → 0.7 µs, hierarchical ones of 12573 rows 54 → 30, logistic ones of 3020 rows 80 → 27, a
//     latent regression (2-pl) of 2000 answers 52 → 26. Consecutive blocks as one function: an ODE
//     of two states 2.1 → 0.85 ms, a rate 211 → 85 ns. Steps of scans as one function, with short
//     log_sum_exps taken apart so that they are scalar code: hidden Markov models 150 → 70 µs, 35 →
//     13, dogs 41 → 10, ARMA 4.8 → 2.4.
//
//   - Powers in machine code, and their derivatives for constant exponents without a
//     second power: 40 → 7 ns each; dogs (hierarchical) 116 → 12 µs, dugongs 2.6 →
//     0.4, loss curves 2.5 → 1.1.
//
//   - Scans whose bodies are more than scalar code within the functions of the blocks around them,
//     instead of Go's loop over their steps, which moved views and called a function: a step of
//     the derivative of a hidden Markov model of 2 states 50 → 12 ns.
//
//   - Point and gradient copied by the function of a whole program: a density of one number 32 → 16
//     ns, one of five 63 → 26; eight schools 103 → 59, a linear regression of one predictor 83 → 56
//     (Zen 3).
//
//   - Sums by runs of rows in machine code: regressions by group of 919 rows, intercepts and slopes
//     2.3 → 1.5 µs, of 12573 rows, intercepts alone 16.1 → 12.3.
//
//   - Look-ahead of recurrences of one number (ahead.go), so that four steps are the lanes of a
//     vector that waits for one product and one sum: 2000 steps forwards and back 5.3 + 5.1 → 1.3 +
//     1.4 µs (GARCH), 4.9 + 3.3 → 1.1 + 1.0 (autoregression), with AVX2 and AVX-512 (Zen 4). Prefix
//     sums within a vector (Kogge-Stone) took 1.2 µs in C in vectors of four and of eight lanes,
//     step by step 3.2; blocks of 8 × 8 steps that are transposed 3.4.
//
//   - Rejected: a loop over the ops of any recurrence of one number, each with a separate code,
//     instead of the interpreter of scalar code: 1.02 (ARMA), 1.00 (dogs, a hidden Markov model),
//     0.95 (states of a time series). Loops for four recurrences remain.
//
//   - Factors, adjoints, triangular solves and products of small matrices in lanes as vectors
//     across these, with AVX-512 or AVX2, ns each: factors of order 2, 3, 5 and 8 6.0 → 1.6, 9.9 →
//     3.1, 18.6 → 7.4, 39.5 → 18; solves 2.5 → 1.0, 3.7 → 1.6, 6.5 → 3.7, 11 → 7; adjoints 2.7 →
//     1.1, 4.6 → 3.2, 15.1 → 10, 45 → 25. Vectors of eight gain no more than those of four, because
//     the moves from lanes to vectors and back take most of the time.
//
//   - Exponentials of small matrices and their derivatives, in lanes as vectors across these, with
//     AVX-512 on a Zen 4: 4700 exponentials of order 4 3.1 → 0.27 ms, their derivatives 6.5 → 0.52.
//     A model of 200 subjects with these 10.3 → 1.38 ms, of 20 subjects and order 3 353 → 25 µs.
//
//   - Results of scalar code that nothing else reads are stored only if their register is needed:
//     an epidemic (ode_rk45, 3 states) 10.5 → 10.0 µs, a stiff reaction 147 → 133 (Zen 4).
//
//   - Sums by tables in machine code: item response models, edges of a map, counts 1.03 to 1.05
//     times as fast, sums into windows that overlap 1.15, products with a sparse matrix of
//     parameters 1.06. They mostly wait for numbers that were just stored.
//
//   - Loads and sums by the rows and columns of a grid, as loops over rows: item responses of 100
//     persons to 50 items 18.6 → 10.8 µs, a factor model of 500 rows and 10 outcomes 6.7 → 4.6, a
//     network of 500 rows and 8 hidden units 26 → 22 (Zen 4).
//
//   - While loops within the functions of the blocks around them, and their lanes as
//     vectors: a Conway-Maxwell-Poisson regression of 200 rows, whose loops parameters end,
//     502 → 192 → 91 µs (Zen 5, AVX-512).
//
//   - Separate loops for sums into slices of an array that are a few elements apart, as in the
//     derivative of x[2:n] - x[1:n-1]. A single loop would load a vector that two stores have just
//     written, which takes 14 cycles. Stochastic volatility of 2000 days 14.6 → 7.3 µs (Zen 3).
//
//   - Two workers instead of one, in alternating runs, as minima of many evaluations. The Zen 5
//     (AVX-512) had two processors and some 20 other jobs, so several gains are too low:
//     skew-normal regression of 50,000 rows 404 → 204 µs, Student-t regression of 100,000 rows with
//     two groupings 408 → 221, Poisson regression of 100,000 × 10 302 → 186, topics (latent
//     Dirichlet allocation) of 40,000 words 1.84 → 1.03 ms, of 33,000 with ldaK5 of posteriordb
//     1.70 → 1.25, logistic regression of 200,000 × 20 2.20 → 1.46, which reads 64 MB, Poisson
//     terms of 100,000 rows by reduce_sum 156 → 95 µs.
//
//   - The same for factors, solves, lanes of regions and products with many terms, on a machine of
//     two busy processors. Both workers had priority over other jobs; minima of some 500 single
//     evaluations: Gaussian processes of 500 points, exact 3.89 → 2.40 ms (factor 1.69, its
//     adjoint 1.86), latent 3.74 → 2.36; an ODE of two states for 200 subjects 3.73 → 1.98; 40,000
//     rows of eight normal outcomes 1.02 → 0.53; a layer of 50 × 20 weights of 5000 rows 1.09 →
//     0.61; topics (ldaK5) of 98,631 words 1.63 → 0.94, of 32,877 0.61 → 0.40.
//
//   - Vectors in scratch memory aligned to a multiple of their size: that ODE 4.4 → 3.7 ms, item
//     responses 0.78 → 0.67, a hierarchical regression 0.83 → 0.72, a mixture 1.08 → 0.96.
//
// # What it does not do
//
// Go's loops, not machine code, compute functions without a routine (such as incomplete gamma
// functions), sums of a few neighbours each, sums of logarithms, and lanes of regions that work
// with arrays. Scans with lanes and scans whose bodies have lanes are not distributed.
//
// Columns of data have numbers of 64 bits, even if each of them fits 32 bits. With 32 bits, both
// products of a logistic regression of 1000 × 24 would take 0.85 of the time, its gradient 0.9.
// Products of 300 × 24 would take 0.95, of 12,500 × 4, which are part of other loops here, 0.62.
// Whole numbers of 8 bits would take 1.45, because they need two more instructions each (C, AVX2,
// Zen 3). But measured columns do not fit 32 bits. In columns of counts and indicators rows repeat
// and are merged, or most elements are 0 and are left out.
//
// Workers do not share scans, regions whose lanes work with arrays, eigendecompositions and
// inverses without lanes, solves with few right sides, products with sparse matrices, or copies of
// point and gradient. Nor do they share sums by index tables with nearly as many elements as terms:
// neighbours on a map (120,000 areas with 600,000 edges take 1.46 ms, with two workers 1.50), and
// sums into a symmetric matrix (0.16 ms of the exact Gaussian process of 500 points). Without a
// copy of the array for each part, these would need a table of terms by element, and terms stored
// before they are added. A hidden Markov model and GARCH are scans; the first gains a factor of
// 1.1, the second nothing. 600,000 days of stochastic volatility gain 1.1, because copies of point
// and gradient take a quarter of the time. If other jobs use the second processor all the time, two
// workers take longer than one: that Gaussian process 1.25 times as long, GARCH 1.4 to 1.6.
package vm
