package vm

// This file: tuning constants of code generation. Where no measurement is given, the number was
// chosen without one.

// maxStrip is the number of elements of a strip. A temporary of a strip takes 4 KB, so that those
// of a block stay in the first-level cache. Strips of 128 take 1.21 times as long for a
// hierarchical regression of 12,500 rows, 1.05 for volatility, 1.00 for a mixture, 1.04 for item
// responses; strips of 2048 took 0.98 to 1.01 times as long. With more than 1000 elements, the
// product that sums logarithms would overflow.
const maxStrip = 512

// manyArrays is the number of arrays above which placeMany replaces the search for the first gap,
// which examines all live arrays: a loop unrolled to 55,000 operations took 25 s to place.
const manyArrays = 2000

// Sizes of the blocks of a matrix that stay in the second-level cache during a product by tiles;
// matmul.go has the gains.
const (
	blockRows = 64
	blockCols = 512
)

// Products without machine code. minVector is the least number of elements of a matrix that gonum's
// assembly multiplies with a vector. A left matrix with fewer than fewRows rows is multiplied row
// by row, as vectors: 2 × 25 times 25 × 1169 took 15.6 µs by tiles and takes 8.8.
const (
	minVector = 24
	fewRows   = 8
)

// Machine code.
const (
	// maxNative is the largest number of consecutive instructions with machine code. Longer code is
	// interpreted: its machine code would exceed the second-level cache, where code without loops
	// is not faster than the interpreter.
	maxNative = 20000

	// wideFrom is the number of elements from which strips use vectors of 512 bits. While these
	// run, one of the two other vector units is off. For short strips, this costs the scalar code
	// around them more than they gain.
	wideFrom = 64

	// fromDense is the least order of matrices for which package dense factorises, and computes
	// adjoints, by tiles. Below it uses straight-line code, with AVX-512 in 0.29 of the time (order
	// 8), 0.28 (11), 0.5 (14), 0.9 (16, two whole tiles) and 0.5 (18). Above, straight-line code
	// would exceed the first-level cache of instructions.
	fromDense = 19

	// maxInLanes is the largest number of rows, columns and terms of matrix products whose lanes
	// become vectors; maxTransposed is the bound for a transposed right matrix. Products of order 2
	// and 3 take 0.5 of the time, of order 4 1.2; transposed 0.33 and 0.65, of order 5 0.63, of
	// order 8 1.3.
	maxInLanes, maxTransposed = 3, 5

	// fromSolves is the least order of triangular systems that are not straight-line code. maxRight
	// is the largest number of right sides of those that are: with one right side they take 0.2 to
	// 0.3 of the time of the op's row. Larger lower triangular systems with one right side are
	// solved in blocks of rows, in 0.28 of the time (order 30), 0.26 (50), 0.22 (100).
	fromSolves, maxRight = 25, 8

	// maxExponential is the largest order of matrices whose exponentials are computed in lanes.
	// exponentialWork is the time for a vector of lanes of exponentials with their derivatives, in
	// the unit of pauseWork, for each number in a product of their rows and columns.
	maxExponential, exponentialWork = 8, 16

	// fromWide is the least number of multiplications for which matrix products of at least eight
	// columns use vectors of 512 bits: 100 × 785 times 785 × 10, and its derivative, gain 1.04.
	fromWide = 5000

	// leftByUniforms is the number of vector registers that must stay free when numbers shared by
	// all elements of a strip are kept in registers.
	leftByUniforms = 10

	// fromSolve is the least order and number of right sides, and fromSolution the least number of
	// elements of the solution, for which package dense solves triangular systems. Speedups: order
	// 3 with 32 right sides 0.9 to 1.3, with 100 1.4 to 2.6; order 12 with 8 1.0 to 2.1; order 50
	// with 4 1.1 to 2.3; order 100 with 100 2.8 to 4.9.
	fromSolve, fromSolution = 3, 96

	// fromEigen is the least order of symmetric matrices whose eigendecompositions use machine code
	// for loops over rows: order 3 gains 1.0, 5 1.15, 10 1.6, 30 2.4 to 2.8.
	fromEigen = 4

	// fromInverse is the least order of inverses that use machine code for the loop over rows:
	// order 5 gains 1.2, 10 1.1, 15 1.3, 60 1.45.
	fromInverse = 5

	// fromBoth is the least number of multiplications for which package dense multiplies two
	// transposed matrices, instead of Go's loops: order 30 takes 1.0 instead of 6.8 µs.
	fromBoth = 500

	// fromProduct and fromProducts are the least dimension and the least number of multiplications
	// for which package dense multiplies matrices; with few terms only if the right one is
	// transposed. Measured against tiles made for the exact sizes, which copy nothing: squares of
	// order 50 gain 0.96 to 1.11, 100 1.16 to 1.40, 256 1.24 to 1.72; 100 × 100 with 2 to 16 terms,
	// transposed, 1.4 to 1.7, not transposed 0.6 to 0.8; a dimension of 20 loses (0.5 to 0.8).
	fromProduct, fromProducts = 50, 500000

	// maxCleared is the number of elements up to which a function of several blocks clears them.
	// Blocks that clear more stay separate.
	maxCleared = 256

	// maxUnrolledSide is the largest number of rows and of columns of a known matrix whose product
	// with a vector is written out term by term.
	maxUnrolledSide = 24

	// maxExchanged is the total size of point and gradient up to which the function of a program
	// copies them, number by number.
	maxExchanged = 128

	// maxWritten is the number of vectors up to which a copy is a sequence of instructions; longer
	// copies are loops.
	maxWritten = 16

	// unrolled is the number of elements up to which the lanes of a strip, and moves at computed
	// positions, are sequences of instructions instead of loops.
	unrolled = 8
)

