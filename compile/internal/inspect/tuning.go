package inspect

// Numbers of iterations up to which loops are unrolled.
const (
	// SmallLoop is the greatest number of iterations of an inner loop that is always unrolled. The
	// elements of short vectors are then separate values, as the code for sums of few exponentials
	// (mixtures, hidden states) needs them.
	SmallLoop = 16

	// MediumLoop is the same for an inner loop that keeps the loop around it from being a
	// recurrence, and for loops within the steps of a recurrence.
	MediumLoop = 64

	// SmallUnrolled is the number of iterations up to which a loop is unrolled if it would
	// otherwise carry whole arrays, see package emit.
	SmallUnrolled = 256
)

// Bounds beyond which a loop is evaluated in another way.
const (
	// MaxUnits bounds the units of a nest, as planning takes time proportional to their square at
	// worst. The two loops of 100 iterations in the models of the spread of covid, unrolled, are
	// about 600 units in 14 lanes.
	MaxUnits = 4096

	// MaxLaneTrips bounds the trips of a while loop whose number differs between lanes: each is
	// nested in the one before.
	MaxLaneTrips = 1000
)

// Reasons of loops that cannot be evaluated statement by statement.
const (
	Jumps       = "break or return in the loop"
	TargetRead  = "target() in a loop that is evaluated as a whole"
	PrintsOrder = "print: its order matters"
	LongInSteps = "a long inner loop whose number of iterations varies"
	unknownSize = "a size that data do not decide"
)
