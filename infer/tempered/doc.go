// Package tempered implements parallel tempering for targets with several modes: a ladder of
// replicas between reference distributions, which can be sampled exactly, and the target. It is the
// non-reversible scheme of Syed, Bouchard-Côté, Deligiannidis and Doucet, "Non-reversible parallel
// tempering: a scalable highly parallel MCMC scheme" (2022). A second leg has a fitted reference,
// as in Surjanovic, Syed, Bouchard-Côté and Campbell, "Parallel tempering with a variational
// reference" (2022).
//
//	sampler.go    Sampler: options and plan; Start: the first ladder
//	kernel.go     Kernel: replicas, levels; a transition: explore all, swap neighbours
//	path.go       the density of a level, r^(1-β) π^β, and its Hamiltonian
//	reference.go  Mixture, Component: mixtures of normal distributions
//	start.go      the search for modes, before the first transition and between rounds
//	adapt.go      New; the rounds of warm-up: what is learnt, when
//	fit.go        how references and metrics are fitted to draws
//	schedule.go   communication barriers and the values of β
//	evidence.go   log Z with its standard error
//	combine.go    the estimate of several chains
//	report.go     figures and events that a kernel reports
//	save.go       its state, for resumed runs
//
// # The ladder
//
// The levels of a chain form a row:
//
//	fitted reference, β = 0 … 1, the target, 1 … β = 0, broad reference
//
// Their densities are r^(1-β) π^β, where r is the reference of the leg. Each level has a replica. A
// transition first explores all levels: the references by exact draws, the others by NUTS, each
// with its own metric and step size. It then proposes to swap neighbours, the even pairs and the
// odd ones in alternating transitions, so that a replica travels in one direction until a swap is
// rejected. The draw is the state at the target. Each point is evaluated once: a replica keeps log
// π and its score when it changes its level.
//
// The broad reference is fixed: a normal distribution around all modes that are known when the
// ladder is made, so wide that replicas lose their memory there. The fitted reference is a mixture
// of normal distributions, learnt from the draws of the target. It is near the target, so its leg
// is short and restarts are frequent. If it misses a mode, the draws are still right, because
// replicas come from the broad reference too: that is why there are two legs.
//
// # Warm-up
//
// First, climbs from random points look for modes ([optimize.FindTypical]). A short run of NUTS at
// each mode gives a component of the first fitted reference. Then the density is evaluated at
// random points and around the known modes. Where it is higher than the known modes explain, climbs
// look for the missing mode. This search may take a fifth of the gradients of warm-up, as a narrow
// mode attracts few climbs. Then there are rounds of doubling length, see [Kernel.Stages]. After a
// round
//
//   - the rejection rates of the swaps give the communication barrier of each leg; a leg gets twice
//     as many intervals as its barrier, spaced so that all swaps are rejected equally often;
//   - each level's metric is learnt from its draws, within modes;
//   - the fitted reference is fitted to the draws of the target. Draws that no component explains
//     make a new one, and so do modes found by another search, from the draws of all levels.
//
// After warm-up nothing is adapted: all replicas together are a Markov chain, and the target is the
// exact invariant distribution of the state at the target.
//
// # Reports
//
// A restart is the arrival at the target of a replica that has been at a reference since it was
// last at the target: it brings a draw that has lost its memory. If there are few restarts, do not
// rely on the shares of modes, whatever other diagnostics say.
//
// Log Z is the logarithm of the integral of the target's density over the unconstrained space, see
// evidence.go. Both legs give an estimate; they are the figures of the event [infer.EventLegs]. If
// they differ by more than their errors, one of the legs has missed a part of the target.
//
// Chains share nothing after warm-up, so R-hat compares independent ladders.
package tempered
