package loopnest

// This file: tuning constants of lowering and of the passes on the nest. The weights of ops, which
// only reports use, are in cost.go. Where no measurement is given, the number was chosen without
// one.

// Constants of the pass rows. It reduced a hierarchical regression of 12,500 rows from 44 to 40 µs
// in strips of the interpreter. With machine code it makes no difference: without the pass that
// model, written as a loop, takes 1.00 of the time, item responses 0.98.
const (
	// minRows is the least number of rows that are sorted.
	minRows = 64

	// MinRun is the average length of runs of equal entries from which runs get their own loop.
	// Rows are sorted to get such runs.
	MinRun = 4

	// sumWeight is the number of gathers by one index that count as much as a sum by another index.
	// A term of a sum by table takes 0.6 ns, by runs 0.1; a gather takes 0.2 in both cases. The
	// adjoint of a product with a sparse matrix of 1000 × 100, a tenth of it nonzero, takes 4.2
	// instead of 8.7 µs.
	sumWeight = 3

	// maxTargets is the largest number of targets for which a sum by an unsorted table becomes a
	// sum for each target. An autoregression of 2000 days whose level depends on one of 2, 3, 4, 6
	// and 8 categories takes 0.61, 0.75, 0.85, 1.02 and 1.18 of the time with such sums.
	maxTargets = 4
)

// ShortTerms is the largest number of terms of a log_sum_exp that is written out, so that it shares
// its exponentials with its derivative and can be part of strips and of scalar code. If nothing is
// written out, mixtures of 2 and 5 normals take 2.4 and 1.6 times as long, a hidden Markov model of
// 3 states 1.6. With a limit of 16 instead of 8 terms, mixtures of 10 and 16 normals take 0.71 and
// 0.69 times as long, a hidden Markov model of 10 states 0.56. If most arguments of exponentials
// are below -708, which machine code computes on a separate path, models of 12 and 14 states take
// 1.5 times as long.
const ShortTerms = 16

// A product with a matrix of data is part of the maps around it if that has so few columns, and
// so many rows that the calls of the product's own loops do not matter. As part of the maps, a
// gradient with products of 24, 31 and 60 rows takes 1.1, 0.75 and 0.6 times as long.
const (
	FewColumns = 8
	longColumn = 28
)

// Sums into slices of one array get separate loops if the slices have at least shortShift elements
// and are less than farShift elements apart.
const (
	farShift   = 64
	shortShift = 32
)
