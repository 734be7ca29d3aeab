// Package infertest tests targets and kernels.
//
// Unstable: versions do not promise to keep this package, see doc/how-to/go-library.md.
//
//	zoo.go         targets of many shapes, most with exact draws (Exact)
//	regression.go  a logistic regression, and
//	schools.go     the eight schools: targets without exact draws
//	curvature.go   Hessians and metrics of some of them; CheckMetric
//	gradient.go    CheckGradient, CheckContract: checks of a LogDensity
//	invariance.go  Invariance: does a kernel leave its target invariant?
//
// The subpackage truth has many more targets with known means and other figures, and judges whole
// runs by them.
//
// # Statistical tests
//
// [Invariance] starts independent replicates at exact draws of the target and makes a few
// transitions in each. It compares the results with the target's distribution functions by
// Kolmogorov's distance. If the kernel is right, the replicates are independent exact draws. The
// inequality of Dvoretzky, Kiefer and Wolfowitz (with Massart's constant) then bounds the
// probability of a false alarm without asymptotics: [SuiteAlpha] for all [SuiteTests] tests
// together.
//
// A coarse step size (acceptance near one half) and a metric that is not the identity make such a
// test sensitive to wrong weights and wrong scaling of the momentum. It cannot detect errors that
// leave the target invariant, such as a wrong force in a correct Metropolis step. The deterministic
// tests of reversibility and energy in packages hmc and nuts find these.
package infertest
