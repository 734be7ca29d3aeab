// Package benchsuite has the workloads for measuring the engine's gradient: models in Stan's
// language, seeded generators of their data, and hand-written gradients in Go.
//
//	suite.go  the table of workloads; binding; points to measure at
//	models/   the models
//	linear.go, latent.go, series.go, loops.go, discrete.go, process.go, everyday.go
//	             by family of models: data, and hand-written gradients
//	kernels.go  common parts of those gradients
//
// Some workloads have no hand-written gradient. It computes the same density as the model, on the
// same unconstrained coordinates, without the terms that `~` drops. It is plain Go written for
// speed: one pass if possible, no allocations, no repeated work. It has no assembly, no further
// approximations, and no statistics of the data computed in advance.
//
// The benchmarks of this package time one workload at a time. The command internal/cmd/enginebench
// compares all implementations, including Stan.
package benchsuite
