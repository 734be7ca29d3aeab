// Package auto is a sampler that needs no tuning: it finds a starting point, learns a
// metric from the draws of all chains with their scores, and chooses between kernels
// and their settings by trying them.
//
//	auto.go        Sampler: the options; the plan of a chain
//	thresholds.go  the numbers that it decides by, in one table
//	course.go      warm-up of a chain: start, metric, rounds, kernel, end
//
// Start, of which the output is where a chain begins and what its climb has learnt:
//
//	start.go       the climb to the typical set, and where it has gone too far
//	modes.go       the search for modes, and in which of them chains begin
//	firstmetric.go the metric that the climbs of all chains make together
//
// Rounds, of which each turns records of all chains into a verdict:
//
//	rounds.go      the transitions of a round, and what a chain does after a verdict
//	pool.go        the verdict: what the chains make of their draws together
//	mixing.go      R-hat, slow coordinates and tails of what the chains have drawn
//	health.go      which chains are useless for learning, and what becomes of them
//	recentre.go    coordinates of the effects of hierarchical models
//
// Metric:
//
//	metric.go      the metric that the draws tell of
//
// Kernel:
//
//	kernel.go      Kernel: NUTS, or HMC with the leapfrog step or the exact-normal splitting
//	race.go        the race between kernels, by GP-UCB
//	reward.go      what a batch of the race is worth
//	masses.go      which chains are in different modes, and the masses of these
//	temper.go      parallel tempering, where chains do not get from one mode to another
//
// End:
//
//	spare.go       how many transitions make a draw
//
// A chain is never moved to where another one is: chains share what is learnt, so that R-hat
// compares independent arrivals.
//
// # What happens
//
// Start: from a random point (Stan's rule; effects near their means) L-BFGS climbs to
// the typical set, where a draw is made from the normal distribution that it has found
// on the way (package optimize, FindTypical). Its steps give the first metric; in up to
// 100 dimensions that is learnt from second derivatives by differences, with which the
// climb goes on if L-BFGS has stopped short. A climb into the neck of a funnel loses mass, density
// times volume: the chain begins at the place on the way that has most.
//
// Rounds: NUTS, of 15, 20, 30, 45, … transitions. After each the chains pool the later
// half of their draws. A diagonal metric, some of low rank and, where there are
// enough draws, dense ones are learnt from some chains and judged by the Fisher
// divergence of the draws of the others (package whiten); the best is used from then
// on. Warm-up ends early when the step size, the divergence and the means of the
// chains have settled.
//
// Race: where the target is close to normal in the coordinates that the metric makes,
// trajectories of one to a few steps may beat NUTS, which cannot choose them. Their
// step size and number of steps are tuned by the Bayesian optimisation of package
// bayesopt, in batches that all chains make together. A static kernel has to be
// 1.15 times as good as NUTS.
//
// Where one transition is worth little a draw is made of several, up to eight where it is worth
// next to nothing.
//
// What was chosen, and why, is given by ChainReport.Notes. After warm-up nothing is
// adapted.
//
// doc/evidence/auto.md has the experiments that this rests on.
package auto
