// Package fit runs samplers on posteriors and keeps what comes of it. [Sample] makes a [Fit]:
// draws, summary, findings. A fit can be written while it is sampled, resumed, saved to a folder
// and read back.
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
//	sample.go         Sample and its Options
//	run.go            Run: draws one by one, and a look at a run that goes on
//	selfcheck.go      every run compares its compiled log density with the reference evaluator
//	limits.go         Limits that runs share
//	log.go            what a logger gets
//	record.go         what happens to draws while they are made: files, journals to resume from
//	gather.go         runs whose chains are drawn by their own processes
//
// What came of it:
//
//	fit.go            Fit: draws, summary, efficiency
//	variables.go      the draws of a whole variable
//	labels.go         what indices stand for, from the levels of factors in the data
//	findings.go       findings that need more than draws
//	eventfindings.go  findings from the events of the chains
//	approximate.go    draws that come from an approximation
//	errors.go         errors of a run
//	bugreport.go      a report of a log density that is wrong
//
// Files:
//
//	csv.go            draws as CmdStan's CSV files
//	formats.go        the table of formats of draws
//	zarr.go           draws as a Zarr store; package arrays has its layout
//	save.go           a folder that every later step can read
//	archive.go        that folder as one file, and in any file system
//	readfit.go, readzarr.go  runs read back
//
// Quantities at old draws:
//
//	generate.go       Generate: generated quantities at the draws of a fit
//	generated.go      what it returns, as a fit and as files
//
// What fits mean (cross-validation, predictive checks, priors) is in package assess.
package fit
