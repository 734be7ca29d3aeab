package main

import (
	"context"
	"fmt"
	"io"
	"maps"
	"math"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/ppl-lang/ppl/assess"
	"github.com/ppl-lang/ppl/assess/criticise"
	"github.com/ppl-lang/ppl/fit"
	"github.com/ppl-lang/ppl/infer/diagnose"
	"github.com/ppl-lang/ppl/infer/psis"
	"github.com/ppl-lang/ppl/lang/types"
	"github.com/ppl-lang/ppl/model/predict"
)

// comparing is a run of the command compare.
type comparing struct {
	criticised
	likelihood
	json bool
}

// comparedJSON is a model in what compare prints with --json; a stable format.
type comparedJSON struct {
	Model string     `json:"model"`     // name of the folder or file
	ELPD  estimateOf `json:"elpd"`      // expected log predictive density
	Diff  estimateOf `json:"elpd_diff"` // difference from the best model, at most 0
	// probability of predicting worse than the best; NaN without a verdict of worse
	PWorse number `json:"p_worse"`
	Weight number `json:"stacking_weight"` // weight by stacking

	Verdict verdict `json:"verdict"` // best, worse, cannot be told apart, or not comparable
}

// minObservations is the number of observations below which the standard errors of differences tend
// to be too small (Sivula, Magnusson, Matamoros and Vehtari, 2020).
const minObservations = 100

// verdict is the result of comparing a model with the best one.
type verdict string

const (
	best         verdict = "best"
	worse        verdict = "worse"
	indistinct   verdict = "cannot be told apart"
	incomparable verdict = "not comparable" // unreliable estimates, or predictions of different things
)

// verdictOf judges the model at index i of the comparison.
func verdictOf(all []predictions, c []criticise.Compared, i int) verdict {
	m, first := all[c[i].Model], all[c[0].Model]
	switch {
	case i == 0 && first.bad == 0 && len(first.elpd) > 1 && slices.ContainsFunc(c[1:], func(o criticise.Compared) bool { return alike(all[o.Model], first) }):
		return best // even if the estimate of another model is too optimistic
	case i == 0, !alike(m, first), m.bad > 0, first.bad > 0, len(m.elpd) == 1:
		return incomparable
	case c[i].Worse:
		return worse
	}
	return indistinct
}

// comparisonJSON is the whole result that compare prints with --json; a stable format.
type comparisonJSON struct {
	Method       string             `json:"method"`       // loo, or cv with the number of folds
	Observations int                `json:"observations"` // number of observations
	Models       []comparedJSON     `json:"models"`       // models, best first
	Findings     []diagnose.Finding `json:"findings"`     // problems and remarks
}

// predictions are the predictive densities of one model.
type predictions struct {
	name   string
	method string
	names  []string
	elpd   []float64
	bad    int

	observed map[string]observed // the data that the model predicts; nil if unknown
}

// observed is a variable of the data that a model predicts.
type observed struct {
	values []float64
	whole  bool // declared int, so that the model gives probabilities, not densities
}

// observedIn returns the data variables that log likelihoods are about.
func observedIn(f *fit.Fit, l *assess.LogLik) (map[string]observed, error) {
	m, err := f.Model()
	if err != nil {
		return nil, err
	}
	values, err := f.Data()
	if err != nil {
		return nil, err
	}
	variables := l.Variables
	if len(variables) == 0 { // log_lik of the model: assume the data in its statements
		derived, err := m.Derive(predict.LogLikelihood)
		if err != nil {
			return nil, nil
		}
		for _, out := range derived.Outputs {
			variables = append(variables, out.Variable)
		}
	}
	all := map[string]observed{}
	for _, v := range m.Program().IR().Data {
		if d, ok := values.Get(v.Name); ok && slices.Contains(variables, v.Name) {
			o := observed{values: d.Reals, whole: v.Type.Kind == types.Int}
			if d.IsInt {
				o.values = nil
				for _, x := range d.Ints {
					o.values = append(o.values, float64(x))
				}
			}
			all[v.Name] = o
		}
	}
	return all, nil
}

// otherData describes how the data that two models predict differ: variables whose values differ,
// and variables of which one model gives probabilities and the other densities.
func otherData(a, b predictions) (values, kinds []string) {
	same := func(x, y float64) bool { return x == y || x != x && y != y }
	for _, name := range slices.Sorted(maps.Keys(a.observed)) {
		x := a.observed[name]
		y, ok := b.observed[name]
		switch {
		case !ok:
		case !slices.EqualFunc(x.values, y.values, same):
			values = append(values, name)
		case x.whole != y.whole:
			kinds = append(kinds, name)
		}
	}
	return values, kinds
}

