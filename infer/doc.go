// Package infer draws from a distribution, given its log density with the gradient. It is
// independent of any modelling language: write the two methods of [LogDensity] yourself, or use a
// compiled model, which has them.
//
//	for draw, err := range infer.Run(ctx, target, infer.Config{Sampler: nuts.Sampler{}, Seed: 1}) {
//		…
//	}
//
// # Map
//
//	infer.go     the vocabulary: LogDensity, Point, Hamiltonian, Kernel, Stage, Sampler, Metric
//	adapted.go   Adapted: the state from which another run can start
//	config.go    options and results of a run: Config, Draw, Progress, Report
//	limits.go    valid ranges of options that are numbers
//	session.go   Run and Session: several chains, draws as they come
//	chain.go     one chain from its start to its report
//	snapshot.go  Snapshot: the state of a chain, to be resumed
//	chart.go     coordinates of group-level terms: Recentrer, Chart, State.Recentre
//	exchange.go  chains that learn from each other: Pooled, State.Exchange
//	rounds.go    chains that wait for each other, for Config.Enough
//	state.go     State, which the stages of warm-up pass on
//	panic.go     PanicError: a panic of a target or a sampler
//	meter.go     Meter: counts evaluations and rejections
//	init.go      starting points of chains
//	stream.go    random streams keyed by seed, chain, purpose
//
//	hmc/        Euclidean geometry with the leapfrog step; static HMC
//	nuts/       the no-U-turn sampler, as in Stan and as first published
//	riemann/    position-dependent metrics and the generalised leapfrog step
//	internal/   faster exponentials, sines, cosines and normal numbers (quick); loops on vectors (vector)
//	whiten/     metrics learnt from draws and scores; coordinates in which they are the identity
//	warmup/     stages: step size search, dual averaging, windows of metric estimation
//	ahmc/       HMC tuned by Bayesian optimisation, in warm-up and afterwards
//	auto/       the sampler that chooses metric and kernel automatically
//	tempered/   parallel tempering from a fitted reference, for several modes; log Z
//	bayesopt/   Gaussian process regression and upper confidence bounds on a grid
//	optimize/   modes; Laplace's approximation, Pathfinder, variational inference
//	psis/       Pareto smoothed importance weights
//	sampler/    the table of samplers by name, with their options and CSV columns
//	draws/      draws in memory and in CmdStan's CSV files
//	diagnose/   R-hat, effective sample sizes, standard errors; problems of a run
//	infertest/  targets with exact draws, tests for targets and for kernels
//
// The vocabulary is that of the literature. A metric defines a [Hamiltonian] with its integration
// step. A trajectory of steps, with a rule for choosing one of its points, is a [Kernel]. Warm-up
// is a list of [Stage] values. A [Sampler] is a struct of options that makes all of these for each
// chain.
//
// # Running
//
// [Run] suffices if you only need draws:
//
//	for d, err := range infer.Run(ctx, target, infer.Config{Sampler: nuts.Sampler{}}) {
//
// A [Session] also gives the [Report]: step sizes, metrics, counts of gradients and divergences,
// times, rejection messages, failures.
//
// # Guarantees
//
// Draws are a function of target, options and seed. They do not depend on the number of processors,
// on Config.Parallel, on the consumer's speed, on whether warm-up is saved or values are generated,
// nor on whether the run was resumed from snapshots (Config.Resume). Only the order in which chains
// interleave varies.
//
// When the context is cancelled, each chain stops at the next evaluation of the target. The draws
// made so far, a prefix of those of the whole run, are delivered. A chain that fails, even by a
// panic of its target, is reported and does not disturb the others.
package infer

// Rationale.
//
// Config.Sampler has no default. Package nuts uses the types of this package, so a default would
// need either an import cycle or a registry, which is mutable state of the package.
//
// A transition allocates nothing: kernels write to points owned by the caller or the kernel instead
// of returning new ones. Transition returns a pointer instead of changing z, so that a caller can
// compare the states before and after it without a copy.
//
// The step size is an argument of Transition, because every stage of warm-up tunes it, whatever the
// kernel. Other options that may be tuned, such as the number of steps, are fields of a kernel,
// known to the stage that tunes them.
//
// Sessions send blocks of draws over one channel. Sending single draws costs some 200 ns each under
// contention, more than a transition on a small target. So a block is sent when it is full, when it
// is 10 ms old, or when there is progress to report. Blocks of different chains come in the order
// in which they are sent: a fixed order would need unbounded buffers whenever Parallel is less than
// Chains.
