// Package loopnest is the lowered form of a graph, shared by everything that executes it: a nest of
// loops in SSA form.
//
// Map of the package:
//
//	form.go          Program, Body, Block, Node, Value, Buffer, Region: the form
//	tuning.go        tuning constants of lowering and of the passes here
//	lower.go         from an ad.Graph: views instead of copies, accumulations, uniform values
//	region.go        scans and conditionals with their sub-graphs
//	index.go         index maps over flat storage
//	cse.go           common-subexpression elimination: equal nodes become one
//	exponentials.go  the pass that shares exponentials of logistic functions
//	columns.go       the pass that writes products with narrow matrices out
//	products.go      the passes that join products with sums, and place parts
//	reads.go         which readers see positions: the question of passes that move elements
//	rows.go          the pass that sorts rows of data by a group index
//	targets.go       its part for sums of few groups
//	blocks.go        the passes that form blocks (loop fusion) and schedule scalar code
//	verify.go        Verify: the invariants that every pass preserves
//	print.go         Print, in readable form with source positions
//	count.go         counts, for reports
//
// # The form
//
// A body is a list of nodes, grouped into blocks. There are three kinds of blocks: scalar code on
// single numbers; maps, whose n lanes are independent and whose nodes, including loads, sums and
// scatters, read each other lane by lane; and nodes that run alone: matrix products and other ops
// on whole arrays, side effects, random draws, regions. A region is a scan (values carried from
// step to step), a conditional or a while loop. It has its own bodies, nested to any depth.
//
// An operand is a slice of a buffer (offset, length) or one element that stands for all
// (broadcast). A buffer is a constant (data or a number), an input, the result of nodes, or a
// carried value. In the body of a region it may also be a binding: the slice of a stream that
// belongs to the step, or of a value that belongs to the lane. Load nodes of the same block make
// strided, repeated and gathered operands; an executor may merge them into their readers.
//
// Reshapes, lanes, slices and the results of regions are views. A value of several lanes is an
// array like any other: lanes exist only until lowering. A value that is one repeated number is
// kept as that number. Each node keeps the site in the source from which it came.
//
// There are no rules of derivatives here: differentiation happens before, on the graph.
package loopnest
