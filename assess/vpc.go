package assess

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/ppl-lang/ppl/assess/criticise"
	"github.com/ppl-lang/ppl/compile/data"
	"github.com/ppl-lang/ppl/infer/diagnose"
	"github.com/ppl-lang/ppl/internal/sorting"
	"github.com/ppl-lang/ppl/model"
)

// This file makes visual predictive checks: quantiles of an outcome along a column, with those of
// the replications. Prediction correction is that of Bergstrand, Hooker, Wallin and Karlsson (AAPS
// Journal 13, 2011): observations of a bin that differ because of doses or covariates are made
// comparable by their population predictions.

// Correction says how observations of a bin are made comparable.
type Correction string

// The corrections.
const (
	NoCorrection Correction = ""
	ByRatio      Correction = "ratio"      // times the median prediction of the bin, over the prediction
	ByDifference Correction = "difference" // plus the median prediction of the bin, minus the prediction
)

// Corrections lists the names of the corrections.
func Corrections() []string { return []string{string(ByRatio), string(ByDifference)} }

// ErrNoPrediction says that the population predictions must be named, because the replications do
// not follow from the model.
var ErrNoPrediction = errors.New("the replications are generated quantities, so the population predictions are not known")

// vpcBins is the number of bins of a stratum by default.
const vpcBins = 10

// ShareCensored is the name of the check of the share of censored values.
const ShareCensored = "censored"

// VPCOptions are options of a visual predictive check.
type VPCOptions struct {
	X       string    // the column along which outcomes are compared; it may have an index, as in time[iObs]
	Bins    int       // maximum number of bins of each stratum; 0: 10
	Edges   []float64 // limits of bins, increasing, instead of Bins; each bin is at or above its lower limit
	Correct Correction

	// Prediction names the population predictions: a variable with an element for each row of the
	// outcome among the draws, or one with an index. "": the expected outcomes, with redrawn
	// parameters at their means.
	Prediction string
}

// VPC is a visual predictive check of an outcome.
type VPC struct {
	X       string
	By      []string
	Correct Correction
	Cells   []VPCCell // in the order of strata and, within a stratum, of bins

	// Limits below or above which observations are censored; NaN without. Replications beyond a
	// limit count as the limit, like the data.
	Lower, Upper float64

	// P is a p-value for all quantiles together: the share of replications whose most deviating
	// quantile deviates, in standard deviations, more than any quantile of the data.
	P float64

	// Limit is the number of standard deviations that the most deviating quantile stays within, in
	// 99 % of the replications.
	Limit float64
}

// VPCCell is a bin of a stratum.
type VPCCell struct {
	By                []Setting // the stratum
	Low, Middle, High float64   // minimum, median and maximum of the column
	Rows              int
	Checks            []VPCCheck
	X, Y              []float64 // the observations, corrected; some of them if there are many
}

// VPCCheck compares a quantile of the observations with that of the replications.
type VPCCheck struct {
	criticise.Check
	Deviation float64 // in standard deviations of the replications
}

// Odd lists the checks whose deviation exceeds the limit, each with its cell.
func (v *VPC) Odd() (cells []VPCCell, checks []VPCCheck) {
	if v == nil {
		return nil, nil
	}
	for _, c := range v.Cells {
		for _, k := range c.Checks {
			if math.Abs(k.Deviation) > v.Limit {
				cells, checks = append(cells, c), append(checks, k)
			}
		}
	}
	return cells, checks
}

// vpcQuantiles are the quantiles that are compared, with their names.
func vpcQuantiles() []struct {
	name string
	p    float64
} {
	return []struct {
		name string
		p    float64
	}{{"5%", 0.05}, {"50%", 0.5}, {"95%", 0.95}}
}

// vpcResults has the quantiles of a variable at every draw.
type vpcResults struct {
	VPC
	members      [][]int   // elements of the variable in each cell
	x            []float64 // the column, by element
	scale, shift []float64
	values       [][][]float64 // by cell and check, the value at every draw
}

