// Package hmc holds Hamiltonian Monte Carlo with a Euclidean (constant) metric.
//
//	euclidean.go  Euclidean: unit, diagonal or dense metric and the leapfrog step
//	static.go     Kernel, the paper's Algorithm 1: trajectories of random length; Sampler
//
// Package nuts shares the Hamiltonian.
package hmc