// refused returns an error if models cannot be compared because their data differ.
func refused(all []predictions) error {
	for _, p := range all[1:] {
		values, kinds := otherData(all[0], p)
		if values != nil {
			return fmt.Errorf("%s and %s are about other data: the values of %s differ.\n"+
				"Fit all models to the same data, in the same order and on the same scale", all[0].name, p.name, strings.Join(values, ", "))
		}
		for _, name := range kinds {
			density, mass := all[0].name, p.name
			if all[0].observed[name].whole {
				density, mass = mass, density
			}
			return fmt.Errorf("%s gives %s probabilities, as it is declared int, and %s gives it densities: these cannot be compared.\n"+
				"Use distributions of one kind in all models", mass, name, density)
		}
	}
	return nil
}

// alike reports whether two models were judged by the same method and on observations with the same
// names.
func alike(a, b predictions) bool {
	return a.method == b.method && slices.Equal(a.names, b.names)
}

func compareCommand() *cobra.Command {
	var o comparing
	cmd := &cobra.Command{
		Use: "compare DIR DIR…",
		Long: `Compares models by their expected log predictive density, the best first. It prints the
differences with their standard errors, and the weights of the models in the mixture that
predicts best (stacking). The verdict follows one rule: a difference below 4, or below two
standard errors, does not separate two models. Estimates with a Pareto k that is too large,
or of other observations, are not comparable. Models of other data are refused, and so are
probabilities compared with densities.

DIR is the folder of a run, for which ppl computes leave-one-out cross-validation (ppl loo);
the folder of ppl generate --out with a log_lik; or a file with the result of ppl loo --json
or ppl cv --json. All must be about the same observations.`,
		Example: `  ppl compare pooled partial separate
  ppl cv m1.stan -d d.json --json > m1.json
  ppl cv m2.stan -d d.json --json > m2.json
  ppl compare m1.json m2.json`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) < 2 {
				return usagef("there must be at least two models to compare")
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error { return o.run(cmd, args) },
	}
	o.criticised.flags(cmd)
	o.likelihood.flags(cmd)
	f := declare(cmd)
	f.Bool(&o.quiet, "quiet", false)
	f.Bool(&o.verbose, "verbose", false)
	f.Bool(&o.json, "json", false)
	return cmd
}

func (o *comparing) run(cmd *cobra.Command, args []string) error {
	ctx, stop := interruptible(cmd.Context(), nil)
	defer stop()
	all, c, findings, err := o.compared(ctx, cmd, args)
	if err != nil {
		return err
	}
	if o.json {
		j := comparisonJSON{Method: all[0].method, Observations: len(all[0].elpd), Findings: findings}
		for i, m := range c {
			v, p := verdictOf(all, c, i), m.PWorse
			if v != worse {
				p = math.NaN()
			}
			j.Models = append(j.Models, comparedJSON{all[m.Model].name, estimateOf{number(m.ELPD.Value), number(m.ELPD.SE)},
				estimateOf{number(m.Diff.Value), number(m.Diff.SE)}, number(p), number(m.Weight), v})
		}
		return writeJSON(cmd.OutOrStdout(), j)
	}
	var b strings.Builder
	cells := [][]string{{"", "elpd_diff", "se_diff", "elpd", "se", "weight", "verdict"}}
	for i, m := range c {
		cells = append(cells, []string{all[m.Model].name, figure(m.Diff.Value, 1), figure(m.Diff.SE, 1),
			figure(m.ELPD.Value, 1), figure(m.ELPD.SE, 1), fixed(m.Weight, 3), string(verdictOf(all, c, i))})
	}
	writeEstimates(&b, cmd.OutOrStdout(), cells)
	writeBriefly(&b, findings, inBrief{details: sameVerbose, verbose: o.verbose, width: lineWidth(cmd.OutOrStdout())})
	_, err = io.WriteString(cmd.OutOrStdout(), b.String())
	return err
}

