package vm

// The numbers that steer the making of code. Where no measurement is given the number
// was chosen and not measured.

// maxStrip is the number of elements that a strip runs over at a time. A temporary of
// a strip takes 4 KB, so that those of a block stay in the first-level cache. Strips of
// 128 take 1.21 times as long for a hierarchical regression of 12,500 rows, 1.05 for
// volatility, 1.00 for a mixture, 1.04 for item responses; strips of 2048 took 0.98 to
// 1.01 times as long. Above 1000 the product that sums logarithms leaves the range of numbers.
const maxStrip = 512

// manyArrays is the number of arrays above which the search for the first gap,
// which looks at all that are alive, gives way to placeMany: a loop unrolled to
// 55,000 operations took 25 s to place.
const manyArrays = 2000

// Blocks of a matrix that stay in the second-level cache, in the product of matrices by
// tiles: see matmul.go for what they gain.
const (
	blockRows = 64
	blockCols = 512
)

// Of products without machine code: minVector is how many elements a matrix has from which
// gonum's assembly multiplies it with a vector, and fewRows how many rows the left matrix has at
// least that is not taken row by row, as so many vectors: 2 × 25 times 25 × 1169 took 15.6 µs by
// tiles and takes 8.8.
const (
	minVector = 24
	fewRows   = 8
)

// Of machine code.
const (
	// maxNative is the number of instructions in a row beyond which code is left to
	// the interpreter: it would leave the second-level cache, where unrolled code is
	// no faster.
	maxNative = 20000

	// wideFrom is the number of elements from which strips use vectors of 512 bits: while
	// these are under way, one of the two other units is off, which costs scalar code
	// around short strips more than they gain.
	wideFrom = 64

	// fromDense is the order of matrices from which package dense factorises, and finds adjoints,
	// by tiles; below it does so by straight-line code, with AVX-512 in 0.29 of the time (order 8),
	// 0.28 (11), 0.5 (14), 0.9 (16, two whole tiles) and 0.5 (18). Beyond, the code would leave the
	// first-level cache of instructions.
	fromDense = 19

	// maxInLanes is the most rows, columns and terms of products of matrices whose lanes are
	// vectors, maxTransposed that where the right one is transposed: products of order 2 and 3
	// take 0.5 of the time, of order 4 1.2, transposed 0.33, 0.65, of order 5 0.63, of order 8 1.3.
	maxInLanes, maxTransposed = 3, 5

	// fromSolves is the order of triangular systems from which they are no straight-line code,
	// and maxRight the most right sides of those that are: with one right side it takes 0.2 to
	// 0.3 of the time of the op's row. Beyond, lower triangular systems with one right side are
	// solved in blocks of rows, in 0.28 of the time (order 30), 0.26 (50), 0.22 (100).
	fromSolves, maxRight = 25, 8

	// fromWide is the number of products of numbers from which products of matrices of at
	// least eight columns use vectors of 512 bits: 100 × 785 times 785 × 10, and its
	// derivative, gain 1.04.
	fromWide = 5000

	// leftByUniforms is how many vector registers the numbers that all elements of a strip
	// share leave to what is computed.
	leftByUniforms = 10

	// fromSolve and fromSolution are the least order and number of right sides, and the least
	// number of elements of the solution, from which it solves triangular systems: of order 3
	// with 32 right sides 0.9 to 1.3 times as fast, with 100 1.4 to 2.6; of order 12 with 8
	// 1.0 to 2.1; of order 50 with 4 1.1 to 2.3; of order 100 with 100 2.8 to 4.9.
	fromSolve, fromSolution = 3, 96

	// fromEigen is the order of symmetric matrices from which the loops over rows of
	// eigendecompositions are machine code: of order 3 they gain 1.0, of 5 1.15, of 10 1.6, of 30
	// 2.4 to 2.8.
	fromEigen = 4

	// fromInverse is the order from which the loop over rows of inverses is machine code: of
	// order 5 it gains 1.2, of 10 1.1, of 15 1.3, of 60 1.45.
	fromInverse = 5

	// fromBoth is the number of products of numbers from which package dense multiplies two
	// transposed matrices, which are Go's loops otherwise: of order 30 1.0 instead of 6.8 µs.
	fromBoth = 500

	// fromProduct and fromProducts are the least dimension, and the least number of products of
	// numbers, from which package dense multiplies matrices; with few terms it does so if the
	// right one is transposed. Measured against tiles made for the very sizes, which copy
	// nothing: squares of order 50 gain 0.96 to 1.11, of 100 1.16 to 1.40, of 256 1.24 to
	// 1.72; 100 × 100 with 2 to 16 terms, transposed, 1.4 to 1.7, without 0.6 to 0.8; a
	// dimension of 20 loses (0.5 to 0.8).
	fromProduct, fromProducts = 50, 500000

	// maxCleared is the most elements that are cleared where blocks in a row are one function;
	// beyond, blocks stay apart.
	maxCleared = 256

	// maxUnrolledSide is the number of rows, and of columns, up to which products of a known matrix
	// and a vector are written out.
	maxUnrolledSide = 24

	// maxExchanged is the number of elements of point and gradient together up to which the
	// function of a program copies them, one by one.
	maxExchanged = 128

	// maxWritten is the number of vectors up to which copies are written out; beyond they are
	// loops.
	maxWritten = 16

	// unrolled is the number of elements up to which the lanes of a strip, and the
	// elements taken at computed places, are written out.
	unrolled = 8
)

// Of blocks in parts, see split.go. What is done in parts depends on these numbers and on sizes, on
// nothing else.
var splitting = struct {
	// block and program are the least estimated times, in ns, of a block that is done in parts,
	// and of all such blocks of a program together. To wake a helper costs 16 µs, and 100 µs pass
	// until it comes, if it has not been at work just before.
	block, program float64
	// part is how long a part should take: a hundred times what handing it over costs.
	part float64
}{block: 10e3, program: 150e3, part: 10e3}

const (
	// byMachine is how many times as fast as the weights of ops have it machine code is: with
	// AVX-512 3 to 8 for maps of large models, 1.5 to 2.5 for products with a vector.
	byMachine = 4
	// minParts is how many parts there should be, if units are as many, so that workers
	// end at about the same time.
	minParts = 16
	// fromTerms is the number of terms from which a product of matrices with one row, or of a
	// transposed matrix, adds them up in parts, of which there are maxTerms at most: as many times
	// maxSums numbers, at most, are kept. With a transposed matrix minTerms are added up in a
	// part at least, which takes that many times as long as to add a part's sums to others.
	fromTerms, maxTerms, maxSums, minTerms = 4096, 64, 4096, 256
	// fewTrips is how many trips while loops with lanes are taken to make.
	fewTrips = 4
	// wholeSides is what the number of right sides that are solved for in a part is a multiple of:
	// the columns of the widest tile of package dense.
	wholeSides = 24
	// denseParts is into how many parts the rows of a product by package dense are cut.
	denseParts = 4
	// minSumParts is how few there may be, and what their number is a multiple of, where parts keep
	// what they add to arrays, which are to be no more than maxKept for each number that is added:
	// to clear one and to add it takes some 0.2 ns, to compute and to add a number several.
	minSumParts, maxKept = 4, 0.25
)

// minUpdated is the number of elements from which on the reads of an array are noted, so that it
// may be changed in place: shorter ones are copied in a few instructions, or are numbers.
const minUpdated = 8
