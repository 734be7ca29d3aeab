package main

import (
	"context"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/ppl-lang/ppl/fit"
	"github.com/ppl-lang/ppl/fit/folder"
	"github.com/ppl-lang/ppl/fit/selfcheck"
	"github.com/ppl-lang/ppl/infer"
	"github.com/ppl-lang/ppl/infer/diagnose"
	"github.com/ppl-lang/ppl/infer/draws"
	"github.com/ppl-lang/ppl/infer/sampler"
	"github.com/ppl-lang/ppl/internal/files"
	"github.com/ppl-lang/ppl/internal/sorting"
	"github.com/ppl-lang/ppl/model"
)

// This file has the code that the commands optimize, laplace, pathfinder and variational share.

// approximation has the options of these commands.
type approximation struct {
	input
	init      string
	out       string
	overwrite bool
	sigFigs   int
	json      bool

	model   string
	started time.Time
	stderr  io.Writer
	check   *selfcheck.Check
	shown   int // number of wrong points of the log density that have been reported
}

// flags declares the options that the four commands share.
func (a *approximation) flags(cmd *cobra.Command) {
	a.input.flags(cmd)
	f := declare(cmd)
	f.Uint64(&a.seed, "seed", 0)
	f.String(&a.init, "init", "2")
	f.String(&a.out, "out", "")
	f.Bool(&a.overwrite, "overwrite", false)
	f.Int(&a.sigFigs, "sig-figs", 0)
	f.Bool(&a.quiet, "quiet", false)
	f.Bool(&a.verbose, "verbose", false)
	f.Bool(&a.json, "json", false)
}

// begin fills in the options that the user did not give, and loads the model.
func (a *approximation) begin(cmd *cobra.Command, model string) (*loaded, error) {
	a.model, a.started, a.stderr = model, time.Now(), cmd.ErrOrStderr()
	if a.sigFigs < 0 || a.sigFigs > 18 {
		return nil, usagef("--sig-figs must be from 1 to 18, or 0 for exact numbers, but is %d", a.sigFigs)
	}
	if !cmd.Flags().Changed("seed") {
		a.seed = uint64(rand.Uint32())
	}
	a.print = func(s string) { printMessage(a.stderr, "%s", s) }
	l, err := a.load(cmd.Context(), model, a.stderr)
	if err != nil {
		return nil, err
	}
	if a.check, err = fit.Trust(cmd.Context(), l.posterior, a.seed); err != nil {
		return nil, err
	}
	l.posterior = l.posterior.With(a.check.Bound())
	a.showWrong()
	a.tell("%s: %s, %s, seed %d", folder.BaseName(model), cmd.Name(), count(l.posterior.Dim(), "unconstrained parameter", "unconstrained parameters"), a.seed)
	return l, nil
}

// compare compares the log density with the reference evaluator at points of the result. If the log
// density was wrong at one of them, the posterior has a corrected program afterwards, and compare
// returns true: the caller must repeat its work.
func (a *approximation) compare(ctx context.Context, l *loaded, points ...[]float64) (again bool, err error) {
	again, err = a.check.Draws(ctx, points...)
	if again {
		l.posterior = l.posterior.With(a.check.Bound())
		l.posterior.SetStop(asked(ctx))
		a.showWrong()
	}
	return again, err
}

// showWrong prints the points where the log density was wrong.
func (a *approximation) showWrong() {
	record := a.check.Record()
	for _, f := range selfcheck.Findings(&folder.Density{Wrong: record.Wrong[a.shown:], Share: 1}) {
		printMessage(a.stderr, "%s %s", f.Summary, f.Advice)
	}
	a.shown = len(record.Wrong)
}

// tell prints a message on stderr, unless --quiet is given.
func (a *approximation) tell(format string, args ...any) {
	if !a.quiet {
		printMessage(a.stderr, format, args...)
	}
}