// newVisual prepares the check of a variable. predictions has the population prediction of each
// element, if they are used.
func newVisual(values *data.Set, o PredictiveOptions, v *replicated, predictions []float64) (*vpcResults, error) {
	r := &vpcResults{VPC: VPC{X: o.VPC.X, By: o.By, Correct: o.VPC.Correct}}
	var err error
	if r.Lower, r.Upper, err = v.limits(); err != nil {
		return nil, err
	}
	x, err := elementsOf(values, dataColumn(values), o.VPC.X, v)
	if err != nil {
		return nil, err
	}
	r.x = x
	strata := make([][]float64, len(o.By))
	for k, name := range o.By {
		if strata[k], err = elementsOf(values, dataColumn(values), name, v); err != nil {
			return nil, err
		}
	}
	key := func(i int) (out []float64) {
		for _, s := range strata {
			out = append(out, s[i])
		}
		return out
	}
	order := make([]int, 0, len(x))
	for i := range x {
		if !math.IsNaN(x[i]) && !slices.ContainsFunc(key(i), math.IsNaN) {
			order = append(order, i)
		}
	}
	sorting.Stable(order, func(a, b int) int { return cmp.Or(slices.Compare(key(a), key(b)), cmp.Compare(x[a], x[b])) })
	for first := 0; first < len(order); {
		last := first + 1
		for last < len(order) && slices.Equal(key(order[first]), key(order[last])) {
			last++
		}
		own := order[first:last]
		var by []Setting
		for k, name := range o.By {
			by = append(by, settingOf(baseName(name), strata[k][own[0]], values))
		}
		sorted := make([]float64, len(own))
		for k, i := range own {
			sorted[k] = x[i]
		}
		ends := append(cuts(sorted, cmp.Or(o.VPC.Bins, vpcBins), o.VPC.Edges), len(own))
		begin := 0
		for _, end := range ends {
			if end == begin {
				continue
			}
			r.Cells = append(r.Cells, VPCCell{By: by, Low: sorted[begin], High: sorted[end-1], Middle: quantileOf(sorted[begin:end], 0.5), Rows: end - begin})
			r.members = append(r.members, own[begin:end])
			begin = end
		}
		first = last
	}
	if len(r.Cells) == 0 {
		return nil, fmt.Errorf("%s has no value for any row of %s", o.VPC.X, v.name)
	}
	if err := r.correct(v, predictions); err != nil {
		return nil, err
	}
	return r, nil
}

// prepare makes room for the results of all draws.
func (r *vpcResults) prepare(draws int) {
	if r == nil {
		return
	}
	checks := len(vpcQuantiles())
	if !math.IsNaN(r.Lower) || !math.IsNaN(r.Upper) {
		checks++
	}
	r.values = make([][][]float64, len(r.Cells))
	for c := range r.values {
		r.values[c] = make([][]float64, checks)
		for k := range r.values[c] {
			r.values[c][k] = make([]float64, draws)
		}
	}
}

// limits returns the values at which elements are censored from below and above; NaN if none is.
func (v *replicated) limits() (lower, upper float64, err error) {
	lower, upper = math.NaN(), math.NaN()
	for i, side := range v.side {
		limit := &lower
		switch {
		case side == 0:
			continue
		case side > 1:
			return 0, 0, fmt.Errorf("values are in intervals, such as one from %g", v.y[i])
		case side > 0:
			limit = &upper
		}
		if !math.IsNaN(*limit) && *limit != v.y[i] {
			return 0, 0, fmt.Errorf("values are censored at different limits, such as %g and %g", *limit, v.y[i])
		}
		*limit = v.y[i]
	}
	return lower, upper, nil
}

// cuts returns the positions at which sorted values are divided into bins. Without edges, each
// distinct value is a bin if there are at most so many. Otherwise bins have about as many values
// each, and are cut at the widest gap nearby, so that values around one planned time stay together.
func cuts(sorted []float64, bins int, edges []float64) (at []int) {
	if edges != nil {
		for _, e := range edges {
			k, _ := slices.BinarySearch(sorted, e)
			at = append(at, k)
		}
		return at
	}
	n := len(sorted)
	for k := 1; k < n; k++ {
		if sorted[k] != sorted[k-1] {
			at = append(at, k)
		}
	}
	if len(at) < bins {
		return at
	}
	at = nil
	for b := 1; b < bins; b++ {
		best, width := 0, 0.0
		for away := range n/(2*bins) + 1 { // of equal gaps, the nearest counts
			for _, k := range []int{b*n/bins - away, b*n/bins + away} {
				if k < 1 || k >= n {
					continue
				}
				if gap := sorted[k] - sorted[k-1]; gap > width*(1+1e-9) {
					best, width = k, gap
				}
			}
		}
		if best > 0 && (len(at) == 0 || best > at[len(at)-1]) {
			at = append(at, best)
		}
	}
	return at
}

// correct finds the factors and shifts that make the elements of each cell comparable.
func (r *vpcResults) correct(v *replicated, predictions []float64) error {
	r.scale, r.shift = slices.Repeat([]float64{1}, len(v.y)), make([]float64, len(v.y))
	if r.Correct == NoCorrection {
		return nil
	}
	for _, own := range r.members {
		var all []float64
		for _, i := range own {
			all = append(all, predictions[i])
		}
		slices.Sort(all)
		middle := quantileOf(all, 0.5)
		for _, i := range own {
			switch p := predictions[i]; {
			case math.IsNaN(p) || math.IsInf(p, 0):
				return fmt.Errorf("the population prediction of %s is %g", v.elements[i], p)
			case r.Correct == ByDifference:
				r.shift[i] = middle - p
			case p <= 0:
				return fmt.Errorf("the population prediction of %s is %g, so there is no ratio; correct by the difference", v.elements[i], p)
			default:
				r.scale[i] = middle / p
			}
		}
	}
	return nil
}

