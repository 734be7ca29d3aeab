// Package passes turns a graph into a loop nest by a table of passes: first on the graph, which
// each pass rebuilds, then on the nest. Some run earlier, on a log density that has not been
// differentiated.
//
// Map of the package:
//
//	table.go       Pass, Table, Run
//	tuning.go      tuning constants of the passes
//	rebuild.go     rebuilding graphs, by ad.Rewriter
//	project.go       sums of squares of residuals, over a few rows instead of all data
//	projectgroups.go   … if rows select coefficients
//	projecttriangle.go … the triangle of the QR decomposition
//	deduplicate.go   row deduplication: equal rows of data are summed once
//	sparse.go        products with matrices of data that are mostly zero
//	exchange.go      map–gather exchange: functions of gathered elements, before the gather
//	batchproducts.go product merging: products with one matrix of data become one
//	ifconvert.go     if-conversion: conditionals in lanes, and in steps, become selections
//	unswitch.go      loop unswitching: a condition that is the same in all lanes is tested once
//	reductions.go    reduction recognition: what scans only add to becomes a sum
//	logproducts.go   product recognition: sums of exponentials become products of matrices
//	logproductscan.go  … the scan that computes them
//	logproductchain.go … the scan without logarithms in its steps
//	logproductzeros.go … products that are known to underflow
//	finals.go          … the last of kept values is read as a final value
//	places.go        single elements, followed to where they are moved from
//	scalars.go       scalar replacement: its parts in order, the cost rule
//	scalarregions.go   short arrays in loops become scalars
//	scalarunroll.go    scans of few short steps are unrolled
//	scalarlanes.go     short arrays in lanes become scalars
//	scalarforward.go   store-to-load forwarding of elements
//	scalarsums.go      sums of few exponentials become expressions
//	scalarsystems.go   systems of few equations become expressions
//	prefixes.go      concatenations that begin like others reuse these
//	tangents.go      forward-mode differentiation of solvers that depend on few numbers
//	checkpoint.go    checkpointing: results of while loops are kept for derivatives
//	elements.go      checkpointing: so are the elements of arrays that steps read
//	logs.go          checkpointing: so are those that trips of while loops read
//	flatten.go           loops around such loops become one loop
//	skew.go          loop skewing: tables are filled in wavefronts, in lanes
//	delays.go        delay lines: values read many steps later are carried as one array
//	sequences.go     scans of many sequences become scans of one in lanes
//	probabilities.go sums of probabilities within sums of probabilities, without logarithms
//	prefixsums.go    prefix-sum recognition: log_sum_exp that scans carry
//	layout.go        data layout: matrices are stored by rows or by columns
//	deadcarries.go   dead-code elimination of carried values
//	rewrite.go       the list of legal rewrites; logarithms of exponentials and of their sums
//	slices.go        index tables that are a few slices
//	recurrences.go   invariant parts of recurrences are joined
//	criticalpath.go  terms of sums in scans are added when they are known
//	distribute.go    loop distribution (fission) of scans
//	hoist.go         loop-invariant code motion: uniform factors leave arrays and sums
//	reciprocals.go   divisions by one array, or by few numbers, share reciprocals
//
// The passes on the nest are in package loopnest.
//
// Any pass can be left out by name (Options.Without). Results do not depend on passes, except for
// rounding; this is tested on random graphs here and in vm, and on random programs in compile.
//
// # Scalar replacement
//
// Pass scalars replaces arrays whose elements are all addressed by known indices by the elements
// themselves. Its driver is replaceScalars. These are its parts:
//
//   - Scans of few steps are unrolled, which makes indices known. In while loops, and in scans that
//     stay, either all short arrays are replaced or none.
//   - Short arrays in lanes become a scalar in lanes for each element. Arrays that depend on one
//     another are replaced together; readers outside get them put together again.
//   - Loads of elements are forwarded to the stores: gathers from an array that was only put
//     together read its parts.
//   - Sums of few exponentials become expressions of their terms. Linear systems of few equations
//     do as well, but only after the density has been differentiated: the derivative of a solution
//     is another solution, and that of its expression would be much longer. So the pass has a
//     function for each stage.
//
// One rule decides every application (bill.beats). The present code and its replacement each have a
// bill. The replacement must take less time, and its code must not exceed a limit. A bill has the
// arithmetic, in vectors where values are arrays, so that lost vectorisation counts; the numbers
// that go through memory; the entries of loops over arrays; the number of scalar operations; and
// the number of live values, of which those beyond the registers are spilled. Bills of regions are
// computed from their graphs, before and after. The costs of an operation, a spill and so on are
// measured (tuning.go).
//
// # Readers by position
//
// A pass that reorders, joins or leaves out rows must show that nobody reads one of them by its
// position: an element, a slice, a scan, an output. Its row says how (Pass.Moves). Passes on the
// nest call one function, reads of package loopnest. Passes on graphs build the shortened value for
// one reader, and leave the old value to all others. TestPositions of package vm tries readers of
// every kind.
//
// # Adding a pass
//
// Add a row to Table: its name, what it does, which passes must come before, and the function. A
// pass on graphs is mostly a call of rebuild. A pass on nests changes Program in place, so that
// Verify still accepts it. A rewrite of expressions is a row of Rewrites, with the condition under
// which it is legal and its error bound.
package passes
