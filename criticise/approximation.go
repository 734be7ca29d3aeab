package criticise

import (
	"fmt"
	"math"

	"github.com/ppl-lang/ppl/infer/diagnose"
	"github.com/ppl-lang/ppl/infer/psis"
)

// Approximation says whether draws of an approximation are close enough to the
// posterior, by the Pareto k of their importance weights; NaN: nothing is known.
func Approximation(draws int, k float64) []diagnose.Finding {
	limit := psis.Limit(max(draws, 2))
	if math.IsNaN(k) || k <= limit {
		return nil
	}
	summary := fmt.Sprintf("The approximation is not close to the posterior: Pareto k is %.2g, above %.2g.", k, limit)
	if math.IsInf(k, 1) {
		summary = "How close the approximation is to the posterior cannot be told: the importance weights of its draws have no tail to judge."
	}
	return []diagnose.Finding{{Code: "pareto-k", Severity: diagnose.Problem, Summary: summary,
		Advice:   "Take means and intervals as rough, and the draws as starting points of a sampler. Reparametrise where the posterior is far from normal on the unconstrained scale.",
		Settings: []string{"init=pathfinder"}}}
}
