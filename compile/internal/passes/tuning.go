package passes

// The numbers that steer the passes on graphs. Where no measurement is given the number
// was chosen and not measured.

// Of project. With two predictors and 2000 rows a gradient took 24 µs in rows and 6.3 in
// columns; projected it takes 0.5 and 0.6.
const (
	// minProjected is the number of rows from which sums of squares are shortened: the
	// loops of fewer take as long as what would come in their place.
	minProjected = 16

	// maxColumns and maxProjection, rows times squares of columns, bound what a
	// factorisation may cost when a model is bound: a million rows of 13 columns take 0.34
	// s, 12,000 of 128 take 0.12.
	maxColumns    = 128
	maxProjection = 2e8

	// blockRows is the number of rows that are factorised at a time, so that they stay in
	// the cache: all at once the two examples took 0.98 and 0.16 s.
	blockRows = 1024
)

// Of deduplicate.
const (
	// minMerged is the number of rows from which rows that are alike are merged.
	minMerged = 32

	// maxCompared bounds how many rows, and nodes, are looked at when a model is bound, at
	// about 50 ns each.
	maxCompared = 1 << 24

	// minSampled is the number of rows from which a share of the keys, one of sampledKeys, is
	// looked at first. How many rows differ is then known to a few percent (of 2^17: a standard
	// deviation of 2 %), and they need no table if they are clearly too many.
	minSampled  = 1 << 17
	sampledKeys = 64

	// bytesOfRow is what a row that differs takes in the table of keys, at most.
	bytesOfRow = 64
)

// minSourceCost is what a function costs at least, in nanoseconds, that is computed for the array
// that its operand is gathered from: a quotient or more.
const minSourceCost = 1

// minRepeatedCost is what a function costs at least that is computed for the rows that differ and
// gathered: a power. To gather a value and to add its adjoint up takes about 2 ns.
const minRepeatedCost = 12

// Of batch-products.
const (
	// minJoined is the number of rows from which products with one matrix are joined,
	// maxJoined how many columns their right sides have at most: from eight on a vector of the
	// processor is full.
	minJoined = 64
	maxJoined = 8

	// manyTerms is the number of terms from which a product alone is made of inner
	// products if its right side has four or five columns, not only two or three.
	manyTerms = 32

	// maxMatrices and maxEarly bound how many matrices, and nodes, are looked at.
	maxMatrices = 8
	maxEarly    = 1000
)

// maxIfConverted is what both sides of a conditional may cost in each lane, in nanoseconds, to
// become selections: about what sorting a lane costs. maxIfConvertedInStep is the same bound in a
// step of a scan, where a conditional costs about 5 ns.
const (
	maxIfConverted       = 100
	maxIfConvertedInStep = 5
)

// Of scalars: what the cost rule counts with, in nanoseconds. Ratios were measured with AVX-512.
const (
	// opNS is an operation of scalar code, or of a vector, whose operands are in registers;
	// functions add their cost (ops.Row.Cost). spillNS is what its operands add where more
	// numbers are live than there are registers, and once more where there are more than
	// maxLive; memoryNS is a number stored and loaded again.
	opNS      = 0.3
	spillNS   = 0.3
	memoryNS  = 0.5
	registers = 16
	maxLive   = 64

	// loopNS is the entry of a loop over an array, scanLoopNS that of one in the steps of a
	// scan, of which the rest could keep its numbers in registers. Gradients of ode_rk45 of 3,
	// 4, 5, 6 and 8 states take 0.71, 0.83, 1.36, 1.46 and 1.59 of the time if they are
	// written out; the rule has 0.76, 0.88, 1.34, 1.46 and 1.66. Scans that carry 8 numbers,
	// with products, quotients and exponentials, take 0.39, 0.47 and 0.60; the rule has 0.56,
	// 0.68 and 0.90.
	loopNS     = 2.0
	scanLoopNS = 6.0

	// solveNS is the call of a routine that solves a system: of an implicit solver for three
	// states a gradient takes 0.21 of the time when they are written out.
	solveNS = 100.0

	vectorLanes = 4

	// maskedLanes is by how much vectors of lanes are faster whose loops end at different times: 16
	// lanes of 6 states took 0.68 of the time when they were written out.
	maskedLanes = 2.0
)

// maxShort is how many elements an array has, steps a scan or terms a sum, that is written out;
// minInLanes the number of lanes from which arrays in lanes are. maxCode is how many operations
// an application makes, maxLoopCode a loop whose trips parameters decide, which are many.
const (
	maxShort    = 8
	minInLanes  = 16
	maxCode     = 200
	maxLoopCode = 4000
)

// maxMoveShare is the share of the numbers that are moved for an array that may be put together in
// its place: arrays that grow with the steps of a loop share what they begin with (pass prefixes),
// and lose that where each is cut a little shorter. With 1 the epidemic models of posteriordb take
// 1.11 to 1.14 times as long.
const maxMoveShare = 0.75

// maxFollowed bounds how many elements are followed to where they were computed, at a few
// nanoseconds each, maxSumDepth how deep the sums are in which numbers that were put together are
// looked for: each may have two.
const maxFollowed, maxSumDepth = 1 << 22, 4

// Of distribute and recurrences. A step's operation costs 3.4 ns in scalar code of the
// interpreter, 0.5 as a lane. With machine code a hidden Markov model takes 1.23 times as
// long if no scan is taken apart, GARCH 1.03, volatility as long.
const (
	// minSteps is the number of steps from which a scan is worth taking apart.
	minSteps = 8

	// maxMoved is the most elements that a value may have for all steps together, 32 MB,
	// lest a long scan over large arrays store every intermediate.
	maxMoved = 1 << 22
)

// Of slices: a table becomes slices if they are at most maxPieces, of at least minPiece
// elements on average.
const (
	maxPieces = 6
	minPiece  = 8
)

// minSummed is how many elements a sum must add up for each of its results for factors
// to be moved out of it: below it puts elements somewhere rather than adding them up,
// and the product would cost as much after it.
const minSummed = 4

// Of rewrite.
const (
	// Constants from minConstant to maxConstant may be multiplied with each other and
	// be divided by: products of a few of them are far from the ends of the range.
	minConstant, maxConstant = 1e-9, 1e9

	// maxProof is how many ops deep a proof goes that a value is not negative.
	maxProof = 8
)

// maxCheckpointed and maxCheckpointedTotal are how many numbers while loops may leave in a step of
// a scan, and in all its steps and lanes, for its derivative to take them from there: 32 KB,
// which are copied in a microsecond, and 2 MB, about a second-level cache.
const (
	maxCheckpointed      = 1 << 12
	maxCheckpointedTotal = 1 << 18
)

// maxTaped is the number of elements that scans may keep of what their steps read of arrays that
// they carry, 512 MB; beyond that derivatives have copies of the arrays, in segments.
const maxTaped = 1 << 26

// minDelay is the number of steps from which on what a scan reads so many steps later is an
// element of an array: fewer are registers.
const minDelay = 24
