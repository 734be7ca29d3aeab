package diagnose

import (
	"cmp"
	"math"
	"slices"

	"github.com/ppl-lang/ppl/internal/sorting"
)

// Divergence is a divergent transition with the draw at which it ended.
type Divergence struct {
	Chain  int       `json:"chain"` // from 0
	Draw   int       `json:"draw"`  // from 0, after warm-up
	Values []float64 `json:"-"`     // of the draw, one per quantity
}

// Divergences lists the divergent transitions of a run, chain by chain; nil if the sampler does not
// report them. They are concentrated where the geometry is difficult.
func Divergences(d Draws) []Divergence { return divergences(d, len(d.Names())) }

// divergences is Divergences with the values of the first quantities only.
func divergences(d Draws, quantities int) []Divergence {
	s, ok := d.(Statistics)
	if !ok {
		return nil
	}
	var found []Divergence
	for chain := range d.Chains() {
		column, ok := s.Statistic(nil, chain, "divergent__")
		if !ok {
			return nil
		}
		for draw, v := range column {
			if v != 0 {
				found = append(found, Divergence{Chain: chain, Draw: draw, Values: make([]float64, quantities)})
			}
		}
	}
	if len(found) == 0 {
		return found
	}
	var column []float64
	for q := range quantities {
		last := -1
		for i := range found {
			if found[i].Chain != last {
				last = found[i].Chain
				column = d.Column(column[:0], last, q)
			}
			found[i].Values[q] = column[found[i].Draw]
		}
	}
	return found
}

// Limits of the search for quantities in which divergences are concentrated (crowded). With fewer
// than crowdDivergences, ranks prove nothing, but a quantity is still named if all divergences are
// in its extreme tail.
const (
	crowdQuantities  = 2000
	crowdDivergences = 5
	crowdScore       = 4    // in standard errors of the mean rank
	crowdTail        = 0.02 // share of the draws on either side
)

// crowded names the quantities, among the given columns, in which the mean rank of divergent draws
// differs most from the other draws', the worst first.
func crowded(d Draws, divergences []Divergence, columns []int) []string {
	n := float64(len(divergences))
	// With few divergences, name only quantities in which all lie in the extreme tail.
	limit := crowdScore / math.Sqrt(12*n)
	if len(divergences) < crowdDivergences {
		limit = 0.5 - crowdTail
	}
	type shift struct {
		name  string
		score float64
	}
	var shifts []shift
	var column, marks []float64
	for _, q := range columns {
		marks = marks[:0]
		for _, v := range divergences {
			marks = append(marks, v.Values[q])
		}
		column = column[:0]
		for chain := range d.Chains() {
			column = d.Column(column, chain, q)
		}
		if score := math.Abs(meanRank(marks, column) - 0.5); score > limit && !constant(column) {
			shifts = append(shifts, shift{d.Names()[q], score})
		}
	}
	sorting.Stable(shifts, func(a, b shift) int { return cmp.Compare(b.score, a.score) })
	names := make([]string, len(shifts))
	for i, s := range shifts {
		names[i] = s.name
	}
	return names
}

// meanRank returns the mean rank of marks among values, as a share from 0 to 1. Marks are some of
// the values; ties get their average rank. It sorts the marks.
func meanRank(marks, values []float64) float64 {
	const few = 8
	twice := 0 // twice the sum of the ranks, which count from 0
	if len(marks) <= few {
		for _, m := range marks {
			for _, v := range values {
				less, least := 0, 0 // without branches, which would be mispredicted
				if v < m {
					less = 1
				}
				if v <= m {
					least = 1
				}
				twice += less + least
			}
		}
		return 0.5 * float64(twice) / float64(len(marks)*len(values))
	}
	// Search each value among the marks, which are fewer than the values.
	slices.Sort(marks)
	below, equal := make([]int, len(marks)+1), make([]int, len(marks))
	for _, v := range values {
		if i, found := slices.BinarySearch(marks, v); found {
			equal[i]++
		} else {
			below[i]++
		}
	}
	before, at := 0, 0
	for i := range marks {
		if i == 0 || marks[i] != marks[i-1] {
			if i > 0 {
				before += equal[at]
			}
			at = i
		}
		before += below[i]
		twice += 2*before + equal[at]
	}
	return 0.5 * float64(twice) / float64(len(marks)*len(values))
}

