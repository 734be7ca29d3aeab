// Package loopnest is the lowered form of a graph, shared by whatever executes
// it: a nest of loops in SSA form.
//
// Map of the package:
//
//	form.go          Program, Body, Block, Node, Value, Buffer, Region: the form
//	tuning.go        the numbers that steer lowering and passes
//	lower.go         from an ad.Graph: views instead of copies, accumulations, uniform values
//	region.go        scans and conditionals with their sub-graphs
//	index.go         index maps over flat storage
//	cse.go           common-subexpression elimination: equal nodes become one
//	exponentials.go  the pass that shares exponentials of logistic functions
//	columns.go       the pass that writes products with narrow matrices out
//	products.go      the passes that join products with sums, place parts
//	reads.go         who reads an element by position: what passes that move elements ask
//	rows.go          the pass that sorts rows of data by a group index
//	blocks.go        the passes that form blocks (loop fusion) and schedule scalar code
//	verify.go        Verify: what every pass must leave true
//	print.go         Print, in readable form with source positions
//	count.go         counts, for reports
//
// # The form
//
// A body is a list of nodes, grouped into blocks: scalar code on single numbers;
// maps, whose n lanes are independent and whose nodes read each other lane by
// lane, loads, sums and scatters included; and what runs alone: matrix products
// and other ops on whole arrays, effects, random draws, regions. A region is a
// scan (values carried from step to step), or a conditional, with bodies of its
// own, nested at will.
//
// An operand is a slice of a buffer (offset, length) or one element that stands
// for all (broadcast). A buffer is a constant (data or a number), an input, what
// nodes write, a carried value, or, in the body of a region, a binding: the
// slice of a stream that belongs to the step, or of a value that belongs to the
// lane. Strided, repeated and gathered operands are made by load nodes of the
// same block, which an executor may merge into their readers.
//
// Reshapes, lanes, slices and the results of regions are views of what they look
// at. A value of several lanes is an array like any other: lanes exist only
// until lowering. A value that is one number repeated is kept as that number.
// Each node keeps the site of the source that it came from.
//
// There are no rules of derivatives here: differentiation happens before, on the
// graph.
package loopnest
