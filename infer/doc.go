// Package infer draws from a distribution of which a log density with its
// gradient is known. It knows nothing of any modelling language: write the two
// methods of [LogDensity] by hand, or let a compiled model provide them.
//
//	for draw, err := range infer.Run(ctx, target, infer.Config{Sampler: nuts.Sampler{}, Seed: 1}) {
//		…
//	}
//
// # Map
//
//	infer.go     the vocabulary: LogDensity, Point, Hamiltonian, Kernel, Stage, Sampler, Metric
//	adapted.go   Adapted: what another run can start from
//	config.go    what goes into a run and what comes out: Config, Draw, Progress, Report
//	limits.go    what numbers among the options may be
//	session.go   Run and Session: several chains, draws as they come
//	chain.go     one chain from its start to its report
//	snapshot.go  Snapshot: the state of a chain, to be resumed
//	chart.go     coordinates of effects: Recentrer, Chart, State.Recentre
//	exchange.go  chains that learn from each other: Pooled, State.Exchange
//	rounds.go    chains that wait for each other, for Config.Enough
//	state.go     State, which warm-up is folded over
//	panic.go     PanicError: a fault of a target or a sampler
//	meter.go     Meter: counts evaluations, keeps account of rejections
//	init.go      where chains start
//	stream.go    random streams keyed by seed, chain, purpose
//
//	hmc/         Euclidean geometry with the leapfrog step; static HMC
//	nuts/        the no-U-turn sampler, as in Stan and as first published
//	riemann/     position-dependent metrics and the generalised leapfrog step
//	internal/    exponential, sine and cosine, normal numbers in less time (quick)
//	whiten/      metrics learnt from draws and scores; coordinates in which they are the identity
//	warmup/      stages: step size search, dual averaging, windows of metric estimation
//	ahmc/        HMC tuned by Bayesian optimisation, in warm-up and for ever after
//	auto/        the sampler that chooses metric and kernel by itself
//	tempered/    parallel tempering from a fitted reference, for several modes; log Z
//	bayesopt/    Gaussian process regression and upper confidence bounds on a grid
//	optimize/    modes; Laplace's approximation, Pathfinder, variational inference
//	psis/        Pareto smoothed importance weights
//	sampler/     the table of samplers by name, with their options and CSV columns
//	draws/       draws in memory and in CmdStan's CSV files
//	diagnose/    R-hat, effective sample sizes, standard errors; what is wrong with a run
//	infertest/   targets with exact draws, tests for targets and for kernels
//
// The vocabulary is that of the literature. A metric defines a [Hamiltonian]
// (and its integration step); a trajectory of steps with a rule for choosing
// one of its points is a [Kernel]; warm-up is a list of [Stage] values; a
// [Sampler] is a struct of options that makes all of these for each chain.
//
// # Running
//
// [Run] is enough where only draws matter:
//
//	for d, err := range infer.Run(ctx, target, infer.Config{Sampler: nuts.Sampler{}}) {
//
// A [Session] gives the [Report] too: step sizes, metrics, counts of gradients
// and divergences, times, rejection messages, failures.
//
// # What can be relied on
//
// Draws are a function of target, options and seed: not of the number of
// processors, of Config.Parallel, of the consumer's speed, of whether warm-up
// is saved or of whether values are generated (only the order in which chains
// interleave varies), nor of whether the run was resumed from snapshots
// (Config.Resume). When the context is cancelled, each chain stops at the
// next evaluation of the target, and the draws made so far, which are a prefix
// of those of the whole run, are delivered. A chain that fails, even by a
// panic of its target, is reported and does not disturb the others.
package infer

// Rationale.
//
// Config.Sampler has no default, because package nuts builds on this package's
// types: a default would need either an import cycle or a registry, that is,
// mutable state of the package.
//
// Kernels move along caller-owned or kernel-owned points instead of returning
// fresh ones: a transition allocates nothing. Transition returns a pointer,
// instead of changing z, so that a decorator can compare the states before and
// after without a separate copy.
//
// The step size is an argument of Transition, because every stage of warm-up
// tunes it, whatever the kernel. What else a kernel may have to be tuned (the
// number of steps) is a field of that kernel, known to who tunes it.
//
// Sessions send blocks of draws over one channel. A send per draw costs some
// 200 ns with contention, more than a transition on a small target; a block is
// therefore sent when full, when 10 ms old, or when there is progress to
// report. The order between chains is that of arrival: a fixed one would need
// unbounded buffers whenever Parallel is less than Chains.
