// Package optimize finds modes of log densities, and approximates log densities by normal
// distributions in a fraction of the time of sampling.
//
//	maximize.go       Maximize: Options, Result, Reason; the loop and its criteria
//	quasi.go          L-BFGS and BFGS: updates of the inverse Hessian
//	linesearch.go     the step along a direction: strong Wolfe conditions
//	newton.go         Newton's method, by exact second derivatives
//	objective.go      the target as an objective to minimise; its Hessian
//	laplace.go        Laplace: the normal distribution with the mode's curvature
//	pathfinder.go     Pathfinder: the best of the normal distributions along L-BFGS
//	approach.go       FindTypical: starting points for chains
//	estimate.go       the normal distribution that an L-BFGS history implies
//	multipath.go      several paths, importance resampling, starting points for chains
//	variational.go    Variational: mean field and full rank, by stochastic ascent
//	approximation.go  Draws: common parts of the approximations
//
// Everything works on an infer.LogDensity, so points are unconstrained. If the target includes the
// log Jacobians of constraints, a mode is the mode of the unconstrained parameters; otherwise, of
// the constrained ones.
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
// gonum's optimize also has L-BFGS, BFGS and Newton, but lacks parts that users of Stan expect and
// that Pathfinder needs. These are a criterion on the search direction (tol_rel_grad), the history
// of the inverse Hessian, and a line search that continues after a rejected point, which is common
// for a log density that checks its arguments. gonum's linear algebra is used throughout.