// of computes the checks of a cell from the values y of the variable.
func (r *vpcResults) of(cell int, y, dst []float64) {
	own := make([]float64, 0, len(r.members[cell]))
	censored := 0
	for _, i := range r.members[cell] {
		x := y[i]
		if x <= r.Lower || x >= r.Upper {
			censored++
		}
		if !math.IsNaN(r.Lower) {
			x = max(x, r.Lower)
		}
		if !math.IsNaN(r.Upper) {
			x = min(x, r.Upper)
		}
		own = append(own, x*r.scale[i]+r.shift[i])
	}
	for k, q := range vpcQuantiles() {
		dst[k] = math.NaN()
		if !slices.ContainsFunc(own, math.IsNaN) {
			slices.Sort(own)
			dst[k] = quantileOf(own, q.p)
		}
	}
	if n := len(vpcQuantiles()); len(dst) > n {
		dst[n] = float64(censored) / float64(len(own))
	}
}

// quantileOf interpolates linearly between sorted values.
func quantileOf(sorted []float64, p float64) float64 {
	at := p * float64(len(sorted)-1)
	low := min(int(at), len(sorted)-1)
	return sorted[low] + (at-float64(low))*(sorted[min(low+1, len(sorted)-1)]-sorted[low])
}

// add computes the checks of y, the replication at a draw.
func (r *vpcResults) add(draw int, y []float64) {
	if r == nil {
		return
	}
	dst := make([]float64, len(r.values[0]))
	for c := range r.Cells {
		r.of(c, y, dst)
		for k, x := range dst {
			r.values[c][k][draw] = x
		}
	}
}

// finish compares y, the data, with the replications.
func (r *vpcResults) finish(y []float64) *VPC {
	if r == nil {
		return nil
	}
	out := r.VPC
	out.Cells = slices.Clone(r.Cells)
	largest := make([]float64, len(r.values[0][0])) // the largest deviation in each replication
	observed := 0.0
	step := max(1, len(y)/shownObservations)
	names := []string{}
	for _, q := range vpcQuantiles() {
		names = append(names, q.name)
	}
	names = append(names, ShareCensored)
	dst := make([]float64, len(r.values[0]))
	for c := range out.Cells {
		cell := &out.Cells[c]
		r.of(c, y, dst)
		for k, x := range dst {
			check := VPCCheck{Check: criticise.NewCheck(names[k], x, r.values[c][k])}
			deviation := func(x float64) float64 {
				if d := x - check.Mean; d != 0 {
					return d / check.SD
				}
				return 0
			}
			check.Deviation = deviation(x)
			if !math.IsNaN(check.Deviation) {
				observed = max(observed, math.Abs(check.Deviation))
			}
			for d, rep := range r.values[c][k] {
				if z := math.Abs(deviation(rep)); !math.IsNaN(z) {
					largest[d] = max(largest[d], z)
				}
			}
			cell.Checks = append(cell.Checks, check)
		}
	}
	for c, own := range r.members {
		cell := &out.Cells[c]
		for k := 0; k < len(own); k += step {
			i := own[k]
			cell.X, cell.Y = append(cell.X, r.x[i]), append(cell.Y, y[i]*r.scale[i]+r.shift[i])
		}
	}
	if slices.ContainsFunc(y, math.IsNaN) {
		out.P, out.Limit = math.NaN(), math.NaN()
		return &out
	}
	out.P = criticise.NewCheck("", observed, largest).P
	out.Limit = diagnose.Quantiles(largest, 0.99)[0]
	return &out
}

// visual prepares the checks of all variables. The error is that of the only variable, or one about
// population predictions.
func (r *replication) visual(ctx context.Context, m *model.Model, b model.BindOptions, o PredictiveOptions) error {
	var means map[*replicated]expectation
	if o.VPC.Correct != NoCorrection && o.VPC.Prediction == "" {
		if r.quantities != nil {
			return ErrNoPrediction
		}
		if len(r.redraw) == 0 && len(r.varying) > 0 {
			return fmt.Errorf("the population prediction needs %s at their means, but they are not drawn anew", strings.Join(r.varying, ", "))
		}
		var err error
		if means, err = r.expected(ctx, m, b, r.redraw); err != nil {
			return fmt.Errorf("there are no population predictions: %w", err)
		}
	}
	made := false
	var reason error
	for _, v := range r.variables {
		var predictions []float64
		switch {
		case o.VPC.Correct == NoCorrection:
		case o.VPC.Prediction != "":
			predictions, v.noVisual = r.named(v, o.VPC.Prediction)
		default:
			predictions = means[v].means()
		}
		if v.noVisual == nil {
			v.visual, v.noVisual = newVisual(r.values, o, v, predictions)
		}
		made = made || v.visual != nil
		reason = cmp.Or(reason, v.noVisual)
	}
	if !made {
		return cmp.Or(reason, errors.New("no outcome is replicated"))
	}
	return nil
}
