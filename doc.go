// Package ppl runs models written in Stan's language from Go: compile a model,
// bind it to data, evaluate its log density and gradient, draw from its
// posterior. Everything is Go; no C++ compiler and no other program is needed.
//
// # Map
//
// What is exported, by file, and what for:
//
//	ppl.go     [Compile], [CompileFile]: source text to a [Model]; with [CompileOptions] and
//	           a context, [CompileContext], [CompileFileContext]
//	           [Model.Bind]: a Model and data ([JSON], [DataFile], values of Go, or what
//	           [ReadData] makes of them) to a [Posterior], with [BindOptions]
//	           [Posterior]: log density, gradient, constrained values; [Posterior.Trusted], one whose
//	           log density was compared with the reference evaluator
//	           [Version]: which ppl this is, for those who keep results
//	sample.go  [Sample]: a Posterior and [Options] to a [Fit]
//	record.go  what becomes of draws while they are made: files, journals to resume from
//	gather.go  [Gather], [Gathered]: a run whose chains are drawn by processes of their own
//	fit.go     [Fit]: draws, summary, what to make of it
//	variables.go [Variable]: draws of a whole variable, with its shape
//	findings.go what is wrong with a run beyond its draws; [RunFindings]
//	eventfindings.go what the events of its chains mean
//	labels.go  what indices stand for, by the levels of factors
//	csv.go     draws as CmdStan's CSV files
//	layout.go  columns as arrays
//	zarr.go    draws as a Zarr store: [Format], which Options asks for; zarrdraws.go: a group
//	           of draws; zarrgroups.go: what follows from them, [ZarrGroups], each a
//	           [ZarrGroup], with [ZarrGroupOptions]
//	save.go    [Fit.Save]: a folder that every later step can read
//	readfit.go [ReadFit], [ReadCSV]: a run read back; readzarr.go: [ReadZarr]; with
//	           [ReadOptions], that bound what they may take
//	derive.go  [Model.Derive]: a [Derived] model, of the log likelihood of observations or of
//	           replicated data, from the model's text
//	prior.go   [Model.SamplePrior]: draws from the [Prior]
//	generate.go [Posterior.GenerateFrom]: what is [Generated] at old draws, with [GenerateOptions]
//	loglik.go  [Fit.LogLik], with [LogLikOptions]: log likelihoods of observations, a [LogLik];
//	           leave-one-out cross-validation
//	moments.go [LogLik.MatchMoments]: the same for influential observations
//	holdout.go [Model.Holdout]: a [Holdout] is data without some observations; [HeldOut], what
//	           fits to them say of these
//	predictive.go [Fit.Predictive]: the data beside replications, [Predictive], each a
//	           [PredictiveVariable]; [Fit.Sensitivity]: prior and likelihood, [Sensitivity], with
//	           [SensitivityOptions]
//	bugreport.go a [BugReport] of a log density that is wrong, for others to repeat
//	criticism.go what is wrong with predictions and with what was estimated of them
//	simulator.go [Model.Simulator]: a [Simulator] of data sets, with [SimulatorOptions];
//	           datasets.go: these as files
//	approximate.go draws of approximations, and what to make of them
//	errors.go  [Diagnostics]: errors with the places that they are about; [InterruptedError],
//	           which leaves draws, [OutputError], where files could not be written, [DrawsError], where draws do not fit into memory, [NoDataError], where the data lack a variable, [DamagedError], where some draws can be saved
//
// Each type is what one of these functions takes or gives. What only the command, the
// authors of samplers or other programs of this module need lives elsewhere: the record of
// a run in package folder, what a chain has adapted in infer, heads of CmdStan's files
// in infer/draws, names as people read them in infer/diagnose, judgements of approximations
// in criticise, explanations of the compiled program in compile.
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
// What a Go program does wrong is an error: no model, posterior or fit where one is wanted, nil,
// or made without [Compile], [Model.Bind] and [Sample]; no context; points and data of wrong sizes; cyclic data.
// Methods of what else functions return, such as a [LogLik], are for what they have returned
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
// becomes of draws, folder what a folder keeps beside them, criticise the comparison of
// models, folds the folds by which samplers can be tuned, lang the language itself. The command line program is
// cmd/ppl.
//
// These packages are for those who know what they hand over: a nil pointer, function or
// interface where one is needed panics there, unless it is said that it need not be given.
package ppl
