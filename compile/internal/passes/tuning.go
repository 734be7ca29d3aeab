package passes

// This file: tuning constants of the passes on graphs. Where no measurement is given, the number
// was chosen without one.

// Pass project. With two predictors and 2000 rows a gradient took 24 µs in rows and 6.3 in columns;
// projected it takes 0.5 and 0.6.
const (
	// minProjected is the least number of rows of a sum of squares that is shortened: loops over
	// fewer rows take as long as their replacement.
	minProjected = 16

	// minGrouped is that number if rows select coefficients.
	minGrouped = 64

	// maxSelected bounds the selected coefficients of a row.
	maxSelected = 16

	// minDiagonal is the least square of a diagonal element by which rows of a group are divided.
	// Its root is above the rounding of columns that depend on one another.
	minDiagonal = 1e-20

	// bytesOfGroup bounds the memory for the groups, of a row and a selected coefficient.
	bytesOfGroup = 48

	// maxColumns, and maxProjection for rows times squared columns, bound the cost of a
	// factorisation when a model is bound: a million rows of 13 columns take 0.34 s, 12,000 of 128
	// take 0.12.
	maxColumns    = 1024
	maxProjection = 2e8

	// blockRows is the number of rows that are factorised at a time, so that they stay in the
	// cache: all at once the two examples took 0.98 and 0.16 s.
	blockRows = 1024
)

// The triangle that pass project makes.
const (
	// From minTriangle columns on, a triangle is a product for each of about triangleBlocks blocks
	// of rows, without the zeros before them. maxTriangle bounds the elements of the triangle
	// relative to those of the data. A gradient of a horseshoe regression of 300 rows and 200
	// columns takes 4.8 instead of 9.5 µs.
	minTriangle    = 48
	triangleBlocks = 8
	maxTriangle    = 0.5
)

// Pass deduplicate.
const (
	// minMerged is the least number of rows that are examined for duplicates.
	minMerged = 32

	// maxCompared bounds the rows and nodes examined when a model is bound, at about 50 ns each.
	maxCompared = 1 << 24

	// minSampled is the least number of rows for which a sample of the keys, one of sampledKeys, is
	// examined first. The sample estimates the number of distinct rows to a few percent (for 2^17
	// rows the standard deviation is 2 %). If there are clearly too many, no table is made.
	minSampled  = 1 << 17
	sampledKeys = 64

	// bytesOfRow bounds the memory of a distinct row in the table of keys.
	bytesOfRow = 64
)

// minSourceCost is the least cost, in nanoseconds, of a function that is moved before a gather:
// that of a quotient.
const minSourceCost = 1

// minRepeatedCost is the least cost, in nanoseconds, of a function that is computed for distinct
// rows and then gathered: that of a power. Gathering a value and adding its adjoint takes about 2
// ns.
const minRepeatedCost = 12

// Pass batch-products.
const (
	// minJoined is the least number of rows of a matrix whose products are merged. maxJoined is the
	// largest number of columns of the merged right sides: eight fill a vector register.
	minJoined = 64
	maxJoined = 8

	// manyTerms is the least number of terms of a product for which four or five columns on the
	// right, not only two or three, are computed as inner products.
	manyTerms = 32

	// maxMatrices and maxEarly bound the matrices and nodes that the pass examines.
	maxMatrices = 8
	maxEarly    = 1000
)

// maxIfConverted bounds the cost of both sides of a conditional in each lane, in nanoseconds: about
// the cost of sorting a lane. maxIfConvertedInStep is the bound in a step of a scan, where a
// conditional costs about 5 ns.
const (
	maxIfConverted       = 100
	maxIfConvertedInStep = 5
)

// Pass scalars: the costs that the cost rule uses, in nanoseconds. Ratios were measured with
// AVX-512.
const (
	// opNS is an operation of scalar code, or of a vector, with operands in registers; functions
	// add their cost (ops.Row.Cost). spillNS is added per operation if more numbers are live than
	// there are registers, and once more if there are more than maxLive. memoryNS is the cost of a
	// number that is stored and loaded again.
	opNS      = 0.3
	spillNS   = 0.3
	memoryNS  = 0.5
	registers = 16
	maxLive   = 64

	// loopNS is the cost of entering a loop over an array. scanLoopNS is that cost in the steps of
	// a scan, whose numbers the loop keeps out of registers. Unrolled, gradients of ode_rk45 with
	// 3, 4, 5, 6 and 8 states take 0.71, 0.83, 1.36, 1.46 and 1.59 of the time; the rule predicts
	// 0.76, 0.88, 1.34, 1.46 and 1.66. Scans that carry 8 numbers, with products, quotients and
	// exponentials, take 0.39, 0.47 and 0.60; the rule predicts 0.56, 0.68 and 0.90.
	loopNS     = 2.0
	scanLoopNS = 6.0

	// solveNS is the cost of calling a routine that solves a system. With systems written out, a
	// gradient of an implicit solver for three states takes 0.21 of the time.
	solveNS = 100.0

	vectorLanes = 4

	// maskedLanes is the speedup of vectors of lanes whose loops end at different times: 16 lanes
	// of 6 states, written out, took 0.68 of the time.
	maskedLanes = 2.0
)

