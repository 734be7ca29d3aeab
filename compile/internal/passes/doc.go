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
//	ifconvert.go     if-conversion: conditionals in lanes, and in steps, become selections
//	unswitch.go      loop unswitching: conditionals in lanes become conditionals about all lanes
//	reductions.go    reduction recognition: what scans only add to becomes a sum
//	scalars.go       scalar replacement: its parts in order, the cost rule
//	scalarregions.go   short arrays in loops become numbers
//	scalarunroll.go    scans of few short steps are written out
//	scalarlanes.go     short arrays in lanes become numbers
//	scalarforward.go   elements are taken from where they were computed
//	scalarsums.go      sums of few exponentials become expressions
//	scalarsystems.go   systems of few equations become expressions
//	prefixes.go      concatenations that begin like others made of these
//	checkpoint.go    checkpointing: what while loops leave is kept for derivatives
//	elements.go      checkpointing: so are the elements of arrays that steps read
//	delays.go        delay lines: what is read many steps later is carried as one array
//	prefixsums.go    prefix-sum recognition: log_sum_exp that scans carry
//	deadcarries.go   dead-code elimination in while loops
//	rewrite.go       the list of legal rewrites; logarithms of exponentials and of their sums
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
// # Scalar replacement
//
// Pass scalars replaces arrays of which all elements are addressed by known indices by the elements
// themselves. It has one driver, replaceScalars, and these parts:
//
//   - Scans of few steps are unrolled, because that makes indices known. So are, in while loops and
//     in scans that stay, all short arrays, or none.
//   - Short arrays in lanes become a number in lanes for each element. Arrays that depend on one
//     another are replaced together, and what reads one from outside gets it put together again.
//   - Loads of elements are forwarded to what was stored: where an array has only been put
//     together, those that gather from it read its parts.
//   - Sums of few exponentials become expressions of their terms. Linear systems of few equations
//     do as well, but not before the density has been differentiated, because the derivative of a
//     solution is another solution, and that of its expression would be much longer. So the pass
//     has a function for each stage.
//
// One rule decides every application (bill.beats): what is computed now and what would be computed
// instead each have a bill, and the new one must take less time and no more than so many operations
// of code. A bill has the arithmetic, in vectors where values are arrays, so that lost vectors
// count; the numbers that go through memory; the entries of loops over arrays; the number of scalar
// operations; and the numbers live at once, of which those beyond the registers are spilled. Bills
// of the regions of a graph are computed from the graphs, before and after. What an operation, a
// spill and the rest cost is measured (tuning.go).
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
