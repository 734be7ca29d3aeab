// Package passes makes the loop nest of a graph by a table of passes: first on
// the graph, which is rebuilt by each, then on the nest. Some run earlier still, on
// a log density that has not been differentiated.
//
// Map of the package:
//
//	table.go       Pass, Table, Run
//	tuning.go      the numbers that steer the passes
//	rebuild.go     rebuilding graphs, by ad.Rewriter
//	project.go     sums of squares of residuals freed of their data
//	merge.go       rows of data that are alike added up once
//	sources.go     functions of gathered elements computed where these come from
//	together.go    products with one matrix of data joined
//	prefixes.go    concatenations that begin like others made of these
//	choose.go      conditionals in lanes, and in steps, made selections
//	decide.go      conditionals in lanes made conditionals about all lanes
//	unroll.go      scans of few short steps written out
//	sums.go        what scans only add to made sums
//	numbers.go     short arrays in loops written out as numbers
//	recall.go      what while loops leave kept for derivatives
//	entries.go     short arrays in lanes written out as numbers
//	moves.go       elements taken from where they were computed
//	terms.go       sums of few exponentials written out
//	running.go     log_sum_exp that scans carry taken apart
//	carries.go     while loops freed of what nobody needs
//	systems.go     systems of few equations written out
//	rewrite.go     the list of legal rewrites; logarithms of exponentials
//	slices.go      index tables that are a few slices
//	specialise.go  scans freed of constant streams
//	recurrences.go what a recurrence need not compute, joined
//	distribute.go  scans taken apart
//	factors.go     uniform factors moved out of arrays and sums
//	reciprocals.go divisions by the same array
//
// The passes on the nest are package loopnest's.
//
// Any pass can be left out by name (Options.Without): what a program computes
// does not depend on them, but for rounding; that is tested on random graphs
// here and in vm, on random programs in compile.
//
// # Who reads by position
//
// A pass that reorders, joins or leaves out rows must show that nobody reads one of them by its
// position: an element, a slice, a scan, an output. Its row says how (Pass.Moves). Passes on the
// nest ask one function, reads of package loopnest; those on graphs build what they shorten anew
// for one reader, and leave all others what they had. TestPositions of package vm tries readers of
// every kind.
//
// # Adding a pass
//
// A row in Table: its name, what it does, which passes must come before, and the
// function. A pass on graphs is mostly a call of rebuild; one on nests changes
// Program in place and must leave Verify content. A rewrite of expressions is a
// row of Rewrites, with the condition under which it is legal and how far it is
// off.
package passes
