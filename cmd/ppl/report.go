package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/ppl-lang/ppl/fit"
	"github.com/ppl-lang/ppl/fit/folder"
	"github.com/ppl-lang/ppl/front/report"
	"github.com/ppl-lang/ppl/front/report/plotfile"
	"github.com/ppl-lang/ppl/internal/files"
	"github.com/ppl-lang/ppl/model"
	"github.com/ppl-lang/ppl/study"
)

// reporting is a run of the command report.
type reporting struct {
	fitInput
	rows    rowOptions // only --vars is used
	out     string
	plots   string
	figures []string
	title   string
	size    byteSize
	quick   bool
	json    bool
	embed   bool
}

func reportCommand() *cobra.Command {
	var o reporting
	cmd := &cobra.Command{
		Use: "report DIR… | FILE.csv…",
		Long: `Writes one HTML file that shows a run: findings and what to do, the summary, traces, ranks,
densities, pairs with divergences, intervals, energy, the tuner's settings and, if the model
is known, its predictions next to the data. The file needs no network and no other file.
doc/how-to/report.md says how to read it.

DIR is the folder of a run with --out. For CSV files, one per chain, add --model and --data
to get predictions. For the folder of ppl generate, they add its question and text. The report is report.html in that folder unless --out says otherwise.

The summary has all quantities. There are plots of the quantities that findings name or
--vars chooses, and of the worst others, as many as --size allows.

--plots also writes plots as PNG, SVG and PDF files, with their numbers as CSV: those of the
run, and of the quantities that --vars chooses, by default the worst ten.

For several folders, one page compares what the runs predict, as ppl compare does, shows
their parameters next to each other, and has the report of each. It goes to comparison.html
unless --out says otherwise.

--figure writes single plots instead, and no page: NAME is a kind, such as survival, or a kind
and what it shows, such as density:tau. They go to the folder of --plots, or to this one.

For the folder of a study, the report shows R-hat, effective sample sizes and failures over
its fits, in an HTML file and in the terminal. For simulated data it also shows coverage and
ranks. --plots and --figure write its plots, such as study-rhat:mu.

--json prints the data of the report instead. --embed prints an HTML element that shows the
report in a document or notebook.`,
		Example: `  ppl report fit
  ppl report fit --vars beta,theta[1:5] --out report.html --plots plots
  ppl report fit --figure intervals --figure pairs:mu,tau
  ppl report pooled partial --out comparison.html
  ppl report output_1.csv output_2.csv --model m.stan --data d.json
  ppl report study`,
		RunE: func(cmd *cobra.Command, args []string) error { return o.run(cmd, args) },
	}
	f := declare(cmd)
	f.String(&o.out, "out", "")
	f.String(&o.plots, "plots", "")
	f.Strings(&o.figures, "figure", nil)
	f.String(&o.rows.vars, "vars", "")
	f.String(&o.title, "title", "")
	f.Value(&o.size, "size")
	f.Bool(&o.quick, "quick", false)
	f.String(&o.model, "model", "")
	o.input.flags(cmd)
	f.Uint64(&o.seed, "seed", 1)
	f.Bool(&o.quiet, "quiet", false)
	f.Bool(&o.json, "json", false)
	f.Bool(&o.embed, "embed", false)
	return cmd
}