// starts reads --init and returns n starting points.
func (a *approximation) starts(ctx context.Context, p *model.Posterior, n int) (infer.Init, error) {
	o := runOptions{input: a.input, init: a.init, chains: n}
	return o.inits(ctx, p, func(s string) { a.tell("%s", s) })
}

// start finds a starting point with a finite density.
func (a *approximation) start(ctx context.Context, p *model.Posterior) ([]float64, error) {
	init, err := a.starts(ctx, p, 1)
	if err != nil {
		return nil, err
	}
	p.SetStop(asked(ctx))
	m := infer.NewMeter(p.Compiled())
	fit.Near(ctx, p, m)
	x, _, err := infer.FindStart(init, 0, m, infer.Stream(a.seed, 1, "init", 0))
	return x, err
}

// result holds the draws of an approximation and everything computed from them.
type result struct {
	model  *model.Model // nil: unknown
	names  []string
	rows   [][]float64 // in the order of OutputNames; NaN where generated quantities failed
	failed int         // number of rows with NaN
	reason error       // reason of the first of them
}

// generate computes the parameters, transformed parameters and generated quantities at the points,
// unless ctx ends first.
func (a *approximation) generate(ctx context.Context, p *model.Posterior, points [][]float64) (*result, error) {
	r := &result{model: p.Model(), names: p.OutputNames()}
	p.SetStop(asked(ctx))
	for i, x := range points {
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		row := make([]float64, len(r.names))
		fill(row, math.NaN())
		if err := p.Generate(x, infer.Stream(a.seed, 1, "generate", uint64(i)), row); err != nil {
			if r.failed++; r.reason == nil {
				r.reason = err
			}
		}
		r.rows = append(r.rows, row)
	}
	return r, nil
}

// write writes a CSV file, and the files that go with it, to the folder of --out. In each row the
// statistics, whose columns are called names, come before the other columns.
func (a *approximation) write(l *loaded, method draws.Setting, names []string, statistics, rows [][]float64, before, after []string) (string, error) {
	if a.out == "" {
		return "", nil
	}
	if err := files.MakeFolder(a.out); err != nil {
		return "", fmt.Errorf("cannot make the output folder: %w; choose another one by --out", err)
	}
	release, err := lockFolder(a.out)
	if err != nil {
		return "", err
	}
	defer release()
	name := folder.BaseName(a.model)
	out, err := makeRoom(a.out, name, a.overwrite)
	if err != nil {
		return "", err
	}
	record := &folder.Record{
		Program: "ppl " + model.Version(), Model: absolute(a.model), ModelSHA256: files.Digest(a.source.Text), Name: name,
		Seed: a.seed, StanCompat: a.stanCompat, Legacy: a.compile.Legacy, Complete: true,
	}
	record.Data, record.DataSHA256 = a.dataRecord()
	if err := record.Keep(out, sourceOf(l.model), l.values); err != nil {
		return "", fmt.Errorf("cannot write to the output folder: %w; choose another one by --out", err)
	}
	path := filepath.Join(out, name+"_1.csv")
	columns := draws.Columns{Names: l.posterior.OutputNames()}
	for _, name := range names {
		columns.Statistics = append(columns.Statistics, sampler.Column{Name: name})
	}
	file, err := draws.Create(path, draws.Header{Columns: columns, SigFigs: a.sigFigs, Config: draws.Configuration{
		Model: l.model.Name(), DataFile: l.values.File(), Program: "ppl " + model.Version(),
		Method: method, Init: a.init, Seed: a.seed, SigFigs: a.sigFigs, Started: a.started,
	}.Settings(folder.FinalFile(path))})
	if err != nil {
		return "", err
	}
	defer file.Close()
	if err := file.Comment(before...); err != nil {
		return "", err
	}
	for i, row := range rows {
		if err := file.Row(statistics[i], row); err != nil {
			return "", err
		}
	}
	if err := file.FinishWith(after...); err != nil {
		return "", err
	}
	if err := record.Write(out); err != nil {
		return "", err
	}
	if out != a.out {
		if err := folder.Replace(a.out); err != nil {
			return "", cannotReplace(err)
		}
	}
	return folder.FinalFile(path), nil
}

