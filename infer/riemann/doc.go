// Package riemann implements Hamiltonian dynamics on a Riemannian manifold: a metric that depends
// on the position, and the generalised leapfrog step.
//
//	metric.go       Metric: G(x) and the gradient of tr(A·G(x)); Constant, Func; Freeze
//	target.go       metrics that a target provides: expected Fisher information, Hessian, its own
//	frozen.go       Frozen, a stage: the metric at one point, as a constant one
//	mode.go         FindMode: a mode of the log density, to freeze a metric at
//	softabs.go      SoftAbs of a Hessian
//	hamiltonian.go  Hamiltonian: momentum, energy, derivatives
//	dense.go        computations with dense metrics
//	pattern.go      Sparse: metrics by their nonzero elements; the order of elimination
//	sparse.go       computations with sparse metrics
//	await.go        long computations, with a caller that can be interrupted
//	step.go         the generalised leapfrog step in two modes
//	along.go        Directional: products with single directions, and the savings that they allow
//
// Kernels need no changes. RMHMC (Girolami and Calderhead, "Riemann manifold Langevin and
// Hamiltonian Monte Carlo methods", 2011) is hmc.Sampler on this geometry, the paper's ARMHMC is
// ahmc.Sampler, and NUTS runs on it unchanged. Each of these has a field Hamiltonian for it:
//
//	hmc.Sampler{Hamiltonian: riemann.Options{}.Hamiltonian(metric), …}
//
// # The trace trick
//
// H(x, p) = -log π(x) + ½ log|G(x)| + ½ pᵀG(x)⁻¹p. With v = G⁻¹p held fixed, the gradient in x of
// its last two terms is that of tr(A·G(x)) with the constant matrix A = ½(G⁻¹ - v vᵀ). So a
// [Metric] need not give the D matrices ∂G/∂xᵢ. The gradient of one scalar suffices; reverse-mode
// differentiation of the program for G yields it at about the cost of G itself.
//
// A metric with mostly zero elements needs A only at the others. The elements of G⁻¹ within the
// pattern of a sparse factor suffice (Takahashi's equations), so that no step costs more than a
// sparse factorisation.
//
// # Single directions
//
// While p is iterated, only v changes. The gradient of ½ log|G| is the same in all iterations, also
// on the way back, and is stored with the point. The gradient of vᵀGv and products G·u take one
// derivative along a direction and one back, instead of one for each of the D parameters. With a
// metric that provides these, see [Directional], the reversible mode finds the new position by
// products alone. It then evaluates the metric there, to check the position and to continue from
// it: once per step, with one gradient of a trace, unless the check fails.
//
// # Two modes
//
// The step solves two implicit equations by fixed-point iteration. An iteration that stops early,
// or finds a different solution than the way back does, breaks reversibility, and with it the
// invariance of the target.
//
//   - [Reversible], the default, iterates to a tolerance, then steps back and compares. A step that
//     does not converge, or does not lead back, fails: the transition is rejected and the failure
//     counted. An iteration fails if six iterations bring it no closer, or not close enough for the
//     remaining ones.
//   - [Published] makes a fixed number of iterations and does not check them, as the programs of
//     Girolami and Calderhead do. It is for comparison with them.
//
// # How well it does
//
// On Girolami and Calderhead's logistic regressions, with their settings (step size 0.5, at most 6
// steps, 4 iterations, 1000 + 5000 transitions), the smallest effective sample size, capped at the
// number of draws, is 1.02 (Ripley), 1.00 (Pima), 0.99 (Heart), 0.97 and 0.97 of theirs, on average
// over ten chains. doc/paper has the tables, and those of the paper's ARMHMC.
//
// The reversible mode evaluates the metric and its gradient about four times as often as the
// published one (16 and 16 times per step against 4 and 5, on a regression with 8 coefficients). It
// rejects steps that the latter accepts: up to 3 % on data like the above.
package riemann
