package diagnose

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/ppl-lang/ppl/infer/psis"
	"github.com/ppl-lang/ppl/internal/sorting"
)

// maxTail is the greatest shape k of a generalised Pareto distribution fitted to a tail for which
// means of draws are useful: with k = 0.7 an accurate one takes 2000 independent draws, with 0.8
// 100,000, and from 1 on there is no mean (Vehtari et al. 2024, "Pareto smoothed importance
// sampling", JMLR 25(72), section 3). That paper bounds k by 0.7 and, for few draws, by
// 1 - 1/log10(draws).
const maxTail = 0.7

// longTail is how far the most distant draw of a tail has to be for the tail to be fitted, in units
// of the distance from the median to the 5 or 95 % quantile. Of 1000 exponential draws it is at
// 3.3, of normal ones at 2.
const longTail = 4

// findHeavyTails looks for quantities whose mean does not exist or would take far more draws.
func findHeavyTails(e *evidence) found {
	shapes := map[string]float64{}
	var names []string
	var draws []float64
	for i, row := range e.rows {
		q := e.column(i)
		if q < 0 || row.Undefined > 0 || !(row.SD > 0) || math.IsInf(row.SD, 0) || math.IsNaN(row.Q50) || math.IsNaN(row.ESSBulk) {
			continue
		}
		draws = draws[:0]
		for _, chain := range e.chains {
			draws = e.draws.Column(draws, chain, q)
		}
		limit := maxTail
		if n := min(row.ESSBulk, float64(len(draws))); n > 10 {
			limit = min(limit, 1-1/math.Log10(n))
		}
		if k := tailShape(draws, row); k > max(limit, 0) {
			shapes[row.Name] = k
			names = append(names, row.Name)
		}
	}
	if len(names) == 0 {
		return found{}
	}
	sorting.Stable(names, func(a, b string) int { return cmp.Compare(shapes[b], shapes[a]) })
	worst := names[0]
	display := make([]string, len(names))
	for i, name := range names {
		display[i] = DisplayName(name)
	}
	what := fmt.Sprintf("The mean of %s", display[0])
	if len(names) > 1 {
		what = fmt.Sprintf("The means of %d quantities, such as %s,", len(names), display[0])
	}
	says := "would take far more draws than these"
	if shapes[worst] >= 1 {
		says = "may not exist"
	}
	return found{
		summary:    fmt.Sprintf("%s %s: the tail is heavy (Pareto k = %.2g).", what, says, shapes[worst]),
		brief:      fmt.Sprintf("%s %s, for the tail is heavy", what, says),
		quantities: display,
	}
}

// tailShape returns the shape k of a generalised Pareto distribution for the heavier of the two
// tails of draws: those beyond the 3·√(S/r) or S/5 most distant, with r the share of independent
// draws, as in R's posterior (pareto_khat). It is -Inf if no tail is long.
func tailShape(draws []float64, row Row) float64 {
	k := math.Inf(-1)
	lo, hi := slices.Min(draws), slices.Max(draws)
	for _, side := range []struct{ far, near, sign float64 }{{hi - row.Q50, row.Q95 - row.Q50, 1}, {row.Q50 - lo, row.Q50 - row.Q5, -1}} {
		if !(side.far > longTail*side.near) || math.IsInf(side.far, 0) {
			continue
		}
		s := float64(len(draws))
		share := min(1, row.ESSBulk/s)
		n := int(math.Ceil(min(s/5, 3*math.Sqrt(s/share))))
		if n < 5 || n >= len(draws) {
			continue
		}
		sorted := make([]float64, len(draws))
		for i, x := range draws {
			sorted[i] = side.sign * x
		}
		slices.Sort(sorted)
		tail := sorted[len(sorted)-n:]
		from := sorted[len(sorted)-n-1]
		if tail[0] == from { // whole numbers, of which many are equal
			continue
		}
		for i := range tail {
			tail[i] -= from
		}
		if shape, _ := psis.FitPareto(tail); !math.IsInf(shape, 0) {
			k = max(k, shape)
		}
	}
	return k
}
