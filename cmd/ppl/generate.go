package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/ppl-lang/ppl/compile/data"
	"github.com/ppl-lang/ppl/fit"
	"github.com/ppl-lang/ppl/fit/folder"
	"github.com/ppl-lang/ppl/infer/diagnose"
	"github.com/ppl-lang/ppl/model"
	"github.com/ppl-lang/ppl/model/predict"
)

// quantityOptions has the options of all commands that compute quantities at draws.
type quantityOptions struct {
	input
	rows      rowOptions
	out       string
	overwrite bool
	json      bool
	parallel  int
}

func (o *quantityOptions) flags(cmd *cobra.Command) {
	o.input.flags(cmd)
	f := declare(cmd)
	f.Uint64(&o.seed, "seed", 1)
	f.String(&o.out, "out", "")
	f.Bool(&o.overwrite, "overwrite", false)
	f.Int(&o.parallel, "parallel", 0)
	f.Bool(&o.quiet, "quiet", false)
	f.Bool(&o.verbose, "verbose", false)
	f.Bool(&o.json, "json", false)
	o.rows.flags(cmd)
}

// quantitiesJSON is what these commands print as JSON.
type quantitiesJSON struct {
	Summary  []summaryJSON `json:"summary"`  // one entry per quantity
	Draws    int           `json:"draws"`    // number of draws
	Failed   int           `json:"failed"`   // draws whose quantities could not be computed
	Files    []string      `json:"files"`    // files written, with --out
	Notes    []string      `json:"notes"`    // quantities that could not be derived, and why
	Warnings []string      `json:"warnings"` // problems, in words
}

// show summarises the quantities and writes their files.
func (o *quantityOptions) show(stdout, stderr io.Writer, name string, g *fit.Generated, findings []diagnose.Finding, notes []string) error {
	fit := g.Fit()
	var files []string
	if o.out != "" {
		old, err := replaceFiles(o.out, escapedGlob(name)+"_[0-9]*.csv", o.overwrite)
		if err != nil {
			return err
		}
		if files, err = g.WriteCSV(filepath.Join(o.out, name), name, o.seed); err != nil {
			return err
		}
		if err := old(files); err != nil {
			return err
		}
	}
	s := newSession(&runOptions{rows: o.rows, chains: fit.Draws.Chains()}, nil, fit, false, nil)
	if o.json {
		j := s.asJSON(nil)
		if err := j.choose(s, &o.rows); err != nil {
			return err
		}
		out := quantitiesJSON{Summary: j.Summary, Draws: s.draws, Failed: g.Failed, Files: append([]string{}, files...), Notes: append([]string{}, notes...), Warnings: []string{}}
		for _, f := range worded(append(failedOnly(fit.Findings()), findings...), "") {
			out.Warnings = append(out.Warnings, f.Summary+" "+f.Advice)
		}
		return writeJSON(stdout, out)
	}
	width, _, terminal := terminalSize(stdout)
	limit := 0
	if terminal {
		limit = width
	} else {
		width = 100
	}
	var b strings.Builder
	if err := o.rows.table(&b, fit, limit); err != nil {
		return err
	}
	findings = append(failedOnly(fit.Findings()), findings...)
	if !o.quiet {
		for _, n := range notes {
			findings = append(findings, diagnose.Finding{Severity: diagnose.Note, Summary: n})
		}
	}
	if len(findings) > 0 {
		b.WriteString("\n")
		writeBriefly(&b, findings, inBrief{details: sameVerbose, verbose: o.verbose, width: width})
	}
	if len(files) > 0 {
		fmt.Fprintf(&b, "\nDraws: %s\n", filesText(files))
	}
	_, err := io.WriteString(stdout, b.String())
	return err
}

// failedOnly selects the findings that apply to quantities computed at given draws: findings about
// the agreement of the draws do not.
func failedOnly(all []diagnose.Finding) []diagnose.Finding {
	return slices.DeleteFunc(slices.Clone(all), func(f diagnose.Finding) bool { return !ofComputation(f) })
}

// ofComputation reports whether a finding is about how quantities were computed, not about how they
// were drawn.
func ofComputation(f diagnose.Finding) bool {
	return f.Code == "generated" || f.Code == "undefined" || f.Code == "density-wrong"
}

