package inspect

// Of loops that are short.
const (
	// SmallLoop is the greatest number of iterations of an inner loop that becomes so many
	// statements of the nest: the elements of short vectors are then separate values,
	// which sums of few exponentials, in mixtures and hidden states, are made for.
	SmallLoop = 16

	// MediumLoop is the same where an inner loop would keep the loop around it from being
	// a recurrence, and for the loops that a recurrence comes upon.
	MediumLoop = 64

	// SmallUnrolled is the number of iterations up to which a loop is rather unrolled than made to
	// carry arrays whole, see package emit.
	SmallUnrolled = 256
)

// Bounds, beyond which a loop is evaluated in another way.
const (
	// MaxUnits bounds the statements of a nest, those of unrolled inner loops counted for
	// each iteration: the plan takes time by their square at worst. The two loops of 100
	// iterations of the models of the spread of covid, in 14 lanes, are about 600.
	MaxUnits = 4096

	// MaxLaneTrips bounds the nesting of the trips of a while loop where they differ between lanes.
	MaxLaneTrips = 1000
)

// Reasons of loops that cannot be evaluated statement by statement.
const (
	Jumps       = "break or return in the loop"
	TargetRead  = "target() in a loop that is evaluated as a whole"
	PrintsOrder = "print: its order matters"
	unknownSize = "a size that data do not decide"
)
