package ppl

import (
	"math"
	"slices"

	"github.com/ppl-lang/ppl/criticise"
	"github.com/ppl-lang/ppl/infer/diagnose"
	"github.com/ppl-lang/ppl/infer/optimize"
)

// This file: draws that come from an approximation of the posterior, by package
// infer/optimize, and what is to be said about them.

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
	if method == "pathfinder" {
		return found // importance resampling has used up the weights
	}
	for _, a := range approximations {
		if a.method != method {
			continue
		}
		var d optimize.Draws
		for chain := range f.Draws.Chains() {
			p, ok := f.Draws.Statistic(nil, chain, a.density)
			q, ok2 := f.Draws.Statistic(nil, chain, a.own)
			if !ok || !ok2 {
				return found
			}
			d.LogP, d.LogQ = append(d.LogP, p...), append(d.LogQ, q...)
		}
		if slices.ContainsFunc(d.LogP, math.IsNaN) {
			return found // they were not asked for
		}
		_, k := d.Weights()
		found = append(criticise.Approximation(len(d.LogP), k), found...)
	}
	return found
}
