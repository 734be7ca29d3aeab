package main

import (
	"fmt"
	"io"
	"math"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/ppl-lang/ppl/assess"
	"github.com/ppl-lang/ppl/infer/diagnose"
	"github.com/ppl-lang/ppl/internal/sorting"
)

// weighing is a run of the command evidence.
type weighing struct {
	criticised
	seed uint64
	json bool
}

// logJSON is an estimate of a logarithm, with its standard error.
type logJSON struct {
	Estimate number `json:"estimate"` // the estimate of the natural logarithm
	SE       number `json:"se"`       // its standard error
}

// figures formats the estimate and its standard error, which gets two digits.
func (l logJSON) figures() []string {
	decimals := 2
	if se := float64(l.SE); se > 0 {
		decimals = min(max(1-int(math.Floor(math.Log10(se))), 0), 6)
	}
	return []string{figure(float64(l.Estimate), decimals), figure(float64(l.SE), decimals)}
}

// evidenceModelJSON is a model in what evidence prints with --json; a stable format.
type evidenceModelJSON struct {
	Model    string  `json:"model"`        // name of the folder or file
	Evidence logJSON `json:"log_evidence"` // natural logarithm of the density of the data
	Method   string  `json:"method"`       // bridge or tempering

	// the same by bridge sampling, before the mass of the prior is taken out
	Bridge logJSON `json:"bridge"`
	// effective number of draws in the overlap of posterior and proposal
	Effective number `json:"bridge_effective"`
	// integral of the prior as written; NaN if it is not known
	PriorMass logJSON `json:"log_prior_mass"`

	// log Bayes factor against the best model, at most 0
	BayesFactor logJSON `json:"log_bayes_factor"`
	// probability of the model, if all were equally probable before the data
	Probability number `json:"probability"`
}

// evidenceJSON is the whole result that evidence prints with --json; a stable format.
type evidenceJSON struct {
	Method   string              `json:"method"`   // always evidence
	Models   []evidenceModelJSON `json:"models"`   // models, best first
	Findings []diagnose.Finding  `json:"findings"` // problems and remarks
}

func evidenceCommand() *cobra.Command {
	var o weighing
	cmd := &cobra.Command{
		Use: "evidence DIR…",
		Long: `Estimates the evidence of models from the draws of runs: the probability density of
the data with all parameters integrated out, also called the marginal likelihood. With
several runs, it compares them: Bayes factors against the best, and the probability of
each model if all were equally probable before.

The estimate is by bridge sampling (warp-III), or by parallel tempering if the run was
tempered. All constants of the density count, also those that statements with ~ drop. If the
prior as written does not integrate to 1, for example because a bound cuts off a
distribution, the estimate is divided by its integral.

Evidence depends on the priors much more than the posterior does: a prior ten times as wide
makes it about ten times as small for each parameter. To compare models by their predictions,
use ppl compare.

DIR is the folder of a run with --out; or CSV files, with --model and --data.`,
		Example: `  ppl evidence fit
  ppl evidence pooled partial separate`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				return usagef("DIR is missing: the folder of a run, or CSV files")
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error { return o.run(cmd, args) },
	}
	o.criticised.flags(cmd)
	f := declare(cmd)
	f.Uint64(&o.seed, "seed", 1)
	f.Bool(&o.quiet, "quiet", false)
	f.Bool(&o.verbose, "verbose", false)
	f.Bool(&o.json, "json", false)
	return cmd
}

// weighed is the evidence of one model.
type weighed struct {
	name     string
	evidence *assess.Evidence
	observed map[string]observed
}

