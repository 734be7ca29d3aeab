// Package bayesopt maximises a noisy function over a finite grid by Gaussian
// process regression and upper confidence bounds: the Bayesian optimisation of
// Wang, Mohamed and de Freitas, "Adaptive Hamiltonian and Riemann Manifold
// Monte Carlo Samplers" (2013), section 3. Package ahmc tunes a sampler by it;
// nothing here knows of samplers.
//
// Unstable: versions do not promise to keep this package, see doc/how-to/go-library.md.
//
//	grid.go      Axis, Grid: the finite set Γ of points
//	process.go   the regression, exact and incremental
//	options.go   Options: the paper's constants and its readings
//	optimizer.go Optimizer: scale s, beta, acquisition, its maximum
//	tuner.go     Tuner: arms, batches and their rewards, which samplers share
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
// The function has prior GP(0, k) with k(γ, γ') = σ_f² exp(-½ Σ_j ((γ_j - γ'_j)/ℓ_j)²),
// σ_f² = 25 and ℓ_j = 0.2 × the range of axis j; an observation has noise
// variance σ_η² = 0.1. Both variances are meant for rewards scaled to a maximum
// near 4: s = 4/max r, so that nothing depends on the unit of the reward. The
// acquisition function is
//
//	u(γ) = s·kᵀ(K + σ_η²I)⁻¹r + p·√β·σ(γ),   β_{i+1} = 2 log((i+1)^{d/2+2} π²/(3δ)),   δ = 0.1
//
// after i observations in d dimensions.
//
// # Cost
//
// Observations at the same point are merged into their mean and count, with
// noise σ_η²/n: the posterior is the same (a test says so), but the cost grows
// with the number of distinct points u only, not with that of observations.
// Each call of Next that follows observations costs O(u² + u·G) operations per
// point that is new or was observed again, with G the size of the grid.
//
// # What is not offered
//
// The paper prints the kernel as exp(-½ γᵀΣ⁻¹γ'): a dot product, which is not
// positive definite. Its authors' programs use differences, and so does this
// package. Their search by DIRECT and L-BFGS over a continuous box is
// replaced by exhaustion of the grid, as the paper's convergence theorem
// demands a finite Γ. Rewards are taken to be non-negative, as squared jump
// distances are (a scale s < 0 would turn the search upside down), unless
// [ScaleRange] is chosen.
package bayesopt
