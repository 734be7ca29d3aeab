// Package report shows a run: as one self-contained HTML file, live while the chains draw, and
// (package plotfile) as PNG, SVG and PDF files.
//
// Unstable: versions do not promise to keep this package, see doc/how-to/go-library.md.
//
//	r, err := report.New(ctx, fit, report.Options{})
//	err = r.WriteHTML(file)
//
// A [Report] is plain data: facts about the run, the findings, the summary, and [Figure]s, which
// describe plots as marks and numbers. The page contains it as JSON, `ppl report` prints it as
// JSON, and files of plots are drawn from it. One table, [Kinds], lists all plots, what each shows,
// and how to read it.
//
// # Map
//
//	report.go      Report, New: the contents of a report, and limits on its size
//	answers.go     what was found, in sentences
//	fitted.go      Fitted: the model, the data and the command
//	figure.go      Figure, Layer, Axis: a plot as data
//	kinds.go       Kinds: the table of plots
//	quantity.go    the plots of a quantity and of a pair: trace, ranks, density, …
//	variable.go    the intervals of variables
//	curve.go       unknown functions against their variable
//	correlation.go correlations of group-level terms
//	prior.go       priors with posteriors
//	effects.go     expected outcomes at values of variables of the data
//	run.go         the plots of the run: energy, the surface of a tuned sampler
//	predictive.go  plots that run the model again: replicated data, Pareto k
//	datakinds.go   checks of kinds of data: groups, counts, censored times
//	individual.go  individual fits, goodness of fit, and shrinkage
//	vpc.go         visual predictive checks
//	density.go     densities and histograms
//	number.go      numbers in JSON
//	compared.go    Compared: the reports of several fits on one page
//	study.go       Study: the results of many fits
//	html.go        WriteHTML, the page that shows a run live
//	page/          the page: HTML, its style, and the script that draws
//	files.go, files_packed.go   the folder page; in released programs compressed
//	plotfile/      figures as PNG, SVG and PDF
//
// # Size
//
// The page has the summary of all quantities, but draws and plots of only as many as [Options.Size]
// allows: those requested, those that findings name, then the worst. If there are many draws,
// traces and pairs show every n-th; everything else uses all draws. The page says what it leaves
// out.
package report
