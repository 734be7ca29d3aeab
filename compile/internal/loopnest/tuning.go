package loopnest

// This file: tuning constants of lowering and of the passes on the nest. The weights of ops, which
// only reports use, are in cost.go. Where no measurement is given, the number was chosen without
// one.

// Pass rows, which made a hierarchical regression of 12,500 rows 44 → 40 µs in strips of the
// interpreter. With machine code it makes no difference: without it that model in a loop takes 1.00
// of the time, item responses 0.98.
const (
	// minRows is the least number of rows that are sorted.
	minRows = 64

	// MinRun is the least average number of adjacent equal entries for which runs of them get their
	// own loop, and hence rows are sorted.
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
