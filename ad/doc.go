// Package ad builds and differentiates graphs of array operations. A graph is static; it can be
// evaluated, differentiated into the same operations, and lowered to fast code by other packages.
// Package ad knows nothing of models or of the language.
//
// Unstable: versions do not promise to keep this package, see doc/how-to/go-library.md.
//
// Map of the package:
//
//	graph.go       Graph, Node, Type (lanes and shape); building with common-subexpression
//	               elimination, constant folding and safe identities
//	budget.go      Budget: limits on memory and time for building graphs; sizes that do not overflow
//	await.go       Await: work whose caller can stop waiting
//	op.go          Op, the row of the op table; the op codes
//	elementwise.go rows of arithmetic, comparison, exponentials, trigonometry
//	special.go     rows of the special functions; incomplete.go, inverses.go, diffusion.go: more of them
//	structural.go  Index maps; Gather, Scatter and ops built on them
//	rows.go        rows of structural ops and of ops on whole arrays (matrix product, log_sum_exp)
//	complex.go     rows of decompositions of complex matrices; schur.go: their kernels
//	fourier.go     discrete Fourier transforms
//	matrix.go      rows of Cholesky, solves, determinants, eigenvalues; linalg.go, matrixexp.go: their kernels
//	sparse.go      rows of Cholesky and solves of sparse matrices
//	regionkind.go  the interface that each kind of region implements
//	region.go      Scan and If: ops with sub-graphs and several results, and their derivatives
//	rewrite.go     Rewriter: copies nodes, for inlining and everything that rebuilds graphs
//	checkpoint.go  derivatives of regions that read and write arrays element by element
//	recurrence.go  DoRecurrence: a loop of which only the recurrence runs step by step
//	segment.go     derivatives of scans whose history is too long to store
//	while.go       While: a loop until its condition fails, with snapshots or kept values for its derivative
//	effect.go      side effects: argument checks, rejections, prints
//	grad.go        Backprop, Grad: reverse mode, as graph expressions
//	untaken.go     sides of choices that were not taken, whose adjoints are 0
//	jvp.go         JVP: forward mode, as graph expressions
//	dual.go        … values and tangents together
//	hessian.go     Hessian-vector products, Hessians, Jacobians
//	origin.go      the origin of elements that are only moved
//	fisher.go      the expected Fisher information of sampling statements
//	fishersquares.go SquareTerms: squares that are terms of a log density, as statements
//	fishersparse.go the same for sparse matrices
//	fisherpattern.go the sparsity pattern of dependences, for sparse derivatives
//	eval.go        the kernels and the evaluation of one node
//	tuning.go      tuning constants
//	evalgraph.go   Eval, the reference evaluator
//
// # Lanes
//
// A loop over N iterations without carried dependence is evaluated once, with values of N lanes:
// see Type. Every op maps over lanes, so the rules of derivatives and the definitions in stdlib are
// written for one lane and know nothing of loops.
//
// The alternative was a map region with a sub-graph. With it, `for (n in 1:N) y[n] ~ normal(mu[n],
// s)` and `y ~ normal(mu, s)` would be different graphs, every rewrite would be needed twice, and
// ragged nests would need shapes that depend on the iteration. With lanes a nest of loops is one
// flat axis, however ragged, and moving between axes is a gather.
//
// # Results
//
// A region has several results, each with its own type, and no value. Whatever reads a result reads
// an OpResult node, the pair of a region and an index. So an unused result has no reader, and a
// result that does not depend on a parameter has no adjoint and no tangent. Ref stays one number:
// as a pair it would be wider everywhere for the sake of few nodes.
//
// # Derivatives
//
// Reverse mode uses the rule that each op declares, as graph expressions: partial derivatives for
// elementwise ops, VJPs for others. Forward mode needs no further rules: it uses the partials, and
// the transpose of a VJP. The derivative of a region is a region of the same kind. That of a scan
// runs backward over the stored history of its carried values, in segments if the history is long.
// That of a loop of unknown length rebuilds the history from snapshots. That of a conditional is a
// conditional. All orders and mixtures of modes follow.
//
// # Kinds of regions
//
// The Layout of a region describes its bodies, arguments and results, and how these correspond. All
// code that reads regions reads the Layout. Code that asks for one kind only makes that kind
// faster. See doc/contributing/add-a-region.md.
//
// # Adding an op
//
// Add a constant in op.go and a row in the table of its family: name, type rule or scalar function,
// derivative as graph expressions, a Domain for the tests. The tests of adtest loop over the table.
package ad
