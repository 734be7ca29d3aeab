package ad

// This file: tuning constants of graphs and derivatives. Changing one changes time or memory, but
// not results, except for the order of sums. Where no measurement is given, the number was chosen
// without one.

// DefaultHistory is the number of elements of a scan's history (8 MB) up to which its derivative
// stores the history. Above it, segments are used; they were measured to take about the same time
// per step, from 1000 steps of 9 numbers to 100,000 of 100.
const DefaultHistory = 1 << 20

// minSegmented is the number of steps up to which a scan is not divided into segments, which would
// not shorten its history.
const minSegmented = 4

// keptPerCopied is the number of elements read from arrays that may be kept instead of one element
// of history. It is more than one because kept elements are written and read only once, in order.
const keptPerCopied = 8

// DefaultSnapshots is the usual value of While.Snapshots. The snapshots fit into caches. Up to the
// square of this number of trips, a derivative repeats each trip at most once.
const DefaultSnapshots = 64

// StopEvery is the number of trips of a While between two calls of Env.Stop.
const StopEvery = 4096

// maxPulledTwice is the nesting depth of loops up to which two derivatives of the outermost loop
// are built, of which the trip count selects one. Each level of nesting doubles the size of that.
const maxPulledTwice = 3

const (
	// maxLaneWork bounds the elements of a value in all directions together (32 MB). If a value
	// would have more, directions are computed one after the other. It also bounds the number of
	// products in the sparse form of a statement's information.
	maxLaneWork = 1 << 22

	// sparseCost is the approximate cost of a product in the sparse form, compared with a product
	// in a dense matrix: it takes two gathers and a scatter besides the multiplication.
	sparseCost = 4

	// backCost is the approximate cost of a reverse sweep, in units of a forward sweep.
	backCost = 3

	// maxPattern bounds the memory of one value's pattern of dependence, in words (128 MB). If it
	// would take more, all elements of the value share one row.
	maxPattern = 1 << 24
)

// minSparse is the number of elements from which arrays that are read element by element are
// treated in a special way: adjoints are added to their elements in place, and elements that were
// read are kept instead of copies of the array. Smaller arrays become scalars, or are copied
// cheaply.
const minSparse = 16

// minRarity is the ratio of an array's size to the number of elements read from it, at known
// positions, from which adjoints are added to the elements in place. Below it, arrays are added.
const minRarity = 4

// largeGraph is the number of nodes from which unchanged nodes are copied without searching the new
// graph for equal nodes. That is ten times as fast, which matters if a loop was unrolled to a
// million ops.
const largeGraph = 50_000

// A scatter of constants is not folded if its value has more than minSpread elements and more than
// maxSpread per scattered element: the constant would store mostly zeros.
const (
	minSpread = 1024
	maxSpread = 8
)
