// Package passes makes the loop nest of a graph by a table of passes: first on
// the graph, which is rebuilt by each, then on the nest. Some run earlier still, on
// a log density that has not been differentiated.
//
// Map of the package:
//
//	table.go       Pass, Table, Run
//	tuning.go      the numbers that steer the passes
//	rebuild.go     rebuilding graphs, by ad.Rewriter
//	project.go       sums of squares of residuals freed of their data
//	deduplicate.go   row deduplication: rows of data that are alike are added up once
//	exchange.go      map–gather exchange: functions of gathered elements, before the gather
//	batchproducts.go product merging: products with one matrix of data become one
//	prefixes.go      concatenations that begin like others made of these
//	ifconvert.go     if-conversion: conditionals in lanes, and in steps, become selections
//	unswitch.go      loop unswitching: conditionals in lanes become conditionals about all lanes
//	unroll.go        full unrolling: scans of few short steps are written out
//	reductions.go    reduction recognition: what scans only add to becomes a sum
//	scalarloops.go   scalar replacement: short arrays in loops become numbers
//	checkpoint.go    checkpointing: what while loops leave is kept for derivatives
//	scalarlanes.go   scalar replacement: short arrays in lanes become numbers
//	forward.go       forwarding of stores to loads: elements from where they were computed
//	unrollsums.go    full unrolling of sums of few exponentials
//	prefixsums.go    prefix-sum recognition: log_sum_exp that scans carry
//	deadcarries.go   dead-code elimination in while loops
//	closedform.go    closed-form solution of systems of few equations
//	rewrite.go       the list of legal rewrites; logarithms of exponentials
//	slices.go        index tables that are a few slices
//	recurrences.go   what a recurrence need not compute, joined
//	distribute.go    loop distribution: scans are taken apart
//	hoist.go         loop-invariant code motion: uniform factors leave arrays and sums
//	reciprocals.go   divisions by the same array
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
