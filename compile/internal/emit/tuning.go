package emit

// This file: tuning constants of binding. A constant without a measurement was chosen by judgement.

// smallTop is the maximum number of iterations for which an outermost loop is unrolled. Three lanes
// cost more than they save.
const smallTop = 3

// maxStepped is the greatest number of elements that a read in a recurrence takes from earlier
// steps, if the steps could also be sorted by level. A tree of 100 nodes takes 72 µs as a
// recurrence with an array of 400 numbers, and 15 µs level by level, in lanes.
const maxStepped = 64

// These constants are for loops that carry arrays. Loops of up to inspect.SmallUnrolled iterations
// are unrolled if more than smallCarried numbers would be carried. Sums of inner loops are then
// sums of lanes, and rows of a table are lanes. A renewal equation of 100 days takes 4 µs unrolled
// and 123 µs carried; a Cholesky factor of 80 rows takes 0.5 and 4.6 ms. Loops of up to maxRows
// iterations are unrolled if the inner loops of an iteration have at least minWidth iterations on
// average. A renewal equation of 1000 days takes 0.5 ms unrolled and 21 ms carried; a table of 1500
// rows takes 2.7 ms.
//
// A loop of up to maxNarrow iterations whose recurrence would write out inner loops of at least
// minWidth iterations is unrolled, too, if these read at most maxNeighbours elements of each
// variable at a time: the inner loops are then lanes. 200 steps of 200 particles that are drawn to
// their mean take 0.64 ms as a recurrence of 200 numbers and 0.14 ms unrolled. 300 and 1000 steps
// of 60 particles take 0.18 and 0.71 ms, and unrolled 0.10 and 0.39, but 1.1 ms a step to bind.
// With 3000 steps unrolling gains nothing.
//
// If an iteration uses an array as a whole, it makes another array. All these arrays together may
// have at most maxCopied numbers.
const (
	smallCarried = 16

	// maxPeeled is the maximum number of iterations that are unrolled at either end of a loop, so
	// that conditions on carried arrays are the same in the others.
	maxPeeled = 3
	maxCopied = 1 << 20
	maxRows   = 4096
	minWidth  = 32

	maxNarrow     = 1024
	maxNeighbours = 4
)

// A loop that changes arrays step by step is reported if it has at least minSlow iterations: its
// gradient then takes 30 to 100 µs. At most maxSlow loops are reported.
const (
	minSlow = 1000
	maxSlow = 10
)

// The end of a loop that data end early is looked for in its first firstEnd iterations, and then in
// nextEnd times as many. Otherwise a loop over 1e7 iterations that breaks after 20 took 1.4 s to
// bind.
//
// A loop that goes through data until a condition on parameters holds is a scan whose steps do
// nothing after the end, since a step of a region that tests for its end takes 2 to 3 times as
// long. If there are more than maxMasked steps, over all lanes, it is such a region: a scan of 1e6
// steps takes 7 ms for a gradient even if the first step is the last one.
const (
	firstEnd  = 1024
	nextEnd   = 16
	maxMasked = 1 << 20
)

// minRarelyRead compares the size of an array with the number of elements that lanes read of it. If
// the size is at least this many times larger, the lanes gather these elements from the parts of
// the array instead of packing it first. In a table whose rows depend on one another, packing costs
// the whole table for each row: a gradient of a table of 100 × 100 took 840 µs instead of 5.
const minRarelyRead = 4

// Beyond these bounds a loop is evaluated in another way, or the program is refused.
const (
	// maxNodes bounds the size of a graph. A loop that must be unrolled to more nodes is refused,
	// since it would fill the memory.
	maxNodes = 30_000_000

	// mostRagged bounds the iterations of an unrolled loop whose bounds differ between lanes. Its
	// slices grow with the iterations, and the graph with their square: two loops of 490 take 2 s
	// and 430 MB to bind. Beyond the bound, the program is interpreted.
	mostRagged = 500

	// maxTrips is the number of iterations after which a while loop is considered endless.
	maxTrips = 100_000_000

	// maxSkippedTrips bounds the iterations of a while loop that are bound one by one, in a branch
	// that parameters may never take, even if data decide them. They take 0.2 s. The remaining
	// iterations become a region, which runs only if the branch is taken.
	maxSkippedTrips = 10_000

	// maxSkippedShare divides the limit on statements. The result bounds the work to bind the
	// branches of a graph that parameters may never take: 31 million interpreted statements of the
	// 1000 million that are allowed by default. They take 0.3 to 4 s. Beyond the bound, the
	// program is interpreted. Memory counts as well, since it has to be filled: skippedBytes are
	// one statement.
	maxSkippedShare = 32
	skippedBytes    = 64

	// maxNested is the maximum nesting of calls in regions. Parameters decide where such a
	// recursion ends, so its graph would be infinite.
	maxNested = 50

	// mostPlans bounds the number of plans kept: every iteration of an unrolled loop plans the
	// loops in its body again.
	mostPlans = 200
)

// statementCost is the cost of binding a statement, which takes some microseconds, in units of an
// interpreted statement of 5 to 50 ns.
const statementCost = 100