// elapsed returns the comment about the time that ends a CSV file.
func elapsed(d time.Duration, what string) []string {
	return []string{"", fmt.Sprintf(" Elapsed Time: %.6g seconds (%s)", d.Seconds(), what), ""}
}

// method returns the part of a file's header that names the method and its options.
func method(name string, children ...draws.Setting) draws.Setting {
	return draws.Setting{Name: "method", Value: name, Children: []draws.Setting{{Name: name, Group: true, Children: children}}}
}

// choice returns a setting with a group of settings that belong to its value.
func choice(name, value, standard string, children ...draws.Setting) draws.Setting {
	return draws.Setting{Name: name, Value: value, Default: value == standard,
		Children: []draws.Setting{{Name: value, Group: true, Children: children}}}
}

// option returns a setting with its value and a mark that says whether the value is the default.
func option(name string, value, standard any) draws.Setting {
	text := func(v any) string {
		if f, ok := v.(float64); ok {
			return strconv.FormatFloat(f, 'g', 8, 64)
		}
		return fmt.Sprint(v)
	}
	return draws.Setting{Name: name, Value: text(value), Default: value == standard}
}

// estimateJSON is the summary of one quantity of an approximation; a stable format.
type estimateJSON struct {
	Name string `json:"name"` // name of the quantity, with . between indices
	Mean number `json:"mean"` // mean over the draws
	SD   number `json:"sd"`   // standard deviation
	Q5   number `json:"q5"`   // 5 % quantile
	Q50  number `json:"q50"`  // median
	Q95  number `json:"q95"`  // 95 % quantile
}

// approximationJSON is what laplace, pathfinder and variational print with --json; a
// stable format.
type approximationJSON struct {
	Method  string         `json:"method"`  // laplace, pathfinder or variational
	Draws   int            `json:"draws"`   // number of draws
	Summary []estimateJSON `json:"summary"` // one entry per quantity
	// Pareto k of the importance weights; above 0.7 the approximation is poor
	ParetoK     number             `json:"pareto_k"`
	Evaluations int64              `json:"evaluations"` // evaluations of the log density
	Findings    []diagnose.Finding `json:"findings"`    // problems and remarks
	Files       []string           `json:"files"`       // files written, with --out
	Details     any                `json:"details"`     // results that only this method has
}

// draws returns the draws with the names that tables show.
func (r *result) draws() diagnose.Draws {
	names := make([]string, len(r.names))
	for i, n := range r.names {
		names[i] = diagnose.DisplayName(n)
	}
	return diagnose.Slices(names, [][][]float64{r.rows})
}

