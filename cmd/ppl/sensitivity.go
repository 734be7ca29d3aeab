package main

import (
	"fmt"
	"io"
	"math"
	"strings"

	"github.com/spf13/cobra"

	"github.com/ppl-lang/ppl/assess"
	"github.com/ppl-lang/ppl/assess/criticise"
	"github.com/ppl-lang/ppl/infer/diagnose"
	"github.com/ppl-lang/ppl/infer/psis"
	"github.com/ppl-lang/ppl/internal/sorting"
)

// scaling is a run of the command sensitivity.
type scaling struct {
	criticised
	prior string
	vars  string
	json  bool
}

// sensitivityJSON is what sensitivity prints with --json; a stable format.
type sensitivityJSON struct {
	Method     string       `json:"method"`     // always sensitivity
	Quantities []scaledJSON `json:"quantities"` // one entry per quantity
	// Pareto k of the weights when the prior is scaled
	PriorK number `json:"prior_pareto_k"`
	// Pareto k of the weights when the likelihood is scaled
	LikelihoodK number `json:"likelihood_pareto_k"`
	// statements scaled as the prior; empty with --prior all
	Scaled []string `json:"prior_statements"`
	// statements about parameters that were not scaled
	Unscaled []string           `json:"not_scaled"`
	Findings []diagnose.Finding `json:"findings"` // problems and remarks
}

type scaledJSON struct {
	Name       string `json:"name"`       // name of the quantity, with . between indices
	Prior      number `json:"prior"`      // sensitivity to the prior
	Likelihood number `json:"likelihood"` // sensitivity to the likelihood
	Diagnosis  string `json:"diagnosis"`  // what the two sensitivities mean; - if nothing is unusual
}

func sensitivityCommand() *cobra.Command {
	var o scaling
	cmd := &cobra.Command{
		Use: "sensitivity DIR",
		Long: `Power-scaling shows how the posterior of each quantity would change if the prior, or the
likelihood, counted a little more or less. It needs only the draws of a run. Look at values
above 0.05:

  prior only            a strong prior, or data that say little
  prior and likelihood  prior and data may be in conflict

DIR is the folder of a run with --out; or CSV files, with --model and --data. The likelihood consists of the model's statements about data. The prior is that of the top
level, as R's package priorsense advises: statements about parameters whose arguments are not
parameters. The distribution of a population, u ~ normal(0, tau), is not scaled. It adapts to
the data, so scaling it says nothing about what you assumed. The same holds for z ~
std_normal() if another parameter multiplies z. With --prior all, the prior is everything but
the likelihood.`,
		Example: `  ppl sensitivity fit
  ppl sensitivity fit --prior all`,
		RunE: func(cmd *cobra.Command, args []string) error { return o.run(cmd, args) },
	}
	o.criticised.flags(cmd)
	f := declare(cmd)
	f.String(&o.prior, "prior", "top")
	f.String(&o.vars, "vars", "")
	f.Bool(&o.quiet, "quiet", false)
	f.Bool(&o.verbose, "verbose", false)
	f.Bool(&o.json, "json", false)
	return cmd
}

// diagnosis interprets the sensitivities to the prior and to the likelihood.
func diagnosis(prior, likelihood float64) string {
	const limit = criticise.SensitivityLimit
	switch {
	case math.IsNaN(prior) || math.IsNaN(likelihood):
		return "not known"
	case prior >= limit && likelihood >= limit:
		return "possible prior-data conflict"
	case prior >= limit:
		return "strong prior or weak likelihood"
	}
	return "-"
}

// scaled returns a text about the terms that were scaled as the prior.
func scaled(s *assess.Sensitivity, prior string) string {
	text := "Scaled as the prior: " + statements(s.Scaled) + "."
	switch {
	case prior == "all":
		return "Scaled as the prior: everything but the likelihood."
	case len(s.Scaled) == 0:
		text = "The model has no prior at the top level that could be scaled."
	}
	if len(s.Unscaled) > 0 {
		text += " Not scaled (--prior all scales them too): " + statements(s.Unscaled) + "."
	}
	return text
}

// unreliable returns a finding if the weights of the draws cannot be relied on.
func unreliable(s *assess.Sensitivity) []diagnose.Finding {
	limit := psis.Limit(s.Draws)
	var wrong []string
	for _, part := range []struct {
		name string
		k    float64
	}{{"prior", s.Prior.K}, {"likelihood", s.Likelihood.K}} {
		if part.k > limit {
			wrong = append(wrong, fmt.Sprintf("%.2g for the %s", part.k, part.name))
		}
	}
	if wrong == nil {
		return nil
	}
	return []diagnose.Finding{{Code: "pareto-k", Severity: diagnose.Problem,
		Summary: fmt.Sprintf("The weights of the draws are not reliable: Pareto k is %s; it should be at most %.2g.", strings.Join(wrong, " and "), limit),
		Advice:  "Make more draws, or fit the model again with other priors."}}
}

