// Package ppl runs models written in Stan's language from Go: compile a model,
// bind it to data, evaluate its log density and gradient, draw from its
// posterior. Everything is Go; no C++ compiler and no other program is needed.
//
// # Map
//
//	ppl.go     Compile, CompileFile: source text to a Model
//	           Model.Bind: a Model and data to a Posterior
//	           Posterior: log density, gradient, constrained values
//	sample.go  Sample: a Posterior and Options to a Fit
//	record.go  what becomes of draws while they are made: files, journals to resume from
//	adapted.go what a later run can start from
//	seal.go    the checksum in JSON files that are read back
//	fit.go     Fit: draws, summary, what to make of it
//	variables.go draws of a quantity or of a whole variable
//	findings.go what is wrong with a run beyond its draws; rejections.go: what was rejected
//	csv.go     draws as CmdStan's CSV files
//	gather.go  Gather: a run whose chains are drawn apart
//	layout.go  columns as arrays
//	zarr.go    draws as a Zarr store; zarrdraws.go: a group of draws; zarrgroups.go: what follows from them
//	readzarr.go ReadZarr: a store read back
//	folder.go  Record: what a folder keeps of a run beside its draws
//	readfit.go ReadFit, ReadCSV: a run read back
//	derive.go  Model.Derive: log likelihood of observations and replicated data, from the model's text
//	prior.go   Model.SamplePrior: draws from the prior
//	generate.go Posterior.GenerateFrom: generated quantities of old draws
//	loglik.go  Fit.LogLik: log likelihoods of observations, leave-one-out cross-validation
//	moments.go LogLik.MatchMoments: the same for influential observations
//	holdout.go Model.Holdout: data without some observations, and what fits to them say of these
//	predictive.go Fit.Predictive, Fit.Sensitivity: the data beside replications; prior and likelihood
//	criticism.go what is wrong with predictions and with what was estimated of them
//	simulator.go Model.Simulator: data sets as the model says that they come about; datasets.go: as files
//	approximate.go draws of approximations, and what to make of them
//	version.go Version, BuildOf, CPULevel: which build this is, on which processor
//	errors.go  Diagnostics: errors with the places that they are about
//
// The three steps are separate because each takes its own time and is used
// more often than the one before: a Model is compiled once, in milliseconds; it
// is bound once per data set, which is when the data's sizes and values shape
// the code that will run; and the Posterior is evaluated millions of times,
// without allocating.
//
//	model, err := ppl.CompileFile("eight_schools.model")
//	posterior, err := model.Bind(map[string]any{"J": 8, "y": y, "sigma": sigma})
//	fit, err := ppl.Sample(ctx, posterior, ppl.Options{Seed: 1})
//	for _, row := range fit.Summary() {
//		fmt.Println(row.Name, row.Mean, row.SD, row.Rhat)
//	}
//
// # Errors
//
// What a Go program does wrong is an error: no model or posterior where one is wanted, nil,
// or made without [Compile] and [Model.Bind]; points and data of wrong sizes; cyclic data.
// Methods of what else functions return, such as a [Fit], are for what they have returned
// without an error, or with one where they say so: those of a nil or zero value panic, as a
// map that is nil does when it is written to.
//
// What is wrong with a model or its data is told with file, line and column.
// The Error method gives the first line of the first message; [Diagnostics] takes
// the error apart, and given to diag.Render, the parts are
// shown with the lines of the source and what to do, as the command ppl does.
//
// # Further in
//
// This package is a thin cover. Package compile has the compiled model, with second
// derivatives and metrics ([Posterior.Compiled]), package infer the samplers
// (usable with any log density written in Go), infer/draws and infer/diagnose what
// becomes of draws, criticise the comparison of models, folds the folds by which
// samplers can be tuned, lang the language itself. The command line program is
// cmd/ppl.
package ppl