// report prints the draws' summary and the findings, or JSON.
func (a *approximation) report(w io.Writer, r *result, j approximationJSON, lines []string) error {
	d := r.draws()
	rows := diagnose.Summarize(d)
	for _, f := range fit.IndependentFindings(r.model, r.names, d, rows) {
		if f.Code != "undefined" || r.failed == 0 { // failed draws have their own finding
			j.Findings = append(j.Findings, f)
		}
	}
	if r.failed > 0 {
		reason, _, _ := strings.Cut(r.reason.Error(), "\n")
		j.Findings = append(j.Findings, diagnose.Finding{Code: "generated-quantities", Severity: diagnose.Problem,
			Summary: fmt.Sprintf("Generated quantities failed in %d of %d draws, and are NaN there: %s", r.failed, len(r.rows), reason),
			Advice:  "Fix the statement that fails, or give its result a value there."})
	}
	if a.json {
		j.Draws, j.Summary = len(r.rows), []estimateJSON{}
		if j.Findings == nil {
			j.Findings = []diagnose.Finding{}
		}
		if j.Files == nil {
			j.Files = []string{}
		}
		for i, row := range rows {
			j.Summary = append(j.Summary, estimateJSON{r.names[i], number(row.Mean), number(row.SD), number(row.Q5), number(row.Q50), number(row.Q95)})
		}
		return writeJSON(w, j)
	}
	var b strings.Builder
	cells := [][]string{{"", "mean", "sd", "5%", "50%", "95%"}}
	for _, row := range rows {
		d := decimals(row)
		cells = append(cells, []string{row.Name, figure(row.Mean, d), figure(row.SD, d), figure(row.Q5, d), figure(row.Q50, d), figure(row.Q95, d)})
	}
	writeEstimates(&b, w, cells)
	writeBriefly(&b, j.Findings, inBrief{details: sameVerbose, verbose: a.verbose, width: lineWidth(w)})
	b.WriteString("\n")
	for _, line := range lines {
		writeParagraph(&b, "", line, lineWidth(w))
	}
	for _, file := range j.Files {
		b.WriteString("Draws: " + escaped(file) + "\n")
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// writeEstimates writes a table whose first row is its head. A terminal shows at most maxRows rows.
func writeEstimates(b *strings.Builder, w io.Writer, cells [][]string) {
	writeLabelled(b, w, cells, 1)
}

// writeLabelled is like writeEstimates, but aligns the first columns to the left; texts is the
// number of these columns.
func writeLabelled(b *strings.Builder, w io.Writer, cells [][]string, texts int) {
	_, _, terminal := terminalSize(w)
	hidden := 0
	if terminal && len(cells) > maxRows {
		hidden = len(cells) - maxRows
		cells = cells[:maxRows]
	}
	widths := make([]int, len(cells[0]))
	for _, row := range cells {
		for c, text := range row {
			widths[c] = max(widths[c], len([]rune(text)))
		}
	}
	if width, _, terminal := terminalSize(w); terminal { // the last column may hold long text
		total, last := 2*(len(widths)-1), len(widths)-1
		for _, n := range widths {
			total += n
		}
		widths[last] = max(min(8, widths[last]), widths[last]-max(0, total-width))
		for _, row := range cells {
			row[last] = cut(row[last], widths[last])
		}
	}
	for _, row := range cells {
		line := ""
		for c, text := range row {
			if c > 0 {
				line += "  "
			}
			if c < texts {
				line += fmt.Sprintf("%-*s", widths[c], text)
			} else {
				line += fmt.Sprintf("%*s", widths[c], text)
			}
		}
		b.WriteString(strings.TrimRight(line, " ") + "\n")
	}
	if hidden > 0 {
		b.WriteString(fitted(w, fmt.Sprintf("… and %d more: pipe the output (| less) to see all, or use --json or --out.", hidden)) + "\n")
	}
	b.WriteString("\n")
}

// lineWidth returns the maximum length of lines of text.
func lineWidth(w io.Writer) int {
	if width, _, ok := terminalSize(w); ok {
		return width
	}
	return 100
}

// closeness describes the Pareto k in words.
func closeness(k float64) string {
	if math.IsInf(k, -1) {
		return "The approximation is exact, to rounding."
	}
	return fmt.Sprintf("Pareto k %.2g.", k)
}

// showRejections prints the rejections by the model.
func (a *approximation) showRejections(all []infer.Rejection, evaluations int64) {
	if a.quiet || len(all) == 0 {
		return
	}
	total := 0
	for _, r := range all {
		total += r.Count
	}
	printMessage(a.stderr, "The model rejected %d of %d evaluations (harmless if few):", total, evaluations)
	sorting.Stable(all, func(x, y infer.Rejection) int { return y.Count - x.Count })
	for _, r := range all[:min(5, len(all))] {
		printMessage(a.stderr, "  %d × %s", r.Count, strings.ReplaceAll(r.Message, "\n", "\n      "))
	}
}
