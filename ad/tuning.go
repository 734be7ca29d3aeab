package ad

// The numbers that steer what graphs and derivatives look like. Changing one changes
// time or memory, not results, but for the order of sums. Where no measurement is
// given the number was chosen and not measured.

// DefaultHistory is the history that the derivative of a scan stores without
// further thought: 8 MB. In segments a gradient was measured to take about the same
// time per step, from 1000 steps of 9 numbers to 100,000 of 100.
const DefaultHistory = 1 << 20

// minSegmented is the number of steps up to which a scan is not cut into segments,
// whose rows would be as many.
const minSegmented = 4

// keptPerCopied is how many elements of arrays that steps read may be kept for each that
// DefaultHistory allows: they are written and read once, in order.
const keptPerCopied = 8

// DefaultSnapshots is a capacity for While.Snapshots: small beside caches, and
// with derivatives that repeat each trip at most once up to its square.
const DefaultSnapshots = 64

// StopEvery is how many trips of a While pass between two questions whether to stop
// (Env.Stop).
const StopEvery = 4096

// maxPulledTwice is how many loops may lie in one another for the derivative of the
// outermost to be built in two ways, of which the trips decide: each level doubles it.
const maxPulledTwice = 3

const (
	// maxLaneWork bounds the elements of one value in all directions at once, 32 MB, from
	// where on directions are taken one after the other; and the products of the sparse
	// form of a statement's information.
	maxLaneWork = 1 << 22

	// sparseCost is how many products of a dense matrix a product of the sparse form costs,
	// about: two gathers and a scatter beside a multiplication.
	sparseCost = 4

	// backCost is how many sweeps forward one back takes, about.
	backCost = 3

	// maxPattern bounds the words of memory of one value's pattern of dependence, 128 MB,
	// beyond which all its elements have one row.
	maxPattern = 1 << 24
)

// minSparse is the number of elements from which on an array is worth other ways to read elements
// of it one by one: its elements are added to in place, and what was read is kept in place of
// copies of the array. Shorter ones are written out as numbers, or copied in no time.
const minSparse = 16

// minRarity is how many elements an array has for each that is read of it at known places, for
// these to be added to in place rather than by a sum of arrays.
const minRarity = 4

// largeGraph is the number of nodes from which nodes that stay as they are are copied
// without looking for equal ones among the new: ten times as fast, which counts where
// a loop was unrolled to a million ops.
const largeGraph = 50_000

// A scatter of constants is not folded if its value has more than minSpread elements,
// over maxSpread for each that is put there: mostly zeros, which a constant would
// store.
const (
	minSpread = 1024
	maxSpread = 8
)