// Sampling has statistics of the sampler of one chain after warm-up.
type Sampling struct {
	Draws       int
	Divergences int
	Saturated   int     // trees of the maximum depth
	AcceptStat  float64 // mean; NaN if not reported
	EBFMI       float64 // NaN if not reported
	StepSize    float64 // mean; NaN if not reported
	Leapfrogs   float64 // total number of integration steps; NaN if not reported
}

// SamplingOf returns the statistics of the sampler for each chain of a run. maxTreeDepth is the
// limit of NUTS; 0 means 10, negative no limit.
func SamplingOf(d Draws, maxTreeDepth int) []Sampling {
	if maxTreeDepth == 0 {
		maxTreeDepth = 10
	}
	s, _ := d.(Statistics)
	out := make([]Sampling, d.Chains())
	for chain := range out {
		o := &out[chain]
		o.Draws = d.Len(chain)
		column := func(name string) []float64 {
			if s == nil {
				return nil
			}
			v, _ := s.Statistic(nil, chain, name)
			return v
		}
		o.Divergences, _, _ = divergedOf(d, chain)
		for _, v := range column("treedepth__") {
			if maxTreeDepth > 0 && v >= float64(maxTreeDepth) {
				o.Saturated++
			}
		}
		o.AcceptStat, o.StepSize, o.Leapfrogs = math.NaN(), math.NaN(), math.NaN()
		if v := column("accept_stat__"); len(v) > 0 {
			o.AcceptStat = mean(v)
		}
		if v := column("stepsize__"); len(v) > 0 {
			o.StepSize = mean(v)
		}
		if v := column("n_leapfrog__"); len(v) > 0 {
			o.Leapfrogs = mean(v) * float64(len(v))
		}
		o.EBFMI = EBFMI(column("energy__"))
	}
	return out
}

// Efficiency relates the effective sample sizes of a run to its cost. It has the smallest effective
// sample sizes of all quantities that vary, in total and per gradient and second.
//
// A quantity that varies but has no effective sample size, because a draw is not finite or there
// are too few draws, makes the figure NaN. Only a tail ESS may be missing, for quantities with few
// distinct values. Undefined figures are NaN.
type Efficiency struct {
	MinBulk, MinTail, MinSquares       float64
	WorstBulk, WorstTail, WorstSquares string  // the quantities with these minima
	PerGradient, PerSecond             float64 // the smallest minimum by cost, without warm-up
	PerGradientAll, PerSecondAll       float64 // the same, including warm-up
}

// EfficiencyOf computes the [Efficiency] of a run from its rows, the effective sample sizes of its
// squared deviations (see [ESSSquares]), and its cost in gradients and seconds.
func EfficiencyOf(rows []Row, squares []float64, warmupGradients, samplingGradients, warmupSeconds, samplingSeconds float64) Efficiency {
	e := Efficiency{MinBulk: math.NaN(), MinTail: math.NaN(), MinSquares: math.NaN()}
	take := func(ess float64, name string, smallest *float64, worst *string) {
		if !(*smallest <= ess) && (*worst == "" || !math.IsNaN(*smallest)) {
			*smallest, *worst = ess, name
		}
	}
	for i, r := range rows {
		if r.SD == 0 || math.IsNaN(r.SD) && !math.IsNaN(r.ESSBulk) {
			continue
		}
		take(r.ESSBulk, r.Name, &e.MinBulk, &e.WorstBulk)
		take(squares[i], r.Name, &e.MinSquares, &e.WorstSquares)
		if !math.IsNaN(r.ESSTail) {
			take(r.ESSTail, r.Name, &e.MinTail, &e.WorstTail)
		}
	}
	least := min(e.MinBulk, e.MinSquares) // NaN if one of them is NaN
	if e.MinTail < least {
		least = e.MinTail
	}
	per := func(cost float64) float64 {
		if !(cost > 0) {
			return math.NaN()
		}
		return least / cost
	}
	e.PerGradient, e.PerSecond = per(samplingGradients), per(samplingSeconds)
	e.PerGradientAll = per(warmupGradients + samplingGradients)
	e.PerSecondAll = per(warmupSeconds + samplingSeconds)
	return e
}
