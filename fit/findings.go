package fit

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/ppl-lang/ppl/compile"
	"github.com/ppl-lang/ppl/fit/folder"
	"github.com/ppl-lang/ppl/infer"
	"github.com/ppl-lang/ppl/infer/diagnose"
	"github.com/ppl-lang/ppl/infer/draws"
	"github.com/ppl-lang/ppl/model/predict"
)

// This file makes the findings about a run that need more than its draws.

// Draws beyond these sizes, on the scale of the parameter, count as those of an unbounded
// parameter. No parameter of a proper posterior is as large, in any sensible unit. On the logit
// scale, a much smaller number is already certainty.
const (
	farOff      = 1e6
	farOffLogit = 30
)

// RunFindings is [Fit.Findings] for a run of package infer, whose target need not be a model.
// config has the options of the run, with defaults filled in (see infer.Session.Config).
func RunFindings(d *draws.Store, report infer.Report, config infer.Config) []diagnose.Finding {
	f := &Fit{Draws: d, Report: report, config: config}
	return f.Findings()
}

// failedQuantities reports draws at which generated quantities could not be computed.
func (f *Fit) failedQuantities() []diagnose.Finding {
	n, total, reason := 0, 0, ""
	for i, c := range f.Report.Chains {
		total += f.Draws.Len(i)
		if c.Ungenerated > 0 && n == 0 {
			reason = c.UngeneratedReason
		}
		n += c.Ungenerated
	}
	if n == 0 {
		return nil
	}
	return []diagnose.Finding{{
		Code: "generated", Severity: diagnose.Problem,
		Summary: fmt.Sprintf("The generated quantities of %d of %d draws could not be computed and are NaN: %s.", n, total, strings.TrimSuffix(reason, ".")),
		Brief:   fmt.Sprintf("The generated quantities of %d of %d draws could not be computed", n, total),
		First:   "fix the statement, then generate them again",
		Advice:  "The draws of the parameters are valid. Fix the statement, then compute the generated quantities again for these draws.", Settings: []string{"generate"},
	}}
}

// planFaults lists the parts of the model that could not be compiled as planned.
func (f *Fit) planFaults() []string {
	switch {
	case f.posterior != nil:
		return f.posterior.Compiled().Loops().Faults
	case f.record != nil:
		return f.record.PlanFaults
	}
	return nil
}

// slowly reports what makes a run slow, but not wrong: an error of ppl, or a system that refuses
// memory for machine code.
func (f *Fit) slowly() []diagnose.Finding {
	faults := f.planFaults()
	if len(faults) == 0 {
		return nil
	}
	return []diagnose.Finding{{
		Code: "plan-fault", Severity: diagnose.Note,
		Summary: fmt.Sprintf("A part of the model could not be compiled as planned, and is interpreted (%s).", strings.TrimSuffix(strings.Join(faults, "; "), ".")),
		Brief:   "A part of the model is interpreted, which is slow",
		First:   "the draws are right; see the cause",
		Advice:  "The draws are right, but took longer. " + compile.FaultRemedy,
	}}
}

// Counts lists the integer parameters without an upper bound, as the run has summed them out.
func (f *Fit) Counts() (out []folder.Count) {
	switch {
	case f == nil || f.posterior == nil && f.record == nil:
		return nil
	case f.posterior == nil:
		return f.record.Cuts
	}
	for _, c := range f.posterior.Compiled().Cuts() {
		out = append(out, folder.Count(c))
	}
	return out
}

