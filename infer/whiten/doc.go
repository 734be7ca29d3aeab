// Package whiten learns constant metrics from draws and their scores, the gradients of the log
// density at the draws.
//
// Unstable: versions do not promise to keep this package, see doc/how-to/go-library.md.
//
//	fit.go        Fit: diagonal, diagonal plus low rank, dense; by the Fisher divergence
//	basis.go      the estimate in scaled coordinates, and its eigenvectors
//	workspace.go  memory for one fit after another
//	curvature.go  Curvature: dense, from second derivatives
//	map.go        Map: to coordinates in which a metric is the identity, and back
//	triangle.go   products with the factor of a small dense metric
//	lowrank.go    LowRank: products with a metric of low rank
//	held.go       Divergence: how well a metric fits draws from which it was not learnt;
//	              Attainable: how well the best metric can fit
//
// A normal distribution N(μ, Σ) has the scores -Σ⁻¹(x - μ). The Fisher divergence between a target
// and this distribution, measured in the coordinates in which the latter is standard, is
//
//	E |Lᵀ∇log π(x) + L⁻¹(x - μ)|²,  Σ = LLᵀ.
//
// It is smallest for μ = E x + Σ E g and the Σ with Σ Cov(g) Σ = Cov(x), the geometric mean of the
// covariance of the draws and the inverse covariance of the scores. For a normal target this Σ is
// exactly the covariance as soon as the draws span the space, whatever their distribution; d + 1
// draws suffice. (Tran and others 2024, "Tuning Diagonal Scale Matrices for HMC", for the diagonal;
// the package nutpie for the low-rank case.)
package whiten
