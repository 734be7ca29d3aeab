package diagnose

import (
	"cmp"
	"math"
	"slices"
)

// Divergence is a divergent transition, by where it ended.
type Divergence struct {
	Chain  int       `json:"chain"` // from 0
	Draw   int       `json:"draw"`  // from 0, after warm-up
	Values []float64 `json:"-"`     // of the draw, one per quantity
}

// Divergences lists the divergent transitions of a run, chain by chain; nil if
// the sampler does not report them. They crowd where the geometry is bad.
func Divergences(d Draws) []Divergence { return divergences(d, len(d.Names())) }

// divergences is Divergences with the values of the first quantities alone.
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

// Where divergences crowd is looked for among so many quantities at most. Fewer of
// them than crowdDivergences prove nothing, but where one is in the outermost part
// of a quantity's draws is where to look.
const (
	crowdQuantities  = 2000
	crowdDivergences = 5
	crowdScore       = 4    // standard errors of the mean rank
	crowdTail        = 0.02 // part of the draws on either side
)

// crowded names the quantities, among those of some columns, in which divergent draws
// differ most from the others, by their mean rank, the worst first.
func crowded(d Draws, divergences []Divergence, columns []int) []string {
	n := float64(len(divergences))
	// Of a few, only the quantities are named in which all lie far out.
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
	slices.SortStableFunc(shifts, func(a, b shift) int { return cmp.Compare(b.score, a.score) })
	names := make([]string, len(shifts))
	for i, s := range shifts {
		names[i] = s.name
	}
	return names
}

// meanRank is the mean of the ranks of marks among values, which they belong to, as a share
// from 0 to 1; ties have the middle of theirs. It sorts the marks.
func meanRank(marks, values []float64) float64 {
	const few = 8
	twice := 0 // the ranks, from 0
	if len(marks) <= few {
		for _, m := range marks {
			for _, v := range values {
				less, least := 0, 0 // without branches, which would be guessed wrong
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
	// Each value is looked for among the marks, which are fewer than the values.
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

// Sampling is how the sampler of one chain has fared, after warm-up.
type Sampling struct {
	Draws       int
	Divergences int
	Saturated   int     // trees that had the largest depth
	AcceptStat  float64 // mean; NaN if not reported
	EBFMI       float64 // NaN if not reported
	StepSize    float64 // mean; NaN if not reported
	Leapfrogs   float64 // integration steps in all; NaN if not reported
}

// SamplingOf tells how the samplers of a run have fared, by chain. maxTreeDepth
// is the limit that NUTS ran with: 0: 10; negative: none.
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

// Efficiency is what a run has to show for its cost: the least effective sample
// sizes of all quantities that vary, absolutely and by gradients and seconds. A
// quantity that varies but has no effective sample size (it is not finite
// somewhere, or there are too few draws) makes the figure NaN; only tails may be
// missing, those of a quantity with few values. What does not exist is NaN.
type Efficiency struct {
	MinBulk, MinTail, MinSquares       float64
	WorstBulk, WorstTail, WorstSquares string  // the quantities that have them
	PerGradient, PerSecond             float64 // of the smallest, warm-up not counted
	PerGradientAll, PerSecondAll       float64 // warm-up counted
}

// EfficiencyOf relates the rows of a run, with the effective sample sizes of their
// squared deviations, to its cost in gradients and seconds of warm-up and sampling.
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
	least := min(e.MinBulk, e.MinSquares) // NaN if either is
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