// splitting has the constants of the division of blocks into parts, see split.go. The division
// depends only on these numbers and on sizes.
var splitting = struct {
	// block and program are the least estimated times, in ns, of a block that runs in parts, and of
	// all such blocks of a program together. Waking a helper costs 16 µs, and it takes 100 µs to
	// arrive unless it has just been working.
	block, program float64
	// part is the intended time of a part: a hundred times the cost of handing it over.
	part float64
	// pass is the intended size, in bytes, of the rows of a matrix in a part of a pass over it
	// (onepass.go): half of a second-level cache of 1 MB, which then holds what the map reads, too.
	pass int
}{block: 10e3, program: 150e3, part: 10e3, pass: 512 << 10}

const (
	// byMachine is the assumed speedup of machine code over the weights of ops: with AVX-512 it is
	// 3 to 8 for maps of large models, 1.5 to 2.5 for products with a vector.
	byMachine = 4
	// minParts is the intended minimum number of parts, if there are enough units, so that workers
	// end at about the same time.
	minParts = 16
	// A product of matrices with one row, or of a transposed matrix, with at least fromTerms terms
	// adds the terms in at most maxTerms parts. It keeps at most maxTerms times maxSums numbers.
	// With a transposed matrix a part has at least minTerms terms, so that adding a part's sums to
	// others costs little.
	fromTerms, maxTerms, maxSums, minTerms = 4096, 64, 4096, 256
	// fewTrips is the assumed number of trips of while loops with lanes.
	fewTrips = 4
	// The number of right sides solved in a part is a multiple of wholeSides: the columns of the
	// widest tile of package dense.
	wholeSides = 24
	// denseParts is the number of parts of the rows of a product by package dense.
	denseParts = 4
	// If parts keep their own sums of arrays, the number of parts is a multiple of minSumParts, and
	// the arrays have no more than maxKept elements per added number: clearing and adding an
	// element takes some 0.2 ns, computing and adding a number several.
	minSumParts, maxKept = 4, 0.25
)

// minUpdated is the least size of an array whose reads are recorded, so that it may be changed in
// place: shorter ones are copied in a few instructions, or are scalars.
const minUpdated = 8

// A loop is reported if copies of arrays are at least copiedShare of the work of its steps,
// minCopied numbers in each step and minCopiedSteps over all steps, which takes about 5 µs. Steps
// that compute all elements of an array anew have a lower share.
const (
	copiedShare    = 0.6
	minCopied      = 64
	minCopiedSteps = 1 << 14
)
