package loopnest

// The numbers that steer lowering and the passes on the nest; the weights of ops, which
// only reports use, are in cost.go. Where no measurement is given the number was chosen
// and not measured.

// Of rows, which made a hierarchical regression of 12,500 rows 44 → 40 µs.
const (
	// minRows is the number of rows from which sorting them is worth while.
	minRows = 64

	// MinRun is the average number of equal entries in a row from which runs of them are
	// worth a loop of their own, hence rows are worth sorting.
	MinRun = 4
)

// shortTerms is the most terms of a log_sum_exp that is taken apart, so that its
// exponentials are shared with its derivative's and it can be part of strips and of
// scalar code; with steps of scans as one function, hidden Markov models 150 → 70 µs.
const shortTerms = 8