// compared compares the predictions of folders and files, and returns what users should know about
// the comparison.
func (o *comparing) compared(ctx context.Context, cmd *cobra.Command, args []string) (all []predictions, c []criticise.Compared, findings []diagnose.Finding, err error) {
	memory, err := o.bytes()
	if err != nil {
		return nil, nil, nil, err
	}
	var troubled []diagnose.Finding
	for _, arg := range args {
		p := predictions{name: shownName(args, arg)}
		if strings.EqualFold(filepath.Ext(arg), ".json") {
			j, err := readPredictions(arg)
			if err != nil {
				return nil, nil, nil, err
			}
			p.name, p.method, p.names = strings.TrimSuffix(p.name, filepath.Ext(p.name)), j.Method, j.Pointwise.Name
			if j.Folds > 0 { // a model fitted to less data predicts worse
				p.method = fmt.Sprintf("%s of %s", j.Method, count(j.Folds, "fold", "folds"))
			}
			for i, v := range j.Pointwise.ELPD {
				p.elpd = append(p.elpd, float64(v))
				if i < len(j.Pointwise.ParetoK) && !(float64(j.Pointwise.ParetoK[i]) <= float64(j.Limit)) {
					p.bad++
				}
			}
		} else {
			fit, err := o.read(cmd, []string{arg})
			if err != nil {
				return nil, nil, nil, err
			}
			l, err := o.logLik(ctx, fit, o.LogLikOptions)
			if err != nil {
				return nil, nil, nil, fmt.Errorf("%s: %w", arg, err)
			}
			r, err := l.LOO(ctx, memory)
			if err != nil {
				return nil, nil, nil, ended(ctx, cmd.ErrOrStderr(), fmt.Errorf("%s: %w", arg, err))
			}
			troubled = append(troubled, runProblems(fit, o.criticised.run(arg))...)
			p.method, p.names, p.elpd, p.bad = "loo", l.Names, r.ELPD, len(r.Bad())
			if p.observed, err = observedIn(fit, l); err != nil {
				return nil, nil, nil, fmt.Errorf("%s: %w", arg, err)
			}
		}
		all = append(all, p)
	}
	var pointwise [][]float64
	for _, p := range all {
		pointwise = append(pointwise, p.elpd)
	}
	if c, err = criticise.Compare(pointwise); err != nil {
		for i, p := range all {
			err = fmt.Errorf("%w\nmodel %d is %s", err, i+1, p.name)
		}
		return nil, nil, nil, err
	}
	if err := refused(all); err != nil {
		return nil, nil, nil, err
	}
	return all, c, append(comparisonFindings(all, c), troubled...), nil
}

// comparisonFindings returns findings about the comparison that users should know.
func comparisonFindings(all []predictions, c []criticise.Compared) []diagnose.Finding {
	findings := []diagnose.Finding{}
	for _, p := range all[1:] {
		if p.method != all[0].method {
			findings = append(findings, diagnose.Finding{Code: "methods", Severity: diagnose.Problem,
				Summary: fmt.Sprintf("%s was assessed by %s, but %s by %s.", all[0].name, all[0].method, p.name, p.method),
				Advice:  "Assess all models by the same method."})
		}
		if !slices.Equal(p.names, all[0].names) {
			findings = append(findings, diagnose.Finding{Code: "observations", Severity: diagnose.Problem,
				Summary: fmt.Sprintf("The observations of %s and of %s have different names: %s … and %s ….", all[0].name, p.name, first(all[0].names), first(p.names)),
				Advice:  "Make sure that the data are the same, in the same order and on the same scale. Densities of log(y) and of y cannot be compared."})
		}
	}
	for _, p := range all {
		if p.bad > 0 && len(p.elpd) > 1 {
			findings = append(findings, diagnose.Finding{Code: "pareto-k", Severity: diagnose.Problem,
				Summary: fmt.Sprintf("%s: %d of %d observations have a Pareto k that is too large (%.2g for many draws).", p.name, p.bad, len(p.elpd), psis.Limit(1<<20)),
				Advice:  "Use ppl loo --exact, or ppl cv, for all models: its estimate may be too optimistic."})
		}
	}
	switch n := len(all[0].elpd); {
	case n == 1:
		findings = append(findings, assess.OneObservation())
	case n < minObservations:
		findings = append(findings, diagnose.Finding{Code: "few-observations", Severity: diagnose.Note,
			Summary: fmt.Sprintf("There are only %d observations: the standard errors of the differences may be too small.", n),
			Advice:  "Treat differences of less than a few standard errors as zero."})
	}
	for i, m := range c {
		if len(all[0].elpd) > 1 && verdictOf(all, c, i) == indistinct {
			why := "the difference is less than 4"
			if math.Abs(m.Diff.Value) >= 4 {
				why = "the difference is less than two standard errors"
			}
			findings = append(findings, diagnose.Finding{Code: "small-difference", Severity: diagnose.Note,
				Summary: fmt.Sprintf("%s and %s do not clearly differ in how well they predict: %s.", all[m.Model].name, all[c[0].Model].name, why),
				Advice:  "Choose for other reasons, or average the models by their weights."})
		}
	}
	return findings
}

func first(names []string) string {
	if len(names) == 0 {
		return "none"
	}
	return names[0]
}
