// Package ppl runs models written in Stan's language from Go: compile a model, bind it to data,
// sample its posterior, summarise the draws. Everything is Go; no C++ compiler and no other program
// is needed.
//
//	model, err := ppl.CompileFile("eight_schools.model")
//	posterior, err := model.Bind(map[string]any{"J": 8, "y": y, "sigma": sigma})
//	fit, err := ppl.Sample(ctx, posterior, ppl.Options{Seed: 1})
//	for _, row := range fit.Summary() {
//		fmt.Println(row.Name, row.Mean, row.SD, row.Rhat)
//	}
//	for _, finding := range fit.Findings() {
//		fmt.Println(finding.Summary, finding.Advice)
//	}
//
// The examples below show structs as data, embedded models, streams of draws, fits in a blob, warm
// starts, limits of a service, interruption, your densities and metrics, and quantities that are
// computed later. The page doc/how-to/go-library.md says what versions promise.
//
// # Map
//
// This package is a façade: its types are aliases and its functions call others.
//
//   - A model: [Compile], [CompileFile], with a context and [CompileOptions]: [CompileContext],
//     [CompileFileContext]; from an embed.FS: [CompileFS]. They return a [Model].
//   - Data: [Model.Bind] takes a map or a struct of Go values, [JSON], a [DataFile], or what
//     [ReadData] returns. With [BindOptions] it is [Model.BindContext]. It returns a [Posterior]:
//     log density, gradient, constrained values.
//   - A run: [Sample] takes a Posterior and [Options], which select a [Sampler].
//     It returns a [Fit]. Each [Row] of its summary describes a quantity, each [Finding] a problem
//     of the run. A [Quantity] has the draws of one number, a [Variable] those of a whole variable.
//   - A run in steps: [NewRun] makes a [Run]. Range over each [Draw] or over its [Progress];
//     it ends in a Fit.
//   - Later: [ReadFit] and [ReadCSV] read a run back, [ReadFS] from an embed.FS, and [ReadArchive]
//     from the one file that [Fit.WriteTo] writes.
//   - A service: [NewLimits] makes [Limits] for all its runs. A run that needs more than they allow
//     returns a [LimitError].
//   - Errors: [Diagnostics] has positions in the source. [InterruptedError], [OutputError],
//     [DrawsError], [DamagedError] and [PanicError] are for errors.As. Store [Version] with your
//     results.
//
// The packages behind it, from the lowest level up:
//
//	lang, stdlib, ad, compile   from a program's text to a compiled log density
//	infer                       samplers, for any log density written in Go; draws, diagnostics
//	model                       models and posteriors, models derived from them
//	fit                         runs: sampling, files, folders, reading them back
//	assess                      judging fits: cross-validation, predictive checks, priors
//	study                       many fits
//
// Compiling, binding and evaluating are separate because each is repeated more often than the one
// before. A model is compiled once, in milliseconds. It is bound once for each data set, because
// sizes and values of the data shape the code that will run. The posterior is evaluated millions of
// times, without allocating.
//
// # Errors
//
// Wrong arguments are errors too: a nil model, posterior, fit or context, a point of the wrong
// length, data that contain themselves. Methods of nil or zero values of other types, such as a log
// likelihood, panic.
//
// A mistake in a model or its data is reported with file, line and column. Error returns the first
// line of the first message; [Diagnostics] returns all of them.
package ppl