// maxShort is the largest number of elements of an array, steps of a scan or terms of a sum that is
// written out. minInLanes is the least number of lanes for arrays in lanes. maxCode bounds the
// operations that one application adds. maxLoopCode is the larger bound for a loop whose trip count
// depends on parameters.
const (
	maxShort    = 8
	minInLanes  = 16
	maxCode     = 200
	maxLoopCode = 4000
)

// maxMoveShare bounds the number of elements put together instead of an array, relative to the
// number moved for the array. Arrays that grow with the steps of a loop share prefixes (pass
// prefixes), and no longer do if each is cut a little shorter. With 1 the epidemic models of
// posteriordb take 1.11 to 1.14 times as long.
const maxMoveShare = 0.75

// maxFollowed bounds the elements that are traced to their origin, at a few nanoseconds and eight
// bytes each. The square of emit.maxRows is within it: beyond the bound, each row of an unrolled
// loop copies its array. With 1<<22, a renewal equation of 2000 days took 3 ms instead of 1.
// maxSumDepth bounds the depth of the search for put-together numbers in nested sums, which
// branches at each sum.
const maxFollowed, maxSumDepth = 1 << 25, 4

// Passes distribute and recurrences. A step's operation costs 3.4 ns in scalar code of the
// interpreter, 0.5 as a lane. With machine code and no scan distributed, a hidden Markov model
// takes 1.23 times as long, GARCH 1.03, volatility 1.
const (
	// minSteps is the least number of steps of a scan that is distributed.
	minSteps = 8

	// maxMoved bounds the elements of a value for all steps together, 32 MB, so that a long scan
	// over large arrays does not store every intermediate value.
	maxMoved = 1 << 22
)

// Pass slices: a table becomes slices if there are at most maxPieces of them, with at least
// minPiece elements on average.
const (
	maxPieces = 6
	minPiece  = 8
)

// Pass log-products.
const (
	// minLogTerms and minLogRows are the least number of terms of a log_sum_exp, and of rows of a
	// product. Gradients of hidden Markov models with 4, 5, 6, 8, 12 and 16 states take 0.87, 0.66,
	// 0.54, 0.25, 0.10 and 0.06 of the time.
	minLogTerms = 4
	minLogRows  = 4

	// minChainTerms is the least number of both for products whose results are the next step's
	// vector. Gradients of hidden Markov models with 2, 3, 4, 5, 6, 8 and 20 states take 0.38,
	// 0.29, 0.32, 0.34, 0.38, 0.74 and 0.84 of the time (Zen 4, AVX-512).
	minChainTerms = 2

	// smallTerm is added to the scaled exponentials of finite numbers, so that the product of two
	// is not 0. minLogProduct is the least scaled sum that is exact: as many times smallTerm as a
	// row may have terms are below its rounding.
	smallTerm     = 1e-150
	minLogProduct = 1e-130

	// maxLogPath is the greatest number of transitions from state to state of a matrix with
	// elements that are known to be -Inf. If states are 3 standard deviations of the observations
	// apart, and have transitions to their neighbours only, a path of 5 multiplies by 1e-59, one
	// of 8 by 1e-273.
	maxLogPath = 5

	// maxLogProduct bounds the elements of arrays that are examined, and maxLogSum the terms that
	// an element is a sum of.
	maxLogProduct, maxLogSum = 1 << 16, 16

	// maxMovedTable bounds the elements of an array whose origins are listed, at 16 bytes each.
	maxMovedTable = 1 << 20
)

// Pass layout: costs that it compares, in nanoseconds, measured with AVX-512.
const (
	// moveNS is the cost of an element that is not read next to its neighbours, and of its adjoint.
	moveNS = 0.9

	// acrossNS is the cost of a vector of columns, for one row and term of a product. alongNS is
	// that of a vector of terms, and totalNS that of adding up its numbers. bothNS is the cost of
	// a term if both matrices are transposed.
	acrossNS = 0.3
	alongNS  = 0.3
	totalNS  = 0.7
	bothNS   = 4
)

// minSummed is the least number of elements per result of a sum from which factors are moved out. A
// sum of fewer mostly places elements, and a product after it would cost as much.
const minSummed = 4

// Pass rewrite.
const (
	// Constants from minConstant to maxConstant may be multiplied with each other and be divisors:
	// products of a few of them are well within range.
	minConstant, maxConstant = 1e-9, 1e9

	// maxProof bounds the depth, in ops, of a proof that a value is not negative.
	maxProof = 8
)

// Pass probabilities.
const (
	// minProbability is the least sum of probabilities whose logarithm is taken. Its inverse has a
	// square, for derivatives.
	minProbability = 1e-150

	// minProbabilities is the least number of elements of sums that are computed on the scale of
	// probabilities.
	minProbabilities = 8

	// maxProbabilitySteps bounds the steps of a scan of probabilities, which may fall in each step.
	maxProbabilitySteps = 64
)

