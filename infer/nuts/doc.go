// Package nuts implements the no-U-turn sampler as Stan runs it today: multinomial weights, biased
// progressive sampling between the doublings, uniform sampling within them, and the generalised
// U-turn criterion with its checks across subtrees.
//
//	tree.go    the tree of doublings; independent of Hamiltonians and random numbers
//	kernel.go  Kernel, which grows such trees in phase space; its pool of points
//	refine.go  steps that are divided where the energy varies too much
//	nuts.go    Sampler, the options
//	slice.go   Kernel2011, Sampler2011: the sampler as first published, on the same trees
//
// Sources: Hoffman and Gelman, "The No-U-Turn Sampler" (2014); Betancourt, "A Conceptual
// Introduction to Hamiltonian Monte Carlo" (2017), appendix A; Stan since 2.21 for the checks
// across subtrees. As in DynamicHMC.jl, the tree algorithm is separate and receives its random
// decisions as values.
package nuts
