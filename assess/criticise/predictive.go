package criticise

import (
	"math"
	"slices"
)

// Statistics returns the names of the statistics by which data are checked. If zeros is set, they
// include the share of zeros.
func Statistics(zeros bool) []string {
	all := []string{"mean", "sd", "min", "25%", "50%", "75%", "max"}
	if zeros {
		all = append(all, "zeros")
	}
	return all
}

// Describe computes the statistics that [Statistics] names, in that order, and writes them to dst.
// The share of zeros is computed if dst has room for it. y must not be empty; Describe sorts it.
func Describe(y, dst []float64) {
	m, sum, none := mean(y), 0.0, 0
	for _, v := range y {
		sum += (v - m) * (v - m)
		if v == 0 {
			none++
		}
	}
	slices.Sort(y)
	copy(dst, []float64{m, math.Sqrt(sum / float64(len(y)-1)), y[0], quantile(y, 0.25), quantile(y, 0.5), quantile(y, 0.75), y[len(y)-1],
		float64(none) / float64(len(y))})
}

// quantile interpolates linearly between sorted values.
func quantile(sorted []float64, p float64) float64 {
	at := p * float64(len(sorted)-1)
	low := min(int(at), len(sorted)-1)
	return sorted[low] + (at-float64(low))*(sorted[min(low+1, len(sorted)-1)]-sorted[low])
}

func mean(y []float64) float64 {
	sum := 0.0
	for _, v := range y {
		sum += v
	}
	return sum / float64(len(y))
}

// Check compares a statistic of the data with that of replicated data.
type Check struct {
	Name         string
	Observed     float64
	Mean, SD     float64 // of the replications
	Q5, Q50, Q95 float64
	N            int     // number of replications in which the statistic is not NaN
	P            float64 // share of replications in which the statistic is larger than in the data; ties count half
}

// NewCheck compares the statistic of the data with those of replicated data.
func NewCheck(name string, observed float64, replicated []float64) Check {
	c := Check{Name: name, Observed: observed}
	r := slices.DeleteFunc(slices.Clone(replicated), math.IsNaN)
	if len(r) == 0 {
		c.Mean, c.SD, c.Q5, c.Q50, c.Q95, c.P = math.NaN(), math.NaN(), math.NaN(), math.NaN(), math.NaN(), math.NaN()
		return c
	}
	slices.Sort(r)
	c.Mean, c.N = mean(r), len(r)
	for _, v := range r {
		c.SD += (v - c.Mean) * (v - c.Mean) / float64(max(len(r)-1, 1))
		switch {
		case v > observed:
			c.P += 1 / float64(len(r))
		case v == observed:
			c.P += 0.5 / float64(len(r))
		}
	}
	c.SD = math.Sqrt(c.SD)
	if math.IsNaN(observed) {
		c.P = math.NaN()
	}
	c.Q5, c.Q50, c.Q95 = quantile(r, 0.05), quantile(r, 0.5), quantile(r, 0.95)
	return c
}

// Odd reports whether the statistic of the data is in an extreme tail of the replications, with a
// probability below 1 % on that side. It returns false if there are too few replications to tell.
func (c Check) Odd() bool {
	side := min(c.P, 1-c.P) * float64(c.N)
	return (side+1)/float64(c.N+1) < 0.01
}

// PIT is the probability integral transform of an observation y. below is the total weight of the
// replications below y, and upTo that of the replications up to y. For continuous data the two are
// the same. Weights sum to one; nil means equal weights. With the weights of [Weights], it is the
// transform given the other observations (LOO-PIT). If the model is right, a random number between
// below and upTo is uniformly distributed.
func PIT(y float64, replicated, weights []float64) (below, upTo float64) {
	for s, v := range replicated {
		w := 1 / float64(len(replicated))
		if weights != nil {
			w = weights[s]
		}
		if v < y {
			below += w
		}
		if v <= y {
			upTo += w
		}
	}
	return below, min(upTo, 1)
}

// Coverage is the share of observations within the central predictive interval of the given
// probability, computed from their PIT values.
func Coverage(pit []float64, probability float64) float64 {
	n := 0
	for _, u := range pit {
		if math.Abs(u-0.5) <= probability/2 {
			n++
		}
	}
	return float64(n) / float64(len(pit))
}
