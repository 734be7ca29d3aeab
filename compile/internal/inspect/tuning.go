package inspect

// Bounds on the number of iterations of loops that are unrolled.
const (
	// SmallLoop is the largest number of iterations of an inner loop that is always unrolled. The
	// elements of short vectors are then separate values. The code for sums of few exponentials
	// (mixtures, hidden states) needs them in this form.
	SmallLoop = 16

	// MediumLoop is the bound for an inner loop that keeps the loop around it from being a
	// recurrence, and for loops within the steps of a recurrence.
	MediumLoop = 64

	// SmallUnrolled is the bound for a loop that would otherwise carry whole arrays, see package
	// emit.
	SmallUnrolled = 256
)

// Bounds beyond which a loop is evaluated in another way.
const (
	// MaxUnits bounds the units of a nest, because planning takes time proportional to the square
	// of their number at worst. The two loops of 100 iterations in the models of the spread of
	// covid, unrolled, are about 600 units in 14 lanes.
	MaxUnits = 4096

	// MaxLaneTrips bounds the trips of a while loop whose number of trips differs between lanes:
	// each trip is nested in the previous one.
	MaxLaneTrips = 1000

	// maxSearched bounds the iterations in which data are searched for the end of an inner loop
	// with a jump. A loop of 1e9 iterations that ends after 20 is a region instead.
	maxSearched = 1 << 20
)

// Reasons why a loop cannot be evaluated statement by statement.
const (
	Jumps       = "break or return in the loop"
	TargetRead  = "target() in a loop that is evaluated as a whole"
	PrintsOrder = "print: its order matters"
	LongInSteps = "a long inner loop whose number of iterations varies"
	unknownSize = "a size that data do not decide"
	undecided   = "an integer that data do not decide"
)
