// Package auto is a sampler that needs no tuning: it finds a starting point, learns a metric from
// the draws and scores of all chains, and chooses the kernel and its settings by trying them.
//
//	auto.go        Sampler: the options; the plan of a chain
//	thresholds.go  the thresholds of its decisions, in one table
//	course.go      warm-up of a chain: start, metric, rounds, kernel, end
//
// The start finds the point where a chain begins, and learns from its climb there:
//
//	start.go        the climb to the typical set, and whether it went too far
//	modes.go        the search for modes, and the mode in which each chain begins
//	firstmetric.go  the metric that the climbs of all chains give together
//
// Each round turns the records of all chains into a verdict:
//
//	rounds.go    the transitions of a round, and how a chain carries out a verdict
//	pool.go      the verdict, from the draws of all chains together
//	mixing.go    R-hat, slow coordinates and tails of the draws
//	health.go    chains that are useless for learning, and how they are treated
//	plateau.go   chains where group-level terms nearly vanish and the density is flat
//	recentre.go  coordinates of the group-level terms of hierarchical models
//
// Metric:
//
//	metric.go  the metric learnt from the draws
//	work.go    what metrics and coordinates cost in a step
//
// Kernel:
//
//	kernel.go  Kernel: NUTS, or HMC with the leapfrog step or the exact-normal splitting
//	race.go    the race between kernels, by GP-UCB
//	reward.go  the reward of a batch of the race
//	masses.go  the modes that chains are in, and the masses of these modes
//	temper.go  parallel tempering, if chains do not move between modes
//
// End:
//
//	spare.go  the number of transitions per draw
//
// A chain is never moved to the position of another one. Chains share only what is learnt, so that
// R-hat compares independent arrivals.
//
// # What happens
//
// Start: L-BFGS climbs to the typical set from a random point (Stan's rule; group-level terms near
// their means). On the way it fits a normal distribution, and the chain begins at a draw from that
// (package optimize, FindTypical). The steps of the climb give the first metric. In up to 100
// dimensions this metric is computed from second derivatives by differences, and the climb
// continues with them if L-BFGS stopped short. A climb into the neck of a funnel loses mass, which
// is density times volume. The chain then begins at the point of its path with the largest mass.
//
// Rounds: NUTS makes rounds of 15, 20, 30, 45, … transitions. After each round the chains pool the
// later half of their draws. A diagonal metric, some of low rank and, if there are enough draws,
// dense ones are learnt from some chains. They are judged by the Fisher divergence on the draws of
// the other chains (package whiten), and the best one is used next. Warm-up ends early once the
// step size, the divergence and the means of the chains have settled.
//
// Race: if the target is close to normal in the coordinates of the metric, trajectories of one to a
// few steps may beat NUTS, which cannot choose them. Bayesian optimisation (package bayesopt) tunes
// their step size and number of steps, in batches that all chains make together. A static kernel
// replaces NUTS only if it is at least 1.15 times as good.
//
// If one transition gives few effective draws, a draw is made of several transitions, at most
// eight.
//
// ChainReport.Notes says what was chosen, and why. After warm-up nothing is adapted.
//
// doc/evidence/auto.md describes the experiments behind these choices.
package auto
