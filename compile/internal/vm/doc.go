// Package vm is the portable executor: it plans an ad.Graph once and replays it
// millions of times without allocating.
//
// Map of the package, in the order of planning:
//
//	program.go     Program, Machine, and the form of what a machine runs
//	distribute.go  scans taken apart: what does not recur runs for all steps at once
//	specialise.go  scans freed of streams of zeros and of adjoints packed to be unpacked
//	lower.go       a graph's nodes to ours: views instead of copies, accumulations, uniform values
//	region.go      scans and conditionals with their sub-graphs
//	fuse.go        the machine's own ops: products with sums, shared exponentials, constant factors
//	index.go       index maps over flat storage
//	schedule.go    which nodes form a block, in which order
//	emit.go        blocks to instructions; lives of values
//	stripcode.go   blocks of arrays to instructions
//	memory.go      places in the arena
//	exec.go        running blocks, scans and conditionals
//	scalar.go      the interpreter of scalar code
//	strip.go, loops.go, transcend.go, tables.go   strips and their loops
//	matmul.go, lse.go   products of matrices, log_sum_exp
//	listing.go     Program.String
//
// # The form
//
// A program is a list of blocks. A scalar block is code {op, dst, a, b, c} over
// places in memory. A strip block runs over n elements, up to 512 at a time;
// its operands are views, slices that are set anew for every strip, so that
// what only the block needs lives in temporaries of one strip, and sums,
// gathers and scatters are instructions like others. All other ops form blocks
// of their own; a region's block holds the blocks of its sub-graphs. A step of
// a scan sets the views of its streams to the next slice and copies scalars in
// and out; nothing else moves. A value of several lanes is an array like any
// other: lanes exist only until lowering.
//
// Values, as opposed to memory, are (root, offset): reshapes, lanes, slices and
// the results of regions are views of the root they look at; the parts of a
// concatenation, and what alone fills a part of a sum of scatters (the gradient
// of a parameter vector, mostly), are computed in place there. A value that is
// one number repeated is kept as that number. Parts of a scan's result that
// nobody reads are not stored; constants stay where the graph holds them.
//
// A machine's inputs keep their values; outputs have memory of their own; a
// rejected run leaves nothing behind that a later one reads.
//
// # What was measured
//
// ns per value and gradient on a Zen 3 virtual machine of two busy cores, least
// of many short batches (TestMeasure; math.Exp takes 13 ns there, math.Log 10);
// by hand is scalar Go for this very model:
//
//	                              machine  by hand  ratio  ad.Eval
//	eight schools, arrays of 8        230       57   4.0      7 700
//	eight schools, scalars            320       57   5.6     23 000
//	logistic regression 1000×24    23 400  101 000   0.23   220 000
//	hierarchical 12 500 rows, 386  90 000   20 800   4.3  3 200 000
//	stochastic volatility 2000     53 000   36 400   1.5  1 300 000
//	GARCH(1,1), 200 days           13 200    1 990   6.6  1 100 000
//	GARCH(1,1), 2000 days         128 000   19 300   6.6 18 000 000
//	mixture of two, 1000           32 700   46 000   0.71   770 000
//	HMM of three states, 400      210 000  214 000   0.98 2 300 000
//
// What decided the design, same machine:
//
//   - Strips of L1 size against whole arrays, block by block: no difference
//     (hierarchical 90 and 86 µs; with 200 000 rows 1.48 and 1.40 ms), because
//     Go's scalar loops, at 0.35 to 0.65 ns per element and instruction, wait
//     for themselves and not for memory. One block instead of many is 1.34×
//     for arrays of 8. Strips stay for the sake of memory (a temporary costs
//     4 KB, not the size of the data) and of vector kernels, which will be
//     bound by memory; wanted are fewer passes, hence the next points.
//   - Loops inlined in the interpreter: 8 % slower than out of line.
//   - Products joined with sums, sums of products: hierarchical 116 → 107 µs,
//     schools of scalars 630 → 400 ns.
//   - Constant factors moved through products and out of sums: the hierarchical
//     regression of examples/ 13.0 → 10.1 µs.
//   - exp and log of strips by table, inline: 3.6 and 5.9 ns. With exponentials
//     shared between a logistic function and its derivatives: mixture 90 → 38
//     µs, logistic regression 52 → 24, volatility 92 → 60.
//   - Scans taken apart: GARCH 35 → 20 µs for 200 days; a loop for bodies of
//     scalar code alone → 16; streams of zeros removed → 13.4.
//   - Scalar code ordered by op: 1470 → 630 ns for eight schools, whose jumps
//     the processor then guesses (3.4 instead of 7.5 ns per instruction); runs
//     of one op in an inner loop 400 → 320.
//   - Matrix times vector by gonum's Dgemv, 0.14 ns per product against 0.25;
//     matrix times matrix by own loops, see matmul.go.
//
// Planning costs 1 to 4 µs per node.
//
// # What it does not do
//
// Strips are not vectorised: each loop of loops.go and transcend.go is what an
// assembly kernel would replace, operand for operand. Scans with lanes and
// scans whose bodies have lanes are not taken apart. Results that enter
// elsewhere at a sum of another order differ from the reference in the last
// places; products and quotients too where factors or reciprocals were moved.
package vm