// maxCheckpointed and maxCheckpointedTotal bound the results of while loops that are kept for the
// derivative: per step of a scan, and for all its steps and lanes. They are 32 KB, which are copied
// in a microsecond, and 2 MB, about the size of a second-level cache.
const (
	maxCheckpointed      = 1 << 12
	maxCheckpointedTotal = 1 << 18
)

// Pass tangents.
const (
	// directionLanes is the number of directions, which fill a vector register of 256 bits. With
	// eight, predators and prey with six take 1.1 of the time of a derivative backwards (Zen 4).
	directionLanes = 4

	// maxSources bounds the nodes that are searched for the numbers on which a loop depends.
	maxSources = 200

	// maxMatrix is the largest number of elements of an array that is written out, such as the
	// Jacobian matrix of an implicit solver.
	maxMatrix = 16
)

// maxExponentials bounds the exponentials of a scan that are kept for the derivative, at 8 MB.
// With all of them kept, an alignment of 100 letters takes 0.20 instead of 0.26 ms, one of 400
// letters 4.7 instead of 5.3.
const maxExponentials = 1 << 20

// maxTaped bounds the number of elements that scans keep of what their steps read from carried
// arrays: 512 MB. Above it derivatives have copies of the arrays, in segments.
const maxTaped = 1 << 26

const (
	// minLogged is the number of elements from which arrays that a while loop changes element by
	// element are not copied in each trip.
	minLogged = 32

	// minFlattened is the number of elements of an array from which loops that use it are
	// flattened. With 60, 120 and 300 elements, insertions by loops within two loops take 79, 261
	// and 2220 µs otherwise, and 112, 335 and 1708 flattened; heaps 13, 34 and 159, and 11, 19 and
	// 46.
	minFlattened = 200

	// minFlattenedLoops is that number if trips of the inner loop contain loops. With 512, 1024 and
	// 4096 elements, a Fenwick tree takes 0.9, 1.7 and 16.9 ms otherwise, and 1.2, 2.2 and 12.5
	// flattened.
	minFlattenedLoops = 2048

	// maxRun bounds the number of trips between two copies of such arrays, which is usually the
	// length of the arrays, so that copying them takes as long as the trips.
	maxRun = 1 << 14

	// runSnapshots is the number of these copies that are kept. They are few, because memory for
	// all of them is cleared before the loop.
	runSnapshots = 4
)

// minDelay is the least number of steps between computing and reading a value for which it becomes
// an element of an array: shorter delays are kept in registers.
const minDelay = 24

// Pass skew. A gradient of an alignment model took 20 and 54 µs with and without it at 24 × 24
// cells, 121 and 314 at 60 × 60.
const (
	// minRows is the least number of rows and of columns of a table: the rows fill a vector
	// register. Smaller square tables are unrolled.
	minRows = 8

	// minRowLanes is the least number of steps that are lanes where steps read no step shortly
	// before them.
	minRowLanes = 16

	// maxIdle is the largest number of lanes, with and without a cell, for each cell: a lane takes
	// about a fifth of the time of a cell in a scan over cells.
	maxIdle = 3

	// Windows of wavefronts have at least minWindow wavefronts, and there are at most maxWindows.
	// They are as few as leave at most maxWindowShare of the lanes that maxWindows windows leave,
	// or minWindowLanes more, which take some 20 µs; each window takes a scan more to bind. An
	// alignment of 100 letters takes 0.30 ms in one window, 0.26 in three, 0.25 in five. One of 400
	// letters takes 4.3 ms in five, 3.9 in nine.
	// vectorWidth is the number of lanes of a vector register.
	minWindow      = 12
	maxWindows     = 16
	maxWindowShare = 1.1
	minWindowLanes = 2000
	vectorWidth    = 8

	// maxUp is the largest number of rows that a cell looks up, so that the last wavefronts, which
	// are carried, are few.
	maxUp = 4
)

// Pass sparse.
const (
	// minSparse is the least number of elements of a matrix whose zeros are left out, and
	// sparseShare the largest share of elements that are not zero. The share only saves time when
	// a model is bound; the times below decide.
	minSparse   = 1024
	sparseShare = 0.4

	// A slot is used if at least the share minFilled of its elements are not zero. If the share
	// maxRest of all elements would be in no slot, slots are not used: with 8 of them, 1000 × 100
	// elements of which 15 % are not zero take 18.6 instead of 16.3 µs.
	minFilled = 0.66
	maxSlots  = 8
	maxRest   = 0.2

	// Times in ns: of an element of a dense product, of an element in a slot, of one in the rest,
	// and of an element of the vectors.
	denseNS  = 0.08
	slotNS   = 0.31
	restNS   = 0.47
	vectorNS = 0.1

	// Slots have elements of columns only if their time is below this share of the other one.
	rowsFirst = 0.8

	// sparseGain is the expected gain from which zeros are left out.
	sparseGain = 1.5
)
