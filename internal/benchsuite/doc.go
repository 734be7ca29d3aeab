// Package benchsuite is the suite of workloads on which the engine's gradient
// is measured: models in Stan's language, seeded generators of their data, and
// gradients written by hand in Go.
//
//	suite.go     the table of workloads; binding; points to measure at
//	models/      the models
//	linear.go, latent.go, series.go, discrete.go, process.go
//	             by family of models: data, and gradients by hand
//	kernels.go   what those gradients share
//
// A gradient by hand computes what the model says (the same density, on the
// same unconstrained coordinates, without the terms that `~` drops) as somebody
// would write it in plain Go who cares for speed: one pass where one is enough,
// nothing allocated, no work repeated; but no assembly, no approximations of
// its own, and no statistics of the data taken beforehand.
//
// The benchmarks of this package time one workload at a time; the command
// internal/cmd/enginebench measures all ways side by side, Stan's too.
package benchsuite
