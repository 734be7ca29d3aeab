// Package ad is the tape: a static graph of array operations that can be
// evaluated, differentiated into the same operations, and lowered to fast code
// by others. It knows nothing of models or of the language.
//
// Map of the package:
//
//	graph.go       Graph, Node, Type (lanes and shape), building with sharing, folding and safe identities
//	budget.go      Budget: what building graphs may take of memory and time; sizes that do not overflow
//	await.go       Await: work whose caller can stop waiting
//	op.go          Op, the row of the op table; the op codes
//	elementwise.go rows of arithmetic, comparison, exponentials, trigonometry
//	special.go     rows of the special functions; incomplete.go, inverses.go, diffusion.go: more of them
//	structural.go  Index maps; Gather, Scatter and what is made of them
//	rows.go        rows of structural ops and of ops on whole arrays (matrix product, log_sum_exp)
//	complex.go     rows of decompositions of complex matrices; schur.go: their kernels
//	fourier.go     discrete Fourier transforms
//	matrix.go      rows of Cholesky, solves, determinants, eigenvalues; linalg.go, matrixexp.go: their kernels
//	regionkind.go  Layout: what is known of a kind of region; the kinds, their type rule and evaluation
//	region.go      Scan and If: their layouts and derivatives; what reads results
//	rewrite.go     Rewriter: copies of nodes, under inlining and all that rebuilds graphs
//	checkpoint.go  derivatives of regions that read and write arrays element by element
//	segment.go     derivatives of scans whose history is too long to store
//	while.go       While: a loop whose trips only a run knows, with snapshots for its derivative
//	effect.go      argument checks, rejections, prints
//	grad.go        Backprop, Grad: reverse mode, as graph expressions
//	untaken.go     sides of choices that were not taken, whose adjoints are 0
//	jvp.go         JVP: forward mode, likewise
//	hessian.go     Hessian-vector products, Hessians, Jacobians
//	origin.go      where elements come from that are only moved
//	fisher.go      the expected Fisher information of sampling statements
//	fishersparse.go the same, by the elements that may differ from 0
//	fisherpattern.go which elements depend on which, for sparse derivatives
//	eval.go        the kernels and the evaluation of one node
//	tuning.go      the numbers that steer all this
//	evalgraph.go   Eval, the reference evaluator
//
// # Lanes
//
// A loop over N iterations without carried dependence is evaluated once, with
// values of N lanes: see Type. Every op maps over lanes, so the rules of
// derivatives and the definitions in stdlib are written for one lane and know
// nothing of loops. This replaces a map region with a separate sub-graph,
// which was considered: with it, `for (n in 1:N) y[n] ~ normal(mu[n], s)` and
// `y ~ normal(mu, s)` would be different graphs, every rewrite would be needed
// twice, and ragged nests would need shapes that depend on the iteration. Here a
// nest of loops is one flat axis of lanes, however ragged, and moving between
// axes is a gather.
//
// # Results
//
// A region has several results, each of its own type, and no value: what reads a
// result reads an OpResult node, the pair of a region and a number. So a result that
// nobody reads has no reader, and one that nothing depends on has no adjoint and no
// tangent; there is nothing to put together and take apart again. Ref stays one
// number: as a pair it would be wider everywhere for the sake of few nodes.
//
// # Derivatives
//
// Reverse mode is the rule that each op declares, as graph expressions: partial
// derivatives of elementwise ops, VJPs of others. Forward mode needs no rules of
// its own: it uses the partials, and the transpose of a VJP. A region's
// derivative is a region of its kind: a scan's runs backward over the stored
// history of what is carried, in segments if the history is long; a loop of
// unknown length rebuilds its past from snapshots; a conditional's is the
// conditional of derivatives. All orders and mixtures of modes follow.
//
// # Kinds of regions
//
// What a region's bodies, arguments and results are to one another is its Layout. All that reads
// regions reads it; code that asks for one kind improves that kind alone. See
// doc/contributing/add-a-region.md.
//
// # Adding an op
//
// A constant in op.go and a row in the table of its family: name, type rule or
// scalar function, derivative as graph expressions, a Domain for the tests. The
// tests of adtest loop over the table.
package ad
