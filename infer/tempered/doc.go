// Package tempered is parallel tempering for targets with several modes: a ladder of replicas
// between reference distributions, from which exact draws are made, and the target. It is the
// non-reversible scheme of Syed, Bouchard-Côté, Deligiannidis and Doucet, "Non-reversible parallel
// tempering: a scalable highly parallel MCMC scheme" (2022), with a second leg whose reference is
// fitted, as in Surjanovic, Syed, Bouchard-Côté and Campbell, "Parallel tempering with a
// variational reference" (2022).
//
//	sampler.go    Sampler: options and plan; Start: what a ladder begins with
//	kernel.go     Kernel: replicas, levels; a transition: explore all, swap neighbours
//	path.go       the density of a level, r^(1-β) π^β, and its Hamiltonian
//	reference.go  Mixture, Component: mixtures of normal distributions
//	start.go      the search for modes, before the first transition and between rounds
//	adapt.go      New; the rounds of warm-up: what is learnt, when
//	fit.go        how references and metrics are fitted to draws
//	schedule.go   communication barriers and the values of β
//	evidence.go   log Z with its standard error
//	combine.go    the estimate of several chains
//	report.go     what a kernel reports of itself
//	save.go       its state, for resumed runs
//
// # The ladder
//
// The levels of a chain are in a row:
//
//	fitted reference, β = 0 … 1, the target, 1 … β = 0, broad reference
//
// with densities r^(1-β) π^β, where r is the reference of the leg. Each level has a replica. A
// transition explores all of them (at the references by exact draws, elsewhere by NUTS, each level
// with its own metric and step size) and then proposes to swap neighbours: the even pairs and the
// odd ones in alternating transitions, so that replicas travel in one direction until a swap is
// rejected. The draw is the state at the target. Each point is evaluated once: a replica
// takes log π and its score along when it changes its level.
//
// The broad reference is fixed: a normal distribution around all modes that are known when the
// ladder is made, so wide that replicas lose their memory there. The fitted reference is a mixture
// of normal distributions, learnt from the draws of the target. It is near the target, so its leg
// is short and restarts are frequent. If it misses a mode, the draws are
// still right, because replicas come from the broad reference too: that is why there are two legs.
//
// # Warm-up
//
// First climbs from random points look for modes ([optimize.FindTypical]); a short run of NUTS at
// each gives a component of the first fitted reference. Then the density is evaluated at random
// points and around what is known; where it is more than that accounts for, climbs lead to what is
// missing. This search goes on for a fifth of the gradients that warm-up takes, as a narrow mode
// attracts few climbs. Then there are rounds of doubling length, see [Kernel.Stages]. After a round
//
//   - the rejection rates of the swaps give the communication barrier of each leg; a leg gets
//     twice as many intervals as its barrier, spaced so that all swaps are rejected
//     equally often;
//   - each level's metric is learnt from its draws, within modes;
//   - the fitted reference is fitted to the draws of the target; draws that no component
//     explains make a new one, and a search from the draws of all levels, as above, for modes.
//
// After warm-up nothing is adapted: the chain of all replicas is Markov, and the target is
// the exact invariant distribution of its state at the target.
//
// # What it reports
//
// Restarts are the arrivals at the target of replicas that have been at a reference since they
// were at the target last: each brings a draw that has lost its memory. With few of them the
// shares of modes are not to be relied on, whatever other diagnostics say.
//
// Log Z is the logarithm of the integral, over the unconstrained space, of the density that the
// target has: see evidence.go. Both legs give an estimate, which are the figures of the event
// [infer.EventLegs]. If they differ by more than their errors, one of the legs has missed a part of
// the target.
//
// Chains share nothing, so R-hat compares independent ladders.
package tempered
