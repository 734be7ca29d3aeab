package assess

import (
	"math"
	"slices"
	"strconv"

	"github.com/ppl-lang/ppl/assess/criticise"
	"github.com/ppl-lang/ppl/infer/diagnose"
)

// This file compares the frequencies of counts: a rootogram (Kleiber and Zeileis 2016) as numbers.

// Counts compares the number of observations with each value, or in each class of values, with that
// of the replications.
type Counts struct {
	Classes []CountClass

	// P is a p-value for all classes together: the share of replications whose most deviating class
	// deviates more than any class of the data.
	P float64

	// Limit is the deviation that the most deviating class stays within, in 99 % of the
	// replications.
	Limit float64
}

// CountClass is a class of values with its check.
type CountClass struct {
	Low, High float64 // bounds, both included; infinite for the outer classes
	Check     criticise.Check

	// Deviation is the square root of the number of observations minus that of the mean number of
	// the replications. Its standard deviation is about 1/2 for frequent and for rare values.
	Deviation float64
}

// Name is the value of the class, or its range.
func (c CountClass) Name() string {
	text := func(x float64) string { return strconv.FormatFloat(x, 'f', -1, 64) }
	switch {
	case math.IsInf(c.Low, 0):
		return text(c.High) + " or less"
	case math.IsInf(c.High, 0):
		return text(c.Low) + " or more"
	case c.Low == c.High:
		return text(c.Low)
	}
	return text(c.Low) + " to " + text(c.High)
}

// Odd lists the classes whose deviation exceeds the limit.
func (c *Counts) Odd() (out []CountClass) {
	if c == nil {
		return nil
	}
	for _, class := range c.Classes {
		if math.Abs(class.Deviation) > c.Limit {
			out = append(out, class)
		}
	}
	return out
}

// maxClasses is the maximum number of classes of the values that the data have. Two more have the
// values below and above. Fewer observations than minCounts have no frequencies worth a table.
const (
	maxClasses = 12
	minCounts  = 30
)

// countResults has the frequency of each class at every draw.
type countResults struct {
	classes []CountClass
	width   float64
	values  [][]float64
}

// newCountResults returns nil if the data are no counts, are few, or have at most two values. A
// share then says the same.
func newCountResults(v *replicated, draws int) *countResults {
	if !v.counts || len(v.y) < minCounts || slices.ContainsFunc(v.y, math.IsNaN) {
		return nil
	}
	distinct := slices.Clone(v.y)
	slices.Sort(distinct)
	distinct = slices.Compact(distinct)
	if len(distinct) <= 2 {
		return nil
	}
	low, high := distinct[0], distinct[len(distinct)-1]
	if low > 0 && low < maxClasses {
		low = 0
	}
	r := &countResults{width: math.Ceil((high - low + 1) / maxClasses)}
	low = math.Floor(low/r.width) * r.width
	r.classes = append(r.classes, CountClass{Low: math.Inf(-1), High: low - 1})
	for ; low <= high; low += r.width {
		r.classes = append(r.classes, CountClass{Low: low, High: low + r.width - 1})
	}
	r.classes = append(r.classes, CountClass{Low: low, High: math.Inf(1)})
	for range r.classes {
		r.values = append(r.values, make([]float64, draws))
	}
	return r
}

// frequencies counts the values of y in each class.
func (r *countResults) frequencies(y []float64) []float64 {
	out := make([]float64, len(r.classes))
	first := r.classes[1].Low
	for _, x := range y {
		k := 1 + math.Floor((x-first)/r.width)
		out[int(max(0, min(k, float64(len(out)-1))))]++
	}
	return out
}

// add computes the frequencies of y, the replication at a draw.
func (r *countResults) add(draw int, y []float64) {
	if r == nil {
		return
	}
	for k, n := range r.frequencies(y) {
		r.values[k][draw] = n
	}
}

// finish compares the frequencies of y, the data, with those of the replications. Outer classes
// that no replication reaches are left out.
func (r *countResults) finish(y []float64) *Counts {
	if r == nil {
		return nil
	}
	out := &Counts{}
	largest := make([]float64, len(r.values[0])) // the largest deviation in each replication
	observed := 0.0
	for k, n := range r.frequencies(y) {
		c := r.classes[k]
		c.Check = criticise.NewCheck("rows", n, r.values[k])
		if math.IsInf(c.Low, 0) && c.Check.Mean == 0 || math.IsInf(c.High, 0) && c.Check.Mean == 0 {
			continue
		}
		deviation := func(x float64) float64 { return math.Sqrt(x) - math.Sqrt(c.Check.Mean) }
		c.Deviation = deviation(n)
		observed = max(observed, math.Abs(c.Deviation))
		for d, x := range r.values[k] {
			largest[d] = max(largest[d], math.Abs(deviation(x)))
		}
		out.Classes = append(out.Classes, c)
	}
	out.P = criticise.NewCheck("", observed, largest).P
	out.Limit = diagnose.Quantiles(largest, 0.99)[0]
	return out
}
