// Package report shows a run: as one HTML file that needs nothing else, live while
// the chains draw, and (package plotfile) as PNG and SVG files.
//
//	r, err := report.New(ctx, fit, report.Options{})
//	err = r.WriteHTML(file)
//
// A [Report] is plain data: what is known of the run, the findings, the summary, and
// [Figure]s, which say in marks and numbers what is drawn. It is JSON in the page,
// what `ppl report` prints as JSON, and what files of plots are drawn from. What plots
// there are, each with what it shows and how to read it, is one table, [Kinds].
//
// # Map
//
//	report.go     Report, New: what is in a report, and how much of it
//	figure.go     Figure, Layer, Axis: a plot as data
//	kinds.go      Kinds: the table of plots
//	quantity.go   the plots of a quantity and of a pair: trace, ranks, density, …
//	variable.go   the intervals of a variable
//	run.go        the plots of the run: energy, the surface of a tuned sampler
//	predictive.go what needs the model again: replicated data, Pareto k
//	density.go    densities and histograms
//	number.go     numbers in JSON
//	study.go      Study: what many fits have come to
//	html.go       WriteHTML, the page that shows a run live
//	page/         the page: its frame, its style, and the script that draws
//	plotfile/     Figures as PNG and SVG
//
// # Size
//
// The page has the summary of all quantities, but draws and plots of only as many as
// [Options.Size] allows: those asked for, those that findings name, then the worst.
// Of many draws, every n-th is shown in traces and pairs; all else rests on all
// draws. The page says what it leaves out.
package report
