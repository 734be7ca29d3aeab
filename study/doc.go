// Package study runs many fits: simulation studies, calibration, cross-validation, one
// model per group of rows, grids of options; on all processors of this machine or, by
// engines, on many machines.
//
// The unit of work is a [Spec]: a model, data, options and a seed, each by its content. Its
// digest, the key, names the [Result], which depends on nothing else: not on the place of
// the fit in its study, the number of workers, or what else they do. A study that was
// stopped at any moment goes on with the fits whose results are not there yet, and a fit
// that is made twice, as a worker was taken for dead, has one result.
//
// # Map
//
//	unit.go    Spec, Unit: what is to be done, its key
//	options.go the options of a fit, from the table of package sampler
//	result.go  Result: what has become of a fit; as bytes
//	frame.go   records on streams and in files, with checksums
//	worker.go  Worker: does units; models are compiled once
//	plan.go    Plan: models, sources of data and a grid of options to units
//	source.go  sources of data: files, simulated data, folds
//	reading.go what the sources read, which ends with the study's context
//	table.go   the rows of a table in groups
//	read.go    plans as YAML or JSON; node.go: with the places of mistakes
//	study.go   Run: a plan on an engine, its results in order
//	engine.go  Engine: where units are done; Local: here
//	journal.go results in files while they come; folder.go: what a folder holds of a study
//	output.go  results as a table; zarr.go: kept draws
//	pack.go    units in a folder, shared among the tasks of an array; task.go: doing them
//	slurm.go   Slurm: an array of jobs; manifest.go: Kubernetes, AWS Batch, GCP Batch
//	program.go Program: an engine that is a separate program, such as ppl-nats
//	report.go  Report: the distribution of R-hat, effective sample sizes, ranks, coverage
package study
