// Package hmc implements Hamiltonian Monte Carlo with a Euclidean (constant) metric.
//
//	euclidean.go  Euclidean: a metric of any kind and the leapfrog step
//	whitened.go   Whitened: the same in coordinates in which the metric is the identity;
//	              the exact-normal splitting
//	static.go     Kernel, the paper's Algorithm 1: trajectories of random length; Sampler
//
// Package nuts uses the same Hamiltonians.
package hmc
