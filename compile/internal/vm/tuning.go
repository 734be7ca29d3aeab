package vm

// The numbers that steer the making of code. Where no measurement is given the number
// was chosen and not measured.

// maxStrip is the number of elements that a strip runs over at a time. A temporary of
// a strip takes 4 KB, so that those of a block stay in the first-level cache. Strips of
// 128 take 1.21 times as long for a hierarchical regression of 12,500 rows, 1.05 for
// volatility, 1.00 for a mixture, 1.04 for item responses; strips of 2048 took 0.98 to
// 1.01 times as long. Above 1000 sumLogLoop leaves the range of numbers.
const maxStrip = 512

// minRunOfOps is the number of equal ops in a row from which the interpreter of scalar
// code runs them in a loop of their own: eight schools of scalars 400 → 320 ns.
const minRunOfOps = 4

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

// Of machine code.
const (
	// maxNative is the number of instructions in a row beyond which code is left to
	// the interpreter: it would leave the second-level cache, where unrolled code is
	// no faster.
	maxNative = 20000

	// Most elements that are copied or cleared by code without loops where blocks in a row
	// are one function; beyond, blocks stay apart.
	maxCopied  = 64
	maxCleared = 256

	// unrolled is the number of elements up to which the lanes of a strip, and the
	// elements taken at computed places, are written out.
	unrolled = 8
)
