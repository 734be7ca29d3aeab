// Package riemann holds Hamiltonian dynamics on a Riemannian manifold: a metric
// that depends on the position, and the generalised leapfrog step.
//
//	metric.go       Metric: G(x) and the gradient of tr(A·G(x)); Constant, Func; Freeze
//	target.go       metrics that a target itself provides: expected Fisher information, Hessian, its own
//	frozen.go       Frozen, a stage: the metric at one point, as a constant one
//	mode.go         FindMode: a mode of the log density, to freeze a metric at
//	softabs.go      SoftAbs of a Hessian
//	hamiltonian.go  Hamiltonian: momentum, energy, derivatives
//	dense.go        what it computes with all elements of a metric
//	pattern.go      Sparse: metrics by the elements that may differ from 0; the order of elimination
//	sparse.go       what a Hamiltonian computes with these
//	await.go        work that takes long, beside a caller who asks whether to stop
//	step.go         the generalised leapfrog step in two modes
//	along.go        Directional: metrics that tell of single directions, and what a step saves by that
//
// Kernels know nothing of it: RMHMC (Girolami and Calderhead, "Riemann manifold
// Langevin and Hamiltonian Monte Carlo methods", 2011) is hmc.Sampler on this
// geometry, the paper's ARMHMC ahmc.Sampler, and NUTS runs on it as it is.
// Each of these has a field Hamiltonian for it:
//
//	hmc.Sampler{Hamiltonian: riemann.Options{}.Hamiltonian(metric), …}
//
// # The trace trick
//
// H(x, p) = -log π(x) + ½ log|G(x)| + ½ pᵀG(x)⁻¹p. With v = G⁻¹p held fixed,
// the gradient in x of its last two terms is that of tr(A·G(x)) with the
// constant matrix A = ½(G⁻¹ - v vᵀ). So a [Metric] need not give the D
// matrices ∂G/∂xᵢ: one gradient of a scalar will do, which reverse-mode
// differentiation of the program for G has at about the cost of G itself.
//
// With v = G⁻¹p, a metric of which most elements are 0 needs A only where these are not:
// the elements of G⁻¹ at the places of a sparse factor (Takahashi's equations) will do,
// so that no step has more work than a sparse factorisation.
//
// # Single directions
//
// While p is iterated, only v changes: the gradient of ½ log|G| is the same in all iterations, on
// the way back too, and is kept with the point; the gradient of vᵀGv, and products G·u, take one
// derivative along a direction and one back, in place of one for each of the D parameters. With a
// metric that has these, see [Directional], the reversible mode looks for the new position
// with products alone, and evaluates the metric where it was found, to check that and
// to go on from there: once per step, with one gradient of a trace, unless the check fails.
//
// # Two modes
//
// The step solves two implicit equations by fixed-point iteration. An iteration
// that stops short, or finds another solution than the way back does, breaks
// reversibility, and with it the invariance of the target.
//
//   - [Reversible], the default, iterates to a tolerance, then steps back and
//     compares. A step that does not converge, or does not lead back, fails:
//     the transition is rejected and the failure counted. An iteration that in
//     six iterations gets no closer, or not close enough for those that are
//     left, has not converged.
//   - [Published] makes a fixed number of iterations and trusts them, as the
//     programs of Girolami and Calderhead do. It is for comparison with them.
//
// # How well it does
//
// On Girolami and Calderhead's logistic regressions, with their settings (step
// size 0.5, at most 6 steps, 4 iterations, 1000 + 5000 transitions), the least
// effective sample size, capped at the number of draws, is 1.02 (Ripley), 1.00
// (Pima), 0.99 (Heart), 0.97 and 0.97 of theirs, on average over ten chains.
// doc/paper has the tables, and those of the paper's ARMHMC.
//
// The reversible mode evaluates the metric and its gradient about four times as
// often as the published one (16 and 16 times per step against 4 and 5, on a
// regression with 8 coefficients), and rejects steps that the latter takes: on
// data like the above, up to 3 % of them.
package riemann
