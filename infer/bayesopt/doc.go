// Package bayesopt maximises a noisy function over a finite grid by Gaussian process regression and
// upper confidence bounds: the Bayesian optimisation of Wang, Mohamed and de Freitas, "Adaptive
// Hamiltonian and Riemann Manifold Monte Carlo Samplers" (2013), section 3. Package ahmc uses it to
// tune a sampler; this package does not depend on samplers.
//
// Unstable: versions do not promise to keep this package, see doc/how-to/go-library.md.
//
//	grid.go       Axis, Grid: the finite set Γ of points
//	process.go    the regression, exact and incremental
//	options.go    Options: the paper's constants, and interpretations of unclear places
//	optimizer.go  Optimizer: scale s, beta, acquisition, its maximum
//	tuner.go      Tuner: arms, batches and their rewards, which samplers share
//
// # In short
//
//	grid := bayesopt.Grid{bayesopt.LogAxis(0.01, 0.2, 40), bayesopt.IntegerAxis(1, 100, 64)}
//	opt, err := bayesopt.New(grid, bayesopt.Options{})
//	point := 0
//	for … {
//		err := opt.Observe(point, reward)  // reward of grid.Point(point)
//		point = opt.Next(p)                // p anneals the exploration, 1 for full
//	}
//
// # The model
//
// The function has the prior GP(0, k) with k(γ, γ') = σ_f² exp(-½ Σ_j ((γ_j - γ'_j)/ℓ_j)²), σ_f² =
// 25 and ℓ_j = 0.2 × the range of axis j. An observation has noise of variance σ_η² = 0.1. Both
// variances suit rewards scaled to a maximum near 4: s = 4/max r, so that nothing depends on the
// unit of the reward. The acquisition function is
//
//	u(γ) = s·kᵀ(K + σ_η²I)⁻¹r + p·√β·σ(γ),   β_{i+1} = 2 log((i+1)^{d/2+2} π²/(3δ)),   δ = 0.1
//
// after i observations in d dimensions.
//
// # Cost
//
// Observations at the same point are merged into their mean and count, with noise σ_η²/n. The
// posterior stays the same (a test checks this), but the cost depends on the number u of distinct
// points, not on the number of observations. Each call of Next after new observations costs O(u² +
// u·G) operations for each point that is new or was observed again, where G is the size of the
// grid.
//
// # Differences from the paper
//
// The paper prints the kernel as exp(-½ γᵀΣ⁻¹γ'), a function of a dot product, which is not
// positive definite. Its authors' programs use differences, and so does this package. They search a
// continuous box by DIRECT and L-BFGS; this package evaluates all points of the grid, since the
// paper's convergence theorem requires a finite Γ. Rewards must not be negative (squared jump
// distances are not), because a scale s < 0 would turn the search upside down. [ScaleRange] allows
// negative rewards.
package bayesopt
