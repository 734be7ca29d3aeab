package loopnest

// The numbers that steer lowering and the passes on the nest; the weights of ops, which
// only reports use, are in cost.go. Where no measurement is given the number was chosen
// and not measured.

// Of rows, which made a hierarchical regression of 12,500 rows 44 → 40 µs in strips of
// the interpreter. With machine code it makes no difference: 1.00 of the time without it
// for that model in a loop, 0.98 for item responses.
const (
	// minRows is the number of rows from which sorting them is worth while.
	minRows = 64

	// MinRun is the average number of equal entries in a row from which runs of them are
	// worth their own loop, hence rows are worth sorting.
	MinRun = 4

	// sumWeight is how many gathers by one index a sum by another one outweighs: a term of a
	// sum by table takes 0.6 ns, by runs 0.1, a gather 0.2 either way. The adjoint of a product
	// with a sparse matrix of 1000 × 100, a tenth of which is not 0, takes 4.2 instead of 8.7 µs.
	sumWeight = 3
)

// ShortTerms is the most terms of a log_sum_exp that is taken apart, so that its
// exponentials are shared with its derivative's and it can be part of strips and of
// scalar code. If none are, mixtures of 2 and 5 normals take 2.4 and 1.6 times as long, a
// hidden Markov model of 3 states 1.6. With 16 instead of 8 terms at most, mixtures of 10 and
// 16 normals take 0.71 and 0.69 times as long, a hidden Markov model of 10 states 0.56; where
// most exponentials are of arguments below -708, which machine code finds by a separate path,
// those of 12 and 14 states take 1.5 times as long.
const ShortTerms = 16

// A product with a matrix of data is part of the maps around it if that has so few columns, and
// so many rows that the calls of the product's own loops do not matter.
const (
	FewColumns = 8
	longColumn = 64
)

// Sums into slices of one array stand apart if the slices are less than farShift elements apart,
// and of shortShift elements or more.
const (
	farShift   = 64
	shortShift = 32
)
