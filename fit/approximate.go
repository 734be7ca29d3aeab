package fit

import (
	"fmt"
	"math"
	"slices"

	"github.com/ppl-lang/ppl/infer/diagnose"
	"github.com/ppl-lang/ppl/infer/optimize"
	"github.com/ppl-lang/ppl/infer/psis"
	"github.com/ppl-lang/ppl/model"
)

// This file handles fits whose draws come from an approximation of the posterior, made by package
// infer/optimize: how to recognise them, and findings about them.

// approximations lists the approximation methods and the columns in their files. own is the column
// with the log density of the approximation; its name identifies the method. density is the column
// with that of the posterior.
var approximations = []struct{ method, own, density string }{
	{"laplace", "log_q__", "log_p__"},
	{"pathfinder", "lp_approx__", "lp__"},
	{"variational", "log_g__", "log_p__"},
}

// Approximate returns the name of the method if the draws come from an approximation of the
// posterior, and "" if they were sampled.
func (f *Fit) Approximate() string {
	if f.Err() != nil {
		return ""
	}
	for _, a := range approximations {
		if slices.Contains(f.Draws.Columns().StatisticNames(), a.own) {
			return a.method
		}
	}
	return ""
}

// approximationFindings replaces the findings about chains by one about the approximation, if the
// draws come from one.
func (f *Fit) approximationFindings(found []diagnose.Finding) []diagnose.Finding {
	method := f.Approximate()
	if method == "" {
		return found
	}
	found = withoutChains(found)
	n := 0
	for chain := range f.Draws.Chains() {
		n += f.Draws.Len(chain)
	}
	return append(ApproximationFindings(n, f.closeness()), found...)
}

// withoutChains drops findings that apply only to chains.
func withoutChains(found []diagnose.Finding) []diagnose.Finding {
	return slices.DeleteFunc(found, func(d diagnose.Finding) bool {
		return slices.Contains([]string{"one-chain", "rhat", "ess", "incomplete"}, d.Code)
	})
}

// IndependentFindings checks draws that do not come from a chain, such as those of an
// approximation: whether they are finite, and whether they vary. rows are their summary, see
// [diagnose.Check]. names are the columns of the draws: with them and the model, elements that a
// type fixes and discrete parameters may be constant.
func IndependentFindings(m *model.Model, names []string, d diagnose.Draws, rows []diagnose.Row) []diagnose.Finding {
	options := diagnose.Options{}
	if m != nil {
		options.Fixed = mayStay(m, names)
	}
	return withoutChains(diagnose.Check(d, rows, options))
}

// closeness is the Pareto k of the importance weights of an approximation's draws. It is NaN if
// there are no weights. Pathfinder has none, because its draws were resampled by their weights; nor
// do draws of which some have no log density.
func (f *Fit) closeness() float64 {
	method := f.Approximate()
	for _, a := range approximations {
		if a.method != method || method == "pathfinder" {
			continue
		}
		var d optimize.Draws
		for chain := range f.Draws.Chains() {
			p, ok := f.Draws.Statistic(nil, chain, a.density)
			q, ok2 := f.Draws.Statistic(nil, chain, a.own)
			if !ok || !ok2 {
				return math.NaN()
			}
			d.LogP, d.LogQ = append(d.LogP, p...), append(d.LogQ, q...)
		}
		if slices.ContainsFunc(d.LogP, math.IsNaN) {
			return math.NaN()
		}
		_, k := d.Weights()
		return k
	}
	return math.NaN()
}

// ApproximationFindings reports whether the draws of an approximation are too far from the
// posterior, judged by the Pareto k of their importance weights. If k is NaN, it reports that this
// is unknown.
func ApproximationFindings(draws int, k float64) []diagnose.Finding {
	limit := psis.Limit(max(draws, 2))
	switch {
	case k <= limit:
		return nil
	case math.IsNaN(k):
		return []diagnose.Finding{{Code: "closeness-unknown", Severity: diagnose.Note,
			Summary: "The error of the approximation is unknown, because its draws have no importance weights.",
			Brief:   "The error of the approximation is unknown", First: "weigh draws that were not resampled",
			Advice: "Weights need log densities, and draws that were not resampled by them. The command that makes the approximation prints their Pareto k."}}
	}
	summary := fmt.Sprintf("The approximation is not close to the posterior: Pareto k is %.2g, above %.2g.", k, limit)
	brief := fmt.Sprintf("The approximation is not close to the posterior (Pareto k %.2g, above %.2g)", k, limit)
	if math.IsInf(k, 1) {
		brief = "The error of the approximation is unknown"
		summary = "The error of the approximation is unknown, because the importance weights of its draws have no tail."
	}
	return []diagnose.Finding{{Code: "pareto-k", Severity: diagnose.Problem, Summary: summary,
		Brief: brief, First: "take the figures as rough, and sample from these draws",
		Advice:   "Treat means and intervals as rough, and use the draws as starting points of a sampler. Reparametrise where the posterior is far from normal on the unconstrained scale.",
		Settings: []string{"init=pathfinder"}}}
}