func generateCommand() *cobra.Command {
	var o quantityOptions
	var from string
	cmd := &cobra.Command{
		Use: "generate [MODEL] --fit DIR",
		Long: `Runs the generated quantities of a model on the draws of an earlier run, without sampling
again. Use it after you added generated quantities, or for new data.

--fit is a folder of ppl run --out. Without MODEL it uses the model of that run, and without
--data the data of that run. The parameters of the model must be among the draws, with the
same sizes.

With --out, ppl loo and ppl ppc accept the folder: they use its log_lik and y_rep, with the
run and its data.`,
		Example: `  ppl generate model.stan --fit results --out quantities
  ppl generate --fit results --data new.json --vars y_new`,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) > 1 {
				return usagef("unexpected argument %q", args[1])
			}
			return nil
		},
	}
	declare(cmd).String(&from, "fit", "")
	o.flags(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if from == "" {
			help := ""
			if len(args) == 1 && isFolder(args[0]) {
				help = "--fit " + args[0]
			}
			return usage(meant(errors.New("--fit is missing: the folder of the run with the draws"), help))
		}
		if err := o.rows.check(); err != nil {
			return err
		}
		f, err := openFit(cmd.Context(), strings.Split(from, ","), &o.memory)
		if err != nil {
			return err
		}
		o.print = printer(cmd.ErrOrStderr())
		var p *model.Posterior
		var name string
		var notes []string
		if len(args) == 1 {
			name = folder.BaseName(args[0])
			if err := o.read(cmd.Context(), args[0]); err != nil {
				return err
			}
			model, err := o.compiled(cmd.Context(), args[0], cmd.ErrOrStderr())
			if err != nil {
				return ended(cmd.Context(), cmd.ErrOrStderr(), err)
			}
			if p, notes, err = o.boundTo(cmd.Context(), model, f, cmd.ErrOrStderr()); err != nil {
				return ended(cmd.Context(), cmd.ErrOrStderr(), err)
			}
		} else {
			model, err := f.Model()
			if err != nil {
				return err
			}
			name = folder.BaseName(model.Name())
			o.readData(cmd.Context())
			if p, notes, err = o.boundTo(cmd.Context(), model, f, cmd.ErrOrStderr()); err != nil {
				return ended(cmd.Context(), cmd.ErrOrStderr(), err)
			}
		}
		ctx, stop := interruptible(cmd.Context(), nil)
		defer stop()
		g, err := fit.Generate(ctx, p, f, fit.GenerateOptions{Seed: o.seed, Parallel: o.parallel})
		if err != nil {
			return ended(ctx, cmd.ErrOrStderr(), err)
		}
		if len(p.GeneratedNames()) == 0 {
			return errors.New("the model has no generated quantities")
		}
		if o.out != "" && o.data == "" {
			g.From = fromFolder(o.out, from)
		}
		return o.show(cmd.OutOrStdout(), cmd.ErrOrStderr(), name, g, nil, notes)
	}
	return cmd
}

// fromFolder returns the folder of a run relative to another folder; "" if it is not a folder.
func fromFolder(out, run string) string {
	if !isFolder(run) {
		return ""
	}
	base, err := filepath.Abs(out)
	if err != nil {
		return ""
	}
	if run, err = filepath.Abs(run); err != nil {
		return ""
	}
	if near, err := filepath.Rel(base, run); err == nil {
		run = near
	}
	return filepath.ToSlash(run)
}

// printer returns a function that shows the output of a model's print statements.
func printer(w io.Writer) func(string) {
	return func(s string) { printMessage(w, "%s", s) }
}

// given returns the data of --data or, without that flag, the data of the run.
func (o *quantityOptions) given(fit *fit.Fit, stderr io.Writer) (*data.Set, error) {
	if o.data == "" {
		return fit.Data()
	}
	if o.textErr != nil {
		return nil, o.textErr
	}
	if r := fit.Record(); r != nil && len(r.Levels)+len(r.Zeros)+len(r.Counts)+len(r.Read)+len(r.Missing) > 0 {
		var err error
		if o.as, err = fit.Data(); err != nil {
			return nil, err
		}
	}
	return o.parseData(stderr)
}

// boundTo binds a model to the data of --data or, without that flag, to the data of the run.
func (o *quantityOptions) boundTo(ctx context.Context, model *model.Model, fit *fit.Fit, stderr io.Writer) (p *model.Posterior, notes []string, err error) {
	o.suits(model)
	values, err := o.given(fit, stderr)
	if err != nil {
		return nil, nil, err
	}
	fitted := values
	if o.data != "" {
		fitted, _ = fit.Data()
	}
	bind := o.bindOptions()
	bind.AllowImpossible = true // observed values may be placeholders in new data
	if r := fit.Record(); r != nil {
		bind.Seed = r.Seed // the run's seed, since transformed data may be drawn
		if bind.StanCompat == "" {
			bind.StanCompat = r.StanCompat
		}
	}
	derived, changed, err := model.GenerateNew(ctx, fitted, values, bind)
	if err != nil {
		return nil, nil, err
	}
	notes = append(keptNotes(derived.Kept), changedNotes(changed)...)
	if t := derived.Together; t != nil {
		notes = append(notes, fmt.Sprintf("The distribution of %s[%d] depends on other rows of the data, and in --data they are others than in the fit. If generated quantities use what is computed from several rows, such as a mean that centres a predictor, the results are wrong: declare its value among the data and run the model again.",
			t.Variable, t.Row))
	}
	p, err = derived.BindContext(ctx, values, bind)
	return p, notes, err
}

// changedNotes returns notes on summaries that have other values than in the fit.
func changedNotes(changed []predict.Summary) []string {
	var notes []string
	for _, s := range changed {
		at := s.Span.Begin()
		notes = append(notes, fmt.Sprintf("`%s` (%s, line %d) is computed from the rows of --data, so it has another value than in the fit. If it centres or scales a predictor, the results are wrong: declare its value among the data, such as `real mean_x;`, and run the model again.",
			s.Text, escaped(at.File), at.Line))
	}
	return notes
}

// leftNotes returns notes on the statements from which nothing could be derived.
func leftNotes(d *model.Derived, what string) []string {
	var notes []string
	for _, l := range d.Left {
		notes = append(notes, fmt.Sprintf("no %s from %s.", what, l))
	}
	if len(d.Left) > 0 && what == "replicated data" {
		notes = append(notes, "Elements that are not replicated have the values of the data at every draw.")
	}
	for _, o := range d.Outputs {
		for _, reason := range o.Observed {
			if what == "replicated data" {
				notes = append(notes, fmt.Sprintf("%s is drawn given the observed values of %s, and not afresh: %s.", o.Name, o.Variable, reason))
			} else {
				notes = append(notes, fmt.Sprintf("%s is that given the observed values of %s: %s.", o.Name, o.Variable, reason))
			}
		}
	}
	return notes
}
