// Package whiten learns constant metrics from draws and their scores, the gradients
// of the log density at them.
//
//	fit.go       Fit: diagonal, diagonal plus low rank, dense; by the Fisher divergence
//	basis.go     the estimate in scaled coordinates, and its eigenvectors
//	workspace.go memory for one fit after another
//	curvature.go Curvature: dense, from second derivatives
//	map.go       Map: to coordinates in which a metric is the identity, and back
//	triangle.go  its products with the factor of a dense metric of few rows
//	lowrank.go   LowRank: products with a metric of low rank
//	held.go      Divergence: how well a metric fits draws that it was not learnt from;
//	             Attainable: how well one can fit at best
//
// A normal distribution N(μ, Σ) has the scores -Σ⁻¹(x - μ). The Fisher divergence of
// a target from it, measured in the coordinates in which it is standard,
//
//	E |Lᵀ∇log π(x) + L⁻¹(x - μ)|²,  Σ = LLᵀ,
//
// is least for μ = E x + Σ E g and the Σ with Σ Cov(g) Σ = Cov(x), the geometric
// mean of the covariance of the draws and the inverse of that of the scores. For a
// normal target it is the covariance exactly as soon as the draws span the space,
// whatever their distribution: d + 1 of them do. (Tran and others 2024, "Tuning
// Diagonal Scale Matrices for HMC", for the diagonal; the package nutpie for
// the low-rank case.)
package whiten
