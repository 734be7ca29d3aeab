// Package study runs many fits: simulation studies, calibration, cross-validation, one model per
// group of rows, and grids of options. It uses all processors of this machine or, through engines,
// many machines.
//
// Unstable: versions do not promise to keep this package, see doc/how-to/go-library.md.
//
// The unit of work is a [Spec]: a model, data, options and a seed, each identified by its content.
// Its digest, the key, identifies the [Result], which depends on nothing else: not on the position
// of the fit in its study, the number of workers, or their other work. A study stopped at any
// moment continues with the fits that have no results. A fit that is made twice, because a worker
// seemed dead, has one result.
//
// # Map
//
//	unit.go     Spec, Unit: the description of a fit, and its key
//	options.go  the options of a fit, from the table of package sampler
//	result.go   Result: the outcome of a fit, and its encoding
//	frame.go    records in streams and files, with checksums
//	worker.go   Worker: runs units; compiles each model once
//	plan.go     Plan: units from models, sources of data and a grid of options
//	source.go   sources of data: files, simulated data, folds
//	reading.go  reading of sources, which stops with the study's context
//	table.go    the rows of a table, in groups
//	read.go     plans in YAML or JSON; node.go: the positions of mistakes
//	study.go    Run: a plan on an engine, its results in order
//	engine.go   Engine: where units run; Local: in this process
//	journal.go  results in files during the run; folder.go: the folder of a study
//	output.go   results as a table; zarr.go: kept draws
//	pack.go     units in a folder, shared by the tasks of an array; task.go runs them
//	slurm.go    Slurm: an array of jobs; manifest.go: Kubernetes, AWS Batch, GCP Batch
//	program.go  Program: an engine that is a separate program, such as ppl-nats
//	report.go   Report: the distribution of R-hat, effective sample sizes, ranks, coverage
package study