// statements lists statements as text.
func statements(all []string) string {
	const maxListed = 8
	var b strings.Builder
	for i, s := range all[:min(maxListed, len(all))] {
		if i > 0 {
			b.WriteString(", ")
		}
		b.WriteString("`" + strings.TrimSuffix(s, ";") + "`")
	}
	if len(all) > maxListed {
		fmt.Fprintf(&b, " and %d more", len(all)-maxListed)
	}
	return b.String()
}

func (o *scaling) run(cmd *cobra.Command, args []string) error {
	if o.prior != "top" && o.prior != "all" {
		return usagef("--prior can be top or all, but is %q", o.prior)
	}
	fit, err := o.read(cmd, args)
	if err != nil {
		return err
	}
	chosen, err := chosenNames(o.vars, fit.Names(), fit.VariableFactors)
	if err != nil {
		return err
	}
	ctx, stop := interruptible(cmd.Context(), nil)
	defer stop()
	s, err := assess.SensitivityOf(ctx, fit, assess.SensitivityOptions{All: o.prior == "all"})
	if err != nil {
		return ended(ctx, cmd.ErrOrStderr(), err)
	}
	quantities := []scaledJSON{}
	suspects := map[string][]string{}
	for i, name := range s.Names {
		if !chosen(name) {
			continue
		}
		p, l := s.Prior.Sensitivity[i], s.Likelihood.Sensitivity[i]
		d := diagnosis(p, l)
		quantities = append(quantities, scaledJSON{name, number(p), number(l), d})
		suspects[d] = append(suspects[d], diagnose.DisplayName(name))
	}
	findings := append(runProblems(fit, args[0]), unreliable(s)...)
	if names := suspects["not known"]; len(names) > 0 {
		findings = append(findings, diagnose.Finding{Code: "undefined", Severity: diagnose.Problem, Quantities: names[:min(5, len(names))],
			Summary: fmt.Sprintf("The sensitivity of %s is unknown, because draws are NaN or infinite.", count(len(names), "quantity", "quantities"))})
	}
	for _, f := range []struct{ what, code, advice string }{
		{"possible prior-data conflict", "prior-data-conflict", "Look whether the prior means what it was meant to, such as by its scale; a prior with longer tails gives way to the data."},
		{"strong prior or weak likelihood", "strong-prior", "Fine if the prior says what is known. Else choose it wider, or say how results change with it."},
	} {
		if names := suspects[f.what]; len(names) > 0 {
			text := strings.Join(names[:min(5, len(names))], ", ")
			if len(names) > 5 {
				text += ", …"
			}
			findings = append(findings, diagnose.Finding{Code: f.code, Severity: diagnose.Note,
				Summary: fmt.Sprintf("%s: %s. %s", strings.ToUpper(f.what[:1])+f.what[1:], text, scaled(s, o.prior)), Advice: f.advice})
		}
	}
	for _, left := range s.Left {
		what := "Neither in the likelihood nor in the prior: "
		if o.prior == "all" {
			what = "Taken for the prior: "
		}
		findings = append(findings, diagnose.Finding{Code: "left-out", Severity: diagnose.Problem,
			Summary: what + left.String() + ".",
			Advice:  "If such a statement is about data, the sensitivities to prior and likelihood are wrong."})
	}
	if o.json {
		return writeJSON(cmd.OutOrStdout(), sensitivityJSON{"sensitivity", quantities, number(s.Prior.K), number(s.Likelihood.K), notNil(s.Scaled), notNil(s.Unscaled), append([]diagnose.Finding{}, findings...)})
	}
	// Put the quantities that are most sensitive to the prior first.
	sorting.Stable(quantities, func(a, b scaledJSON) int {
		switch {
		case a.Prior > b.Prior:
			return -1
		case a.Prior < b.Prior:
			return 1
		}
		return 0
	})
	w := cmd.OutOrStdout()
	var b strings.Builder
	cells := [][]string{{"", "prior", "likelihood", "diagnosis"}}
	labels := labelsByName(fit)
	for _, q := range quantities {
		name := diagnose.DisplayName(q.Name)
		if l := labels[name]; l != "" {
			name += " " + l
		}
		cells = append(cells, []string{name, fixed(float64(q.Prior), 3), fixed(float64(q.Likelihood), 3), q.Diagnosis})
	}
	writeEstimates(&b, w, cells)
	if len(suspects["possible prior-data conflict"])+len(suspects["strong prior or weak likelihood"]) == 0 {
		b.WriteString("\n")
		writeParagraph(&b, "", scaled(s, o.prior), lineWidth(w))
	}
	if len(findings) > 0 || o.prior == "all" || len(s.Scaled) > 0 { // otherwise no prior was scaled
		writeBriefly(&b, findings, inBrief{details: sameVerbose, verbose: o.verbose, width: lineWidth(w)})
	}
	_, err = io.WriteString(w, b.String())
	return err
}
