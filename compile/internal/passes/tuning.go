package passes

// The numbers that steer the passes on graphs. Where no measurement is given the number
// was chosen and not measured.

// Of project. With two predictors and 2000 rows a gradient took 24 µs in rows and 6.3 in
// columns; projected it takes 0.5 and 0.6.
const (
	// leastProjected is the number of rows from which sums of squares are shortened: the
	// loops of fewer take as long as what would come in their place.
	leastProjected = 16

	// mostColumns and mostProjection, rows times squares of columns, bound what a
	// factorisation may cost when a model is bound: a million rows of 13 columns take 0.34
	// s, 12,000 of 128 take 0.12.
	mostColumns    = 128
	mostProjection = 2e8

	// blockRows is the number of rows that are factorised at a time, so that they stay in
	// the cache: all at once the two examples took 0.98 and 0.16 s.
	blockRows = 1024
)

// Of deduplicate.
const (
	// leastMerged is the number of rows from which rows that are alike are merged.
	leastMerged = 32

	// mostCompared bounds how many rows, and nodes, are looked at when a model is bound, at
	// about 50 ns each.
	mostCompared = 1 << 24

	// leastSampled is the number of rows from which a share of the keys, one of sampledKeys, is
	// looked at first. How many rows differ is then known to a few percent (of 2^17: a standard
	// deviation of 2 %), and they need no table if they are clearly too many.
	leastSampled = 1 << 17
	sampledKeys  = 64

	// bytesOfRow is what a row that differs takes in the table of keys, at most.
	bytesOfRow = 64
)

// leastAtSource is what a function costs at least, in nanoseconds, that is computed for the array
// that its operand is gathered from: a quotient or more.
const leastAtSource = 1

// leastOfRepeated is what a function costs at least that is computed for the rows that differ and
// gathered: a power. To gather a value and to add its adjoint up takes about 2 ns.
const leastOfRepeated = 12

// Of batch-products.
const (
	// leastJoined is the number of rows from which products with one matrix are joined,
	// mostJoined how many columns their right sides have at most: from eight on a vector of the
	// processor is full.
	leastJoined = 64
	mostJoined  = 8

	// manyTerms is the number of terms from which a product alone is made of inner
	// products if its right side has four or five columns, not only two or three.
	manyTerms = 32

	// mostMatrices and mostEarly bound how many matrices, and nodes, are looked at.
	mostMatrices = 8
	mostEarly    = 1000
)

// mostChosen is what both sides of a conditional may cost in each lane, in nanoseconds, to
// become selections: about what sorting a lane costs. mostChosenInStep is that of a step of a scan:
// a conditional there costs about 5.
const (
	mostChosen       = 100
	mostChosenInStep = 5
)

// Of unroll: scans of at most so many steps are written out, if what they compute costs no more
// than so many nanoseconds in each lane. Item responses of 4 and 5 categories took 1.7 and 1.4
// times as long.
const mostSteps, mostUnrolled = 8, 50

// Of scalar-lanes and forward: arrays of at most mostEntries elements are written out if they have
// so many lanes; mostFollowed bounds how many elements are followed, at a few nanoseconds each.
const (
	leastInLanes = 16
	mostEntries  = 8
	mostFollowed = 1 << 22
)

// mostTerms is how many terms a log_sum_exp has that is written out, and mostSums how deep the
// sums are in which numbers that were put together are looked for: each may have two.
const mostTerms, mostSums = 8, 4

// Of distribute and recurrences. A step's operation costs 3.4 ns in scalar code of the
// interpreter, 0.5 as a lane. With machine code a hidden Markov model takes 1.23 times as
// long if no scan is taken apart, GARCH 1.03, volatility as long.
const (
	// minSteps is the number of steps from which a scan is worth taking apart.
	minSteps = 8

	// mostElements is the most elements of an array in a while loop that is written out as numbers,
	// mostInLanes that in a loop of several lanes, and mostNumbers the most numbers of a loop. With
	// AVX2, gradients of systems of 2, 3 and 6 states took 0.63, 0.92 and 1.4 of the time when
	// they were written out, and 16 lanes of 6 states 0.68.
	mostElements = 4
	mostInLanes  = 8
	mostNumbers  = 4000

	// mostInStep is the most numbers of a step of a scan that is written out, mostInRegisters what a
	// function of an array may cost there, in nanoseconds for each element: a quotient.
	mostInStep      = 200
	mostInRegisters = 1

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
	// Constants from leastConstant to mostConstant may be multiplied with each other and
	// be divided by: products of a few of them are far from the ends of the range.
	leastConstant, mostConstant = 1e-9, 1e9

	// maxProof is how many ops deep a proof goes that a value is not negative.
	maxProof = 8
)

// mostEquations and mostSolved are how many equations systems have, and numbers their solutions,
// that are written out: of an implicit solver for three states a gradient takes 0.21 of the time.
const mostEquations, mostSolved = 4, 16

// mostRecalled and mostRecalledInAll are how many numbers while loops may leave in a step of
// a scan, and in all its steps and lanes, for its derivative to take them from there: 32 KB,
// which are copied in a microsecond, and 2 MB, about a second-level cache.
const (
	mostRecalled      = 1 << 12
	mostRecalledInAll = 1 << 18
)
