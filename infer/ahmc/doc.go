// Package ahmc is adaptive Hamiltonian Monte Carlo: static trajectories whose
// step size and number of steps are tuned by Bayesian optimisation, during
// warm-up and, with vanishing probability, for ever after. It is Algorithm 2 of
// Wang, Mohamed and de Freitas, "Adaptive Hamiltonian and Riemann Manifold
// Monte Carlo Samplers" (2013).
//
//	sampler.go  Sampler: options and plan; Box; the paper's constants
//	kernel.go   Kernel: Algorithm 2, line by line, around package hmc's Algorithm 1
//	box.go      how a Box is found
//	save.go     a kernel's state for resumed runs; its tables
//	reward.go   Reward, Objective: what a batch is worth; Cost, what it costs
//	jump.go, autocorrelation.go, predictive.go
//	            the rewards: ESJD, mean update distance; cumulative
//	            autocorrelation; predictive loss by cross-validation
//
// Package bayesopt holds the regression and the acquisition function.
//
// # Use
//
//	infer.Config{Sampler: ahmc.Sampler{}}                           // box found, unit metric
//	infer.Config{Sampler: ahmc.Sampler{Metric: infer.Diagonal}}     // metric learnt first
//	infer.Config{Sampler: ahmc.Sampler{Box: ahmc.Box{               // as in the paper
//		MinStepSize: 0.01, MaxStepSize: 0.2, MinSteps: 1, MaxSteps: 100}}}
//
// With a complete Box and the unit metric, all of warm-up is Algorithm 2 from
// the first transition. B transitions of warm-up make k = 100 batches of
// m = ⌊B/100⌋, at least 1; when B is no multiple, k is the number of batches
// that fit, so that annealing begins with sampling, as in the authors' program.
//
// # What is adapted, and what that does to the draws
//
// The kernel chosen depends on earlier draws, so the chain is not Markov. It
// converges all the same (the paper's Proposition 1), because the probability
// of a change after batch i is p_i = max(i-k+1, 1)^(-1/2) → 0 and the box is a
// finite grid; the proposition also wants a compact space, which
// Sampler.Radius gives to those who insist. Sampler.Freeze stops adapting with
// the end of warm-up, at the setting with the best posterior mean.
//
// # Rewards
//
// What is maximised is a [Reward] divided by a [Cost]; the paper's is
// [SquaredJump] over √L, the default. [Predictive], its reward for models that
// are to predict, needs the posterior without each fold of the data and the
// likelihood of what is held out, as [Fold] values: those of a model and the
// names of data, or of a Go program. [Autocorrelation] and
// [Distance] are the others that the paper names.
//
// # Finding a box
//
// Who does not know the scales of a target leaves sides of the Box zero. They
// are found after a part of warm-up (a fifth; a tenth if a metric has been
// learnt before), in which trajectories of at most 5 steps approach the
// typical set:
//
//	step size  Dual averaging finds the step size at which those short
//	           trajectories have mean acceptance 0.65, the optimum of long ones
//	           in high dimension. The upper side is 1.5 times that, because in
//	           few dimensions larger ones pay; the lower side a twentieth of it.
//	steps      With that step size, the number of steps that the target has use
//	           for, by two measures: steps until a U-turn, the largest of ten
//	           trials; and π standard deviations of the widest coordinate so
//	           far (half a period of a normal). The upper side is twice the
//	           larger, at least 10 and at most 512, so an unbounded target
//	           cannot make the tuning unbounded. The lower side is 1.
//
// The first measure sees the widest direction when it dominates the sum of
// squares, the second when it is close to a coordinate axis. Both are in units
// of the metric. The search takes no other evaluations than these transitions
// and trials, at most 5120 of the latter.
//
// # How well it does
//
// On a bivariate normal of correlation 0.99, in boxes found so, the settings
// after warm-ups of 1000, 2000 and 5000 transitions have 84, 92 and 102 % of
// the effective sample size per gradient of the best of the paper's three
// (means of 12 chains; the optimum of the box has 112 %): a batch of 8
// transitions is a noisy reward.
//
// On the paper's logistic regressions (Ripley, Pima, Heart, Australian, German;
// its box, 1000 + 5000 transitions, 10 chains) the least effective sample size
// per leapfrog after warm-up is .041, .165, .161, .032, .092, where a
// reimplementation of the authors' program had .042, .165, .161, .029, .080
// (standard errors 5 to 10 %). In boxes found so it is .049, .187, .173, .037,
// .072, with 17 to 37 % of the gradients in warm-up (4 chains).
//
// # Departures from the printed algorithm
//
// Where the paper's text, its formulas and the authors' released program differ, or
// what is printed cannot be meant, this package has:
//
//   - As the released program: step sizes are on a logarithmic scale; the reward weighs
//     the squared distance of each proposal with its acceptance probability instead
//     of waiting for the coin to fall (options undo both); the
//     cost is the root of L, the largest number of steps, not of the one drawn (the text
//     says L; see [Cost]); γ_1 is the cheapest corner; k is ⌊B/m⌋, so that annealing
//     begins with sampling also where B is no multiple of 100; the function's
//     variance is 25 and its noise's 0.1, which the paper leaves open; and the covariance
//     is one of differences (see package bayesopt).
//   - L = 0, which the paper's box for logistic regressions has, would be a reward of 0/0:
//     L begins at 1. A reward that is no number counts as 0 (or as the least so
//     far, where rewards may be negative), so that it cannot poison the regression.
//   - The squared distance is in units of the metric, which for the unit metric, and for
//     a Riemannian one, is the paper's. In a box with many numbers of steps those tried are
//     StepsPoints of them; the length scale of the regression is a fifth of the
//     axis, so that the surface between them is known.
//   - In β_{i+1} i is the number of rewards that are numbers, which differs from the number
//     of batches only as long as a signed reward has none.
//   - s is α over the largest reward from the first one on, where the printed supremum
//     of no rewards leaves it open (bayesopt.ScaleReleased is what the program does). While
//     no reward is positive it is 1.
//   - Signs: the listing's momentum moves as for a potential +log π; see package hmc.
//   - Sampler.Radius is applied to all transitions, those that look for a box too. Without
//     it nothing is rejected, as in the authors' programs.
package ahmc
