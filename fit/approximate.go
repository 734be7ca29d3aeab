package fit

import (
	"fmt"
	"math"
	"slices"

	"github.com/ppl-lang/ppl/infer/diagnose"
	"github.com/ppl-lang/ppl/infer/optimize"
	"github.com/ppl-lang/ppl/infer/psis"
)

// This file: draws that come from an approximation of the posterior, by package
// infer/optimize, and what is reported about them.

// approximations are the methods, by the column that only they have; density and own are
// those of the log densities of the posterior and of the approximation.
var approximations = []struct{ method, own, density string }{
	{"laplace", "log_q__", "log_p__"},
	{"pathfinder", "lp_approx__", "lp__"},
	{"variational", "log_g__", "log_p__"},
}

// Approximate names the method that the draws come from if they are those of an
// approximation of the posterior; "" if they were sampled.
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

// approximationFindings replaces what is said of chains, which these draws are not.
func (f *Fit) approximationFindings(found []diagnose.Finding) []diagnose.Finding {
	method := f.Approximate()
	if method == "" {
		return found
	}
	found = slices.DeleteFunc(found, func(d diagnose.Finding) bool {
		return slices.Contains([]string{"one-chain", "rhat", "ess", "incomplete"}, d.Code)
	})
	n := 0
	for chain := range f.Draws.Chains() {
		n += f.Draws.Len(chain)
	}
	return append(ApproximationFindings(n, f.closeness()), found...)
}

// closeness is the Pareto k of the importance weights of an approximation's draws; NaN where
// they have none: resampling has used up those of pathfinder, and not all are asked for.
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

// ApproximationFindings says whether draws of an approximation are close enough to the
// posterior, by the Pareto k of their importance weights, and that it is not known where k is NaN.
func ApproximationFindings(draws int, k float64) []diagnose.Finding {
	limit := psis.Limit(max(draws, 2))
	switch {
	case k <= limit:
		return nil
	case math.IsNaN(k):
		return []diagnose.Finding{{Code: "closeness-unknown", Severity: diagnose.Note,
			Summary: "How close the approximation is to the posterior is not known: its draws have no importance weights.",
			Advice:  "Weights need log densities, and draws that were not resampled by them. What approximates prints their Pareto k."}}
	}
	summary := fmt.Sprintf("The approximation is not close to the posterior: Pareto k is %.2g, above %.2g.", k, limit)
	if math.IsInf(k, 1) {
		summary = "How close the approximation is to the posterior cannot be told: the importance weights of its draws have no tail to judge."
	}
	return []diagnose.Finding{{Code: "pareto-k", Severity: diagnose.Problem, Summary: summary,
		Advice:   "Take means and intervals as rough, and the draws as starting points of a sampler. Reparametrise where the posterior is far from normal on the unconstrained scale.",
		Settings: []string{"init=pathfinder"}}}
}
