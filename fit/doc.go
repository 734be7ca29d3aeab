// Package fit runs samplers on posteriors and stores the results. [Sample] makes a [Fit]: draws,
// summary, findings. A fit can be written while it is sampled, resumed, saved to a folder and read
// back.
//
//	f, err := fit.Sample(ctx, posterior, fit.Options{Seed: 1})
//	theta, err := f.Variable("theta")
//	intervals := theta.Quantiles(0.05, 0.95)
//
// To follow a run, range over it:
//
//	run, err := fit.NewRun(ctx, posterior, fit.Options{Seed: 1})
//	for draw, err := range run.Draws() { … } // or run.Progress()
//	f, err := run.Fit()
//
// # Map
//
// A run:
//
//	sample.go     Sample and its Options
//	run.go        Run: draws one by one, and access to a running run
//	selfcheck.go  every run compares its compiled log density with the reference evaluator
//	limits.go     Limits that runs share
//	log.go        messages to a logger
//	record.go     processing of draws while they are made: files, journals to resume from
//	gather.go     runs whose chains run in separate processes
//
// Results:
//
//	fit.go            Fit: draws, summary, efficiency
//	variables.go      the draws of a whole variable
//	labels.go         labels of indices, from the levels of factors in the data
//	findings.go       findings that need more than the draws
//	eventfindings.go  findings from the events of the chains
//	approximate.go    draws from an approximation of the posterior
//	errors.go         errors of a run
//	bugreport.go      a bug report about a wrong log density
//
// Files:
//
//	csv.go                   draws as CmdStan's CSV files
//	formats.go               the table of formats of draws
//	zarr.go                  draws as a Zarr store; package arrays has its layout
//	save.go                  a fit as a folder that every later step can read
//	archive.go               that folder as one file, or in any file system
//	readfit.go, readzarr.go  runs read back
//
// Quantities at old draws:
//
//	grown.go      Grown: parameters with more elements than a fit has
//	generate.go   Generate: generated quantities at the draws of a fit
//	generated.go  its results, as a fit and as files
//
// Package assess assesses fits: cross-validation, predictive checks, priors.
package fit
