package emit

// The numbers that steer binding. Where no measurement is given the number was chosen
// and not measured.

// smallTop is the greatest number of iterations of a loop outside of others that is unrolled:
// lanes of three cost more than they save.
const smallTop = 3

// Of loops that carry arrays. Up to inspect.SmallUnrolled iterations are unrolled if more than
// smallCarried numbers would be carried: sums of inner loops are then sums of lanes. A renewal
// equation of 100 days takes 4 µs unrolled and 123 carried, a Cholesky factor of 80 rows 0.5 and
// 4.6 ms. But each iteration makes another array, so that there may be no more than maxCopied
// numbers in all of these: a table of 200 × 200 takes 19 ms unrolled and 2.2 carried.
const (
	smallCarried = 16
	maxCopied    = 1 << 20
)

// Bounds, beyond which a loop is evaluated in another way, or the program refused.
const (
	// maxNodes bounds the size of a graph: a loop that must be unrolled to more is refused
	// rather than filling the memory.
	maxNodes = 30_000_000

	// mostRagged bounds the iterations of a loop that is unrolled in lanes with bounds of their
	// own. Its slices grow with them, and the graph with the square: two loops of 490 take 2 s and
	// 430 MB to bind. With more the program is interpreted.
	mostRagged = 500

	// maxTrips is where a while loop is taken to be endless.
	maxTrips = 100_000_000

	// maxSkippedTrips bounds the trips of a while loop that are bound one by one where parameters
	// may never lead, even if data decide them: what is left becomes a region, which only a point
	// that comes there runs. They take 0.2 s.
	maxSkippedTrips = 10_000

	// maxNested is how deep calls may go that stand in regions in one another: such a
	// recursion is ended by parameters, and its graph would have no end.
	maxNested = 50

	// mostPlans bounds the plans that are kept: a loop that is unrolled comes upon those in
	// its body again and again.
	mostPlans = 200
)

// statementCost is how many of the statements that are interpreted, at 5 to 50 ns, one counts
// for that is bound: some microseconds.
const statementCost = 100