func (o *reporting) run(cmd *cobra.Command, args []string) error {
	if _, err := selectors(o.rows.vars); err != nil {
		return err
	}
	if o.figures != nil && (o.out != "" || o.json || o.embed) {
		return usagef("--figure writes plots only; it cannot be given with --out, --json or --embed")
	}
	if o.json && (o.out != "" || o.plots != "") {
		return usagef("--json prints the report; it cannot be given with --out or --plots")
	}
	if o.embed && (o.out != "" || o.plots != "" || o.json) {
		return usagef("--embed prints the report; it cannot be given with --out, --plots or --json")
	}
	if len(args) == 1 && study.IsFolder(args[0]) {
		return o.reportStudy(cmd, args[0])
	}
	runs, err := runsOf(cmd.Context(), args)
	if err != nil {
		return err
	}
	switch {
	case len(runs) == 0:
		return usagef("DIR is missing: the folder of a run, or CSV files")
	case len(runs) > 1:
		return o.reportCompared(cmd, args)
	}
	fit, err := openFit(cmd.Context(), runs[0], &o.memory)
	if err != nil {
		return err
	}
	var generated *model.Posterior
	if o.model != "" {
		if generated, err = o.described(cmd, fit); err != nil {
			return err
		}
	} else if o.data != "" && fit.Record() == nil {
		return usagef("--data is given without --model")
	}
	if err := o.rows.known(fit.Names(), fit.VariableFactors); err != nil {
		return err
	}
	o.numberLevels(fit.VariableFactors)
	ctx, stop := interruptible(cmd.Context(), nil)
	defer stop()
	dir := ""
	if isFolder(args[0]) {
		dir = args[0]
	}
	options := o.options(dir)
	options.Generated = generated
	if fit.Approximate() == "" {
		options.Again = runAgain(fit.Record())
	}
	r, err := report.New(ctx, fit, options)
	if err != nil {
		return ended(ctx, cmd.ErrOrStderr(), err)
	}
	if o.json {
		return writeJSON(cmd.OutOrStdout(), r)
	}
	if o.figures != nil {
		return o.drawFigures(ctx, cmd, r)
	}
	if o.embed {
		return r.WriteEmbedded(cmd.OutOrStdout())
	}
	path := o.out
	if path == "" && dir != "" {
		path = filepath.Join(dir, folder.ReportFile)
	} else if path == "" {
		path = filepath.Join(filepath.Dir(args[0]), folder.ReportFile)
	}
	if path == "-" {
		return r.WriteHTML(cmd.OutOrStdout())
	}
	if err := writeReport(r.WriteHTML, path); err != nil {
		return err
	}
	fmt.Fprintf(cmd.OutOrStdout(), "Report: %s\n", path)
	if o.plots == "" {
		return nil
	}
	files, err := o.drawPlots(ctx, cmd.ErrOrStderr(), r)
	if err != nil {
		return ended(ctx, cmd.ErrOrStderr(), fmt.Errorf("--plots: %w", err))
	}
	if len(files) == 0 {
		fmt.Fprintln(cmd.OutOrStdout(), "Plots: none; there is nothing to draw")
		return nil
	}
	fmt.Fprintf(cmd.OutOrStdout(), "Plots: %s\n", filesText(files))
	return nil
}

// described gives the model of --model to a fit, unless the draws are its generated quantities
// only: then it returns the model with its data.
func (o *reporting) described(cmd *cobra.Command, fit *fit.Fit) (generated *model.Posterior, err error) {
	if fit.Record() != nil {
		_, err := o.posterior(cmd, fit)
		return nil, err
	}
	l, err := o.load(cmd.Context(), o.model, cmd.ErrOrStderr())
	if err != nil {
		return nil, ended(cmd.Context(), cmd.ErrOrStderr(), err)
	}
	if slices.Equal(fit.Draws.Names(), l.posterior.GeneratedNames()) {
		return l.posterior, nil
	}
	return nil, fit.SetPosterior(l.posterior)
}

// withoutFont notes that plots have characters for which no font is installed.
func withoutFont(w io.Writer, r *report.Report, figures []report.Figure) {
	missing := []rune(plotfile.Missing(r, figures))
	if len(missing) == 0 {
		return
	}
	shown := string(missing[:min(len(missing), 10)])
	if len(missing) > 10 {
		shown += "…"
	}
	fmt.Fprintf(w, "note: no installed font has the characters %s: PNG and PDF files have question marks in their place\n  help: use the SVG files, or install a font that has them, such as Noto Sans CJK\n", shown)
}

// options returns the options of the report.
func (o *reporting) options(folder string) report.Options {
	return report.Options{Title: o.title, Chosen: chosenBy(o.vars()), Size: int(o.size), Quick: o.quick, Seed: o.seed,
		Words: func(settings []string) []string { return wordsFor(settings, folder) }}
}

// runAgain returns the command that makes a run again; "" without a record of its options.
func runAgain(record *folder.Record) string {
	if record == nil || len(record.Options) == 0 {
		return ""
	}
	words := []string{"ppl", "run", record.Model}
	for _, name := range slices.Sorted(maps.Keys(record.Options)) {
		for _, v := range record.Options[name] {
			if v == "true" || v == "false" || v == "" {
				words = append(words, "--"+name+"="+v)
			} else {
				words = append(words, "--"+name, v)
			}
		}
	}
	return shellWords(words)
}

// numberLevels replaces the levels in --vars and --figure by their numbers.
func (o *reporting) numberLevels(levels indexLevels) {
	o.rows.vars = withNumbers(o.rows.vars, levels)
	o.figures = slices.Clone(o.figures)
	for i, name := range o.figures {
		if kind, of, ok := strings.Cut(name, ":"); ok {
			o.figures[i] = kind + ":" + withNumbers(of, levels)
		}
	}
}

// chosenBy returns a function that reports whether --vars selects a quantity; nil if --vars is not
// given.
func chosenBy(vars string) func(name string) bool {
	wanted, err := selectors(vars)
	if err != nil || wanted == nil {
		return nil
	}
	return func(name string) bool {
		for _, s := range wanted {
			if s.matches(name) {
				return true
			}
		}
		return false
	}
}

// drawnByDefault is the number of quantities whose plots are written to files if the user does not
// choose any.
const drawnByDefault = 10

