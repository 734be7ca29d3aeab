// Package infertest tests targets and kernels.
//
//	zoo.go         targets of many shapes, most with exact draws (Exact)
//	regression.go  a logistic regression, and
//	schools.go     the eight schools: targets without
//	curvature.go   Hessians and metrics of some of them; CheckMetric
//	gradient.go    CheckGradient, CheckContract: for those who write a LogDensity
//	invariance.go  Invariance: does a kernel leave its target invariant?
//
// Package truth, below this one, has many more targets, with figures that are known, and judges
// whole runs by them.
//
// # Statistical tests
//
// [Invariance] starts independent replicates at exact draws of the target,
// makes a few transitions in each, and compares what comes out with the
// target's distribution functions by Kolmogorov's distance. If the kernel is
// right, the replicates are independent exact draws, so the inequality of
// Dvoretzky, Kiefer and Wolfowitz (with Massart's constant) bounds the
// probability of a false alarm without asymptotics: [SuiteAlpha] for all tests
// together, of which there may be [SuiteTests].
//
// A coarse step size (acceptance near one half) and a metric that is not the
// identity make such a test sensitive to wrong weights and wrong scaling of
// the momentum. What it cannot see are errors that leave the target invariant,
// such as a wrong force in a correct Metropolis step: for these there are the
// deterministic tests of reversibility and energy in packages hmc and nuts.
package infertest
