// Package optimize finds modes of log densities, and normal approximations of them
// that take a small part of the time of sampling.
//
//	maximize.go    Maximize: Options, Result, Reason; the loop and its criteria
//	quasi.go       L-BFGS and BFGS: the inverse Hessian that is learnt on the way
//	linesearch.go  the step along a direction: strong Wolfe conditions
//	newton.go      Newton's method, by exact second derivatives
//	objective.go   the target as an objective to minimise; its Hessian
//	laplace.go     Laplace: the normal distribution with the mode's curvature
//	pathfinder.go  Pathfinder: the best of the normal distributions along L-BFGS
//	approach.go    FindTypical: where chains start
//	estimate.go    the normal distribution that an L-BFGS history implies
//	multipath.go   several paths, importance resampling, starting points for chains
//	variational.go Variational: mean field and full rank, by stochastic ascent
//	approximation.go  Draws: what the approximations have in common
//
// Everything works on an infer.LogDensity: points are unconstrained. Whether the log
// Jacobians of constraints are part of it, so whether a mode is that of the
// unconstrained or of the constrained parameters, is up to who makes the target.
//
// # Sources
//
// Algorithms, defaults and convergence criteria are those of Stan, so that results
// can be compared. Nocedal and Wright (2006), "Numerical Optimization", algorithms
// 3.5, 3.6, 6.1, 7.4. Zhang, Carpenter, Gelman and Vehtari (2022), "Pathfinder:
// Parallel quasi-Newton variational inference", Journal of Machine Learning Research
// 23(306). Kucukelbir, Tran, Ranganath, Gelman and Blei (2017), "Automatic
// differentiation variational inference", Journal of Machine Learning Research 18(14).
package optimize

// Rationale.
//
// gonum's optimize has L-BFGS, BFGS and Newton too. What it does not have is what
// users of Stan look at and what Pathfinder needs: criteria on the search direction
// (tol_rel_grad), a line search that goes on after a rejected point, which is an
// everyday event for a log density with checks of its arguments, and the history of
// the inverse Hessian. Its linear algebra is used throughout.