func (o *reporting) drawPlots(ctx context.Context, stderr io.Writer, r *report.Report) ([]string, error) {
	chosen := chosenBy(o.rows.vars)
	var names []string
	for _, q := range r.Quantities {
		if chosen != nil && chosen(q.Name) || chosen == nil && len(names) < drawnByDefault {
			names = append(names, q.Name)
		}
	}
	if err := files.MakeFolder(o.plots); err != nil {
		return nil, err
	}
	figures := plotfile.Figures(r, names)
	withoutFont(stderr, r, figures)
	return plotfile.Write(ctx, r, o.plots, figures)
}

// drawFigures writes the figures of --figure.
func (o *reporting) drawFigures(ctx context.Context, cmd *cobra.Command, r *report.Report) error {
	var figures []report.Figure
	for _, name := range o.figures {
		found := figuresNamed(r, name)
		if len(found) == 0 {
			return usagef("there is no figure %s; there are %s", name, strings.Join(figureNames(r), ", "))
		}
		figures = append(figures, found...)
	}
	dir := o.plots
	if dir == "" {
		dir = "."
	}
	if err := files.MakeFolder(dir); err != nil {
		return fmt.Errorf("--plots: %w", err)
	}
	withoutFont(cmd.ErrOrStderr(), r, figures)
	written, err := plotfile.Write(ctx, r, dir, figures)
	if err != nil {
		return ended(ctx, cmd.ErrOrStderr(), err)
	}
	fmt.Fprintf(cmd.OutOrStdout(), "Plots: %s\n", filesText(written))
	return nil
}

// figuresNamed returns the figures that a name selects: KIND or KIND:OF, where OF is what the
// figure is about, such as a quantity. A kind of plots of quantities needs OF.
func figuresNamed(r *report.Report, name string) (out []report.Figure) {
	kind, of, narrow := strings.Cut(name, ":")
	all := slices.Clone(r.Figures)
	if narrow {
		for _, q := range r.Quantities {
			all = append(all, q.Figures...)
		}
		if pair := quantitiesIn(of); kind == "pairs" && len(pair) == 2 && hasPlots(r, pair[0]) && hasPlots(r, pair[1]) {
			return []report.Figure{r.Pair(pair[0], pair[1])}
		}
	}
	for _, f := range all {
		if f.Kind == kind && !f.Empty() && (!narrow || slices.Contains(f.Of, of)) {
			out = append(out, f)
		}
	}
	return out
}

func hasPlots(r *report.Report, name string) bool {
	return slices.ContainsFunc(r.Quantities, func(q report.Quantity) bool { return q.Name == name })
}

// quantitiesIn returns the quantities of a list.
func quantitiesIn(list string) (out []string) {
	items, err := selectors(list)
	if err != nil {
		return nil
	}
	for _, s := range items {
		out = append(out, s.text)
	}
	return out
}

// figureNames lists what --figure can name.
func figureNames(r *report.Report) (out []string) {
	for _, f := range r.Figures {
		if !f.Empty() && !slices.Contains(out, f.Kind) {
			out = append(out, f.Kind)
		}
	}
	for _, k := range r.Kinds {
		if k.Scope == report.OfQuantity {
			out = append(out, k.Name+":QUANTITY")
		}
	}
	return out
}

// vars returns the quantities to draw: those of --vars and of --figure.
func (o *reporting) vars() string {
	list := o.rows.vars
	for _, name := range o.figures {
		if kind, of, ok := strings.Cut(name, ":"); ok && !slices.ContainsFunc(report.Kinds(), func(k report.Kind) bool {
			return k.Name == kind && k.Scope != report.OfQuantity && k.Scope != report.OfPair
		}) {
			list = strings.TrimPrefix(list+","+of, ",")
		}
	}
	return list
}

// writeReport writes the page. It replaces an existing file only if that is a report.
func writeReport(page func(io.Writer) error, path string) error {
	info, err := os.Stat(path)
	fresh := errors.Is(err, fs.ErrNotExist)
	if err != nil && !fresh {
		return unwritten(path, err)
	}
	if !fresh && info.Mode().IsRegular() {
		old, err := os.ReadFile(path)
		if err != nil {
			return unwritten(path, err)
		}
		if !report.IsPage(old) {
			return fmt.Errorf("%s is there already, and is no report; choose another file by --out", path)
		}
	}
	var b bytes.Buffer
	if err := page(&b); err != nil {
		return err
	}
	if err := files.Save(path, b.Bytes()); err != nil { // the file never has half of a report
		return unwritten(path, err)
	}
	return nil
}

// unwritten returns an error that explains why the report could not be written.
func unwritten(path string, err error) error {
	if p, ok := errors.AsType[*fs.PathError](err); ok {
		err = p.Err
	}
	return fmt.Errorf("cannot write the report to %s: %w", path, err)
}