// counted reports where the sums over counts were cut.
func (f *Fit) counted() (out []diagnose.Finding) {
	for _, c := range f.Counts() {
		to := fmt.Sprintf("up to %d", c.Last)
		if c.Deepest > c.Last {
			to += fmt.Sprintf(", and up to %d at some points", c.Deepest)
		}
		finding := diagnose.Finding{
			Code: "counts", Severity: diagnose.Note, Quantities: []string{c.Name},
			Summary: fmt.Sprintf("%s has no upper bound and was summed %s: less than 1e-12 of the mass is beyond, at every point.", c.Name, to),
			Brief:   fmt.Sprintf("%s was summed %s", c.Name, to),
			First:   "less than 1e-12 of the mass is beyond, at every point",
			Advice:  "A bound of the mass beyond the last value was checked at every point where the density was evaluated.",
		}
		if c.Refused > 0 {
			finding.Summary += fmt.Sprintf(" %d points that need too many values were rejected.", c.Refused)
			finding.Advice += " Points that need too many values count as points of density 0. If there are many after warm-up, give the count an upper bound, or the parameters of its distribution tighter priors."
		}
		out = append(out, finding)
	}
	return out
}

// improper reports parameters without a prior that the data do not identify.
func (f *Fit) improper(rows []diagnose.Row) []diagnose.Finding {
	if f.posterior == nil && f.record == nil {
		return nil
	}
	m, err := f.Model()
	if err != nil {
		return nil
	}
	priors := predict.PriorsOf(m.Program())
	if len(priors.Without) == 0 {
		return nil
	}
	saturated, transitions := 0, 0
	for _, c := range f.Sampling() {
		saturated += c.Saturated
		transitions += c.Draws
	}
	limit := farOff
	if priors.Logistic {
		limit = farOffLogit
	}
	var worst []string
	largest := 0.0
	var column []float64
	for i, name := range f.Draws.Names() {
		if !slices.Contains(priors.Without, diagnose.VariableName(name)) {
			continue
		}
		row := diagnose.Row{Rhat: math.NaN()} // if there is no summary, judge by the draws alone
		if at := slices.IndexFunc(rows, func(r diagnose.Row) bool { return r.Name == diagnose.DisplayName(name) }); at >= 0 {
			row = rows[at]
		}
		if row.Rhat < 1.01 && !(math.Abs(row.Q95) > farOff) {
			continue
		}
		far := 0.0
		for chain := range f.Draws.Chains() {
			column = f.Draws.Column(column[:0], chain, i)
			for _, v := range column {
				far = max(far, math.Abs(v))
			}
		}
		// If chains disagree and most trajectories go straight on until the maximum depth, the
		// chains are on a ridge without end.
		if far > limit || row.Rhat > 1.05 && 10*saturated > transitions {
			worst = append(worst, diagnose.DisplayName(name))
			largest = max(largest, far)
		}
	}
	if worst == nil {
		return nil
	}
	code, what, advice := "improper",
		"has no prior, and its transitions wander off",
		"The posterior seems to be improper: its density has no finite integral, so no draws can describe it. Give the parameter a prior, such as "+
			worst[0]+" ~ normal(0, 10) on its scale, or bounds on both sides."
	noPrior, wander, first := worst[0]+" has", "no prior and wanders off", "the posterior seems improper, so give a prior or two bounds"
	if n := len(worst); n > 1 {
		noPrior, wander = list(worst)+" have", "no prior and wander off"
		if n > 3 {
			noPrior = fmt.Sprintf("%s, %s and %d more have", worst[0], worst[1], n-2)
		}
	}
	if priors.Logistic {
		wander += " on the logit scale"
		first = "the outcomes are separated, so give a prior, such as normal(0, 2.5)"
		code, what = "separation", "has no prior, and its transitions wander off on the logit scale"
		advice = "This is complete separation: a combination of the predictors predicts every outcome without error. The likelihood therefore grows without end with the coefficients. Give them a prior, such as normal(0, 2.5)."
	}
	return []diagnose.Finding{{
		Code: code, Severity: diagnose.Problem, Quantities: worst[:min(len(worst), 5)],
		Summary: fmt.Sprintf("%s %s, up to %.3g.", worst[0], what, largest), Advice: advice,
		Brief: fmt.Sprintf("%s %s to %.2g", noPrior, wander, largest), First: first,
	}}
}
