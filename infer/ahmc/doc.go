// Package ahmc is adaptive Hamiltonian Monte Carlo: Bayesian optimisation tunes the step size and
// the number of steps of static trajectories. It does so during warm-up and, with a probability
// that decreases to zero, for ever after. This is Algorithm 2 of Wang, Mohamed and de Freitas,
// "Adaptive Hamiltonian and Riemann Manifold Monte Carlo Samplers" (2013).
//
//	sampler.go  Sampler: options and plan; Box; the paper's constants
//	kernel.go   Kernel: Algorithm 2, line by line, around package hmc's Algorithm 1
//	box.go      how a Box is found
//	save.go     a kernel's state for resumed runs; its tables
//	reward.go   Reward, Objective: the value of a batch; Cost: its cost
//	jump.go, autocorrelation.go, predictive.go
//	            the rewards: ESJD, mean update distance; cumulative
//	            autocorrelation; predictive loss by cross-validation
//
// Package bayesopt contains the regression and the acquisition function.
//
// # Use
//
//	infer.Config{Sampler: ahmc.Sampler{}}                           // box found, unit metric
//	infer.Config{Sampler: ahmc.Sampler{Metric: infer.Diagonal}}     // metric learnt first
//	infer.Config{Sampler: ahmc.Sampler{Box: ahmc.Box{               // as in the paper
//		MinStepSize: 0.01, MaxStepSize: 0.2, MinSteps: 1, MaxSteps: 100}}}
//
// With a complete Box and the unit metric, all of warm-up is Algorithm 2, from the first
// transition. Warm-up of B transitions consists of k = 100 batches of m = ⌊B/100⌋ transitions, at
// least 1. If B is not a multiple of m, k is the number of batches that fit, so that annealing
// begins with sampling, as in the authors' program.
//
// # Adaptation and the distribution of the draws
//
// The kernel depends on earlier draws, so the chain is not a Markov chain. It converges
// nevertheless (the paper's Proposition 1), because the probability of a change after batch i is
// p_i = max(i-k+1, 1)^(-1/2) → 0 and the box is a finite grid. The proposition also requires a
// compact space. Sampler.Radius restricts the chain to one. Sampler.Freeze stops adaptation at the
// end of warm-up, with the setting that has the best posterior mean.
//
// # Rewards
//
// Tuning maximises a [Reward] divided by a [Cost]. The paper's choice and the default is
// [SquaredJump] over √L. [Predictive] is the paper's reward for models that are used for
// prediction. It needs [Fold] values: for each fold of the data, the posterior without it and the
// likelihood of the fold. These come from a model and the names of data, or from a Go program.
// [Autocorrelation] and [Distance] are the other rewards that the paper names.
//
// # Finding a box
//
// If you do not know the scales of a target, leave bounds of the Box zero. They are found after a
// part of warm-up (a fifth; a tenth if a metric was learnt before). In this part, trajectories of
// at most 5 steps approach the typical set:
//
//	step size  Dual averaging finds the step size for which these short
//	           trajectories have a mean acceptance of 0.65, the optimum of long
//	           ones in high dimension. The upper bound is 1.5 times this step
//	           size, because larger ones are useful in few dimensions. The lower
//	           bound is a twentieth of the upper one.
//	steps      With that step size, the number of useful steps is estimated in
//	           two ways: the number of steps until a U-turn, the largest of ten
//	           trials; and π standard deviations of the widest coordinate so
//	           far (half a period of a normal). The upper bound is twice the
//	           larger estimate, at least 10 and at most 512, so that tuning ends
//	           even for an unbounded target. The lower bound is 1.
//
// The first estimate is good when the widest direction dominates the sum of squares, the second
// when it is close to a coordinate axis. Both are in units of the metric. The search needs only
// these transitions and trials, with at most 5120 evaluations in the trials.
//
// # Efficiency
//
// On a bivariate normal with correlation 0.99 and automatically found boxes, the settings after
// warm-ups of 1000, 2000 and 5000 transitions have 84, 92 and 102 % of the effective sample size
// per gradient of the best of the paper's three settings (means of 12 chains; the optimum of the
// box has 112 %). The reward of a batch of 8 transitions is noisy.
//
// On the paper's logistic regressions (Ripley, Pima, Heart, Australian, German; its box, 1000 +
// 5000 transitions, 10 chains) the smallest effective sample size per leapfrog step after warm-up
// is .041, .165, .161, .032, .092. A reimplementation of the authors' program had .042, .165, .161,
// .029, .080 (standard errors 5 to 10 %). With automatically found boxes it is .049, .187, .173,
// .037, .072, with 17 to 37 % of the gradients in warm-up (4 chains).
//
// # Departures from the printed algorithm
//
// Where the paper's text, its formulas and the authors' released program differ, or where the
// printed algorithm has an obvious error, this package does the following:
//
//   - As in the released program: step sizes are on a logarithmic scale; the reward weights the
//     squared distance of each proposal by its acceptance probability instead of using the realised
//     jump (options undo both); the cost is the square root of L, the largest number of steps, not
//     of the number drawn (the text says L; see [Cost]); γ_1 is the cheapest corner; k is ⌊B/m⌋, so
//     that annealing begins with sampling even if B is not a multiple of 100; the variance of the
//     function is 25 and that of the noise 0.1, which the paper does not specify; and the
//     covariance depends on differences (see package bayesopt).
//   - L = 0, which the paper's box for logistic regressions contains, would give a reward of 0/0,
//     so L begins at 1. A reward that is not finite counts as 0 (or as the smallest so far if
//     rewards may be negative), so that it does not spoil the regression.
//   - The squared distance is in units of the metric. For the unit metric and for a Riemannian one,
//     this is the paper's distance. In a box with many numbers of steps, at most StepsPoints of
//     them are tried. The length scale of the regression is a fifth of the axis, so that the values
//     between them are known.
//   - In β_{i+1}, i is the number of finite rewards. It differs from the number of batches only as
//     long as a signed reward has had no finite value.
//   - s is α divided by the largest reward, including the first one; the printed supremum over no
//     rewards is undefined (bayesopt.ScaleReleased is the program's way). While no reward is
//     positive, s is 1.
//   - Signs: the momentum in the listing moves as for a potential of +log π; see package hmc.
//   - Sampler.Radius applies to all transitions, including those that find a box. Without it
//     nothing is rejected, as in the authors' programs.
package ahmc
