package ad

// This file: tuning constants of graphs and derivatives. Changing one changes time or memory, but
// not results, except for the order of sums. Where no measurement is given, the number was chosen
// without one.

// DefaultHistory is the history that the derivative of a scan always stores: 8 MB. With segments a
// gradient was measured to take about the same time per step, from 1000 steps of 9 numbers to
// 100,000 of 100.
const DefaultHistory = 1 << 20

// minSegmented is the number of steps up to which a scan is not divided into segments, since that
// would not shorten its history.
const minSegmented = 4

// keptPerCopied is the number of elements read from arrays that may be kept for each element of
// history that DefaultHistory allows: they are written and read once, in order.
const keptPerCopied = 8

// DefaultSnapshots is a capacity for While.Snapshots. It is small compared with caches, and
// derivatives repeat each trip at most once, up to its square.
const DefaultSnapshots = 64

// StopEvery is the number of trips of a While between two calls of Env.Stop.
const StopEvery = 4096

// maxPulledTwice is the nesting depth of loops up to which the derivative of the outermost is built
// in two ways, between which the trip count decides: each level doubles its size.
const maxPulledTwice = 3

const (
	// maxLaneWork bounds the elements of one value in all directions together, 32 MB; above it
	// directions are computed one after the other. It also bounds the products of the sparse form
	// of a statement's information.
	maxLaneWork = 1 << 22

	// sparseCost is the approximate cost of a product in the sparse form, in products of a dense
	// matrix: two gathers and a scatter besides a multiplication.
	sparseCost = 4

	// backCost is the approximate cost of a reverse sweep, in forward sweeps.
	backCost = 3

	// maxPattern bounds the memory, in words, of one value's pattern of dependence, 128 MB; above
	// it all its elements share one row.
	maxPattern = 1 << 24
)

// minSparse is the size from which arrays that are read element by element are treated differently:
// adjoints are added to their elements in place, and elements that were read are kept instead of
// copies of the array. Shorter arrays are written out as scalars, or copied cheaply.
const minSparse = 16

// minRarity is the least ratio of an array's size to the elements read from it at known positions
// for which adjoints are added in place, instead of by a sum of arrays.
const minRarity = 4

// largeGraph is the number of nodes from which unchanged nodes are copied without a search for
// equal ones among the new. That is ten times as fast, which counts where a loop was unrolled to a
// million ops.
const largeGraph = 50_000

// A scatter of constants is not folded if its value has more than minSpread elements, and more than
// maxSpread per scattered element: it is mostly zeros, which a constant would store.
const (
	minSpread = 1024
	maxSpread = 8
)