func (o *weighing) run(cmd *cobra.Command, args []string) error {
	runs, err := runsOf(cmd.Context(), args)
	if err != nil {
		return err
	}
	ctx, stop := interruptible(cmd.Context(), nil)
	defer stop()
	var all []weighed
	findings := []diagnose.Finding{}
	paths := make([]string, len(runs))
	for i, run := range runs {
		paths[i] = run[0]
	}
	for _, run := range runs {
		fit, err := o.read(cmd, run)
		if err != nil {
			return err
		}
		e, err := assess.EvidenceOf(ctx, fit, o.seed)
		if err != nil {
			return ended(ctx, cmd.ErrOrStderr(), fmt.Errorf("%s: %w", run[0], err))
		}
		w := weighed{name: shownName(paths, run[0]), evidence: e}
		// A model without statements on data does not say which data it is about. It is compared
		// all the same.
		if w.observed, err = observedIn(fit, &assess.LogLik{}); err != nil {
			return fmt.Errorf("%s: %w", run[0], err)
		}
		findings = append(append(findings, runProblems(fit, run[0])...), e.Findings(w.name)...)
		all = append(all, w)
	}
	var same []predictions
	for _, w := range all {
		same = append(same, predictions{name: w.name, observed: w.observed})
	}
	if err := refused(same); err != nil {
		return err
	}
	sorting.Stable(all, func(a, b weighed) int {
		switch x, y := a.evidence.Log, b.evidence.Log; {
		case x > y, math.IsNaN(y) && !math.IsNaN(x):
			return -1
		case x < y, math.IsNaN(x) && !math.IsNaN(y):
			return 1
		}
		return 0
	})
	models := byEvidence(all)
	findings = append(findings, closeEvidence(models)...)
	if o.json {
		return writeJSON(cmd.OutOrStdout(), evidenceJSON{"evidence", models, findings})
	}
	var b strings.Builder
	cells := [][]string{{"", "log evidence", "se", "log Bayes factor", "se", "probability"}}
	for _, m := range models {
		row := m.Evidence.figures()
		if len(models) > 1 {
			row = append(append(row, m.BayesFactor.figures()...), fixed(float64(m.Probability), 3))
		}
		row = append([]string{m.Model}, row...)
		cells = append(cells, row)
	}
	cells[0] = cells[0][:len(cells[1])]
	writeEstimates(&b, cmd.OutOrStdout(), cells)
	writeBriefly(&b, findings, inBrief{details: sameVerbose, verbose: o.verbose, width: lineWidth(cmd.OutOrStdout())})
	_, err = io.WriteString(cmd.OutOrStdout(), b.String())
	return err
}

// shownName returns the last part of one of the paths, or the whole path if another path has the
// same last part.
func shownName(paths []string, path string) string {
	name := filepath.Base(filepath.Clean(path))
	if n := len(slices.DeleteFunc(slices.Clone(paths), func(p string) bool { return filepath.Base(filepath.Clean(p)) != name })); n > 1 {
		return filepath.Clean(path)
	}
	return name
}

// byEvidence returns the figures of the models, the best model first.
func byEvidence(all []weighed) []evidenceModelJSON {
	best := all[0].evidence
	total := 0.0
	for _, w := range all {
		if f := math.Exp(w.evidence.Log - best.Log); !math.IsNaN(f) {
			total += f
		}
	}
	var models []evidenceModelJSON
	for i, w := range all {
		e := w.evidence
		m := evidenceModelJSON{Model: w.name, Evidence: logJSON{number(e.Log), number(e.Error)}, Method: "bridge",
			Bridge:      logJSON{number(e.Bridge.LogZ), number(e.Bridge.Error)},
			Effective:   number(e.Bridge.Effective()),
			PriorMass:   logJSON{number(math.NaN()), number(math.NaN())},
			BayesFactor: logJSON{number(e.Log - best.Log), number(math.Hypot(e.Error, best.Error))},
			Probability: number(math.Exp(e.Log-best.Log) / total),
		}
		if e.Tempering {
			m.Method = "tempering"
		}
		if e.Prior.Known {
			m.PriorMass = logJSON{number(e.Prior.Log), number(e.Prior.Error)}
		}
		if i == 0 {
			m.BayesFactor.SE = 0
		}
		models = append(models, m)
	}
	return models
}

// closeEvidence returns a finding if the best model is uncertain because of the errors of the
// estimates.
func closeEvidence(models []evidenceModelJSON) []diagnose.Finding {
	var names []string
	for _, m := range models[1:] {
		if math.Abs(float64(m.BayesFactor.Estimate)) < 2*float64(m.BayesFactor.SE) {
			names = append(names, m.Model)
		}
	}
	if names == nil {
		return nil
	}
	return []diagnose.Finding{{Code: "close-evidence", Severity: diagnose.Note,
		Summary: fmt.Sprintf("The evidence of %s and of %s differs by less than two standard errors.", strings.Join(names, ", "), models[0].Model),
		Advice:  "If it matters which is larger, make more draws."}}
}
